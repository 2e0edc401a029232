"""Frames from the page are checked; cards go to the page as structured blocks."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.web.wire import BadMessage, Ping, Press, Say, card_json, frame, parse
from echo_bot.events import Button, ButtonStyle, Card, CardState, CodeBlock, Fields, Paragraph

ID = "0123456789abcdef"


@pytest.mark.parametrize(
    ("sent", "parsed"),
    [
        pytest.param(
            {"type": "say", "client_id": ID, "text": "  hello\n"},
            Say(ID, "  hello\n"),
            id="text is not changed",
        ),
        pytest.param(
            {"type": "press", "press_id": ID, "token": "t", "text": "no"},
            Press(ID, "t", "", "no"),
            id="a press with a reason",
        ),
        pytest.param({"type": "ping", "more": 1}, Ping(), id="unknown fields are ignored"),
    ],
)
def test_a_frame_of_the_protocol_is_understood(sent: object, parsed: object) -> None:
    assert parse(json.dumps(sent)) == parsed


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        pytest.param("{", "not JSON", id="broken JSON"),
        pytest.param("[" * 100_000, "not JSON", id="nesting without end"),
        pytest.param("[]", "not an object", id="a list"),
        pytest.param('{"type": "run"}', "unknown frame type", id="an unknown type"),
        pytest.param('{"type": ["say"]}', "unknown frame type", id="a type that is no word"),
        pytest.param(f'{{"type": "say", "client_id": "{ID}", "text": " "}}', "is empty", id="nothing said"),
        pytest.param(f'{{"type": "say", "client_id": "{ID}", "text": 7}}', "not text", id="a number as text"),
        pytest.param(
            '{"type": "say", "client_id": "x y", "text": "a"}', "client_id", id="an id with a space"
        ),
        pytest.param('{"type": "say", "text": "a"}', "client_id", id="no id"),
        pytest.param(
            f'{{"type": "say", "client_id": "{ID}", "text": "\\ud800"}}',
            "lone surrogate",
            id="half a character",
        ),
        pytest.param(
            json.dumps({"type": "say", "client_id": ID, "text": "x" * 100_001}), "longer than", id="too long"
        ),
    ],
)
def test_anything_else_is_refused_with_a_reason(raw: str, reason: str) -> None:
    with pytest.raises(BadMessage, match=reason):
        parse(raw)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
frames = st.fixed_dictionaries(
    {"type": st.sampled_from(["say", "press", "ask", "ping", "other"])},
    optional=dict.fromkeys(("client_id", "press_id", "token", "text", "message_id"), json_values),
)


@settings(max_examples=60, deadline=None)
@given(st.text() | frames.map(json.dumps))
def test_no_frame_raises_anything_but_bad_message(raw: str) -> None:
    with suppress(BadMessage):
        parse(raw)


def test_a_card_becomes_structured_blocks() -> None:
    card = Card(
        card_id="c-1",
        title="Run <b>this</b>",
        short_id="abc123",
        state=CardState.OPEN,
        risk="exec",
        deadline=datetime(2026, 1, 2, tzinfo=UTC),
        blocks=(
            Paragraph("why", strong=True),
            CodeBlock("ls", "bash", "Command"),
            Fields((("Risk", "exec"),)),
        ),
        buttons=(Button("Deny", "tok", ButtonStyle.DANGER, prompt="Why?"),),
    )
    assert card_json(card) == {
        "id": "c-1",
        "short_id": "abc123",
        "title": "Run <b>this</b>",
        "state": "open",
        "risk": "exec",
        "blocks": [
            {"kind": "paragraph", "text": "why", "strong": True},
            {"kind": "code", "text": "ls", "language": "bash", "label": "Command"},
            {"kind": "fields", "rows": [["Risk", "exec"]]},
        ],
        "buttons": [{"label": "Deny", "token": "tok", "style": "danger", "prompt": "Why?"}],
        "deadline": "2026-01-02T00:00:00+00:00",
    }


def test_a_frame_is_one_line_of_json() -> None:
    assert json.loads(frame("error", text="ä\n")) == {"type": "error", "text": "ä\n"}
