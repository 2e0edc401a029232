"""What reaches the terminal: whole, and free of everything that could command it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.cli import render
from channels.cli.clean import clean
from channels.cli.markdown import highlighted
from channels.cli.screen import drawn
from echo_bot.events import Card, CardState, CodeBlock, Fields, OutboundText, Paragraph

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_FORBIDDEN = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)

_HOSTILE = st.text(
    st.one_of(
        st.sampled_from("\x1b\x9b\x9d\r\t\b\x07\u202e\u2066\u200f\ud800[]();m0m31&#x;*_`~|>-\n "),
        st.characters(),
    ),
    max_size=200,
)


@given(_HOSTILE)
def test_clean_text_commands_nothing(text: str) -> None:
    assert not _FORBIDDEN.search(clean(text).replace("\t", ""))


@given(_HOSTILE, st.booleans())
def test_no_message_commands_the_terminal(text: str, markdown: bool) -> None:
    for has_colour in (True, False):
        shown = drawn(render.message(OutboundText(text, markdown=markdown)), 60, has_colour=has_colour)
        assert not _FORBIDDEN.search(_COLOUR.sub("", shown) if has_colour else shown)


@given(_HOSTILE)
def test_no_card_commands_the_terminal(text: str) -> None:
    card = Card(
        "c",
        text,
        (
            Paragraph(text, strong=True),
            CodeBlock(text, language=text, label=text),
            CodeBlock(text, "diff"),
            Fields(((text, text),)),
        ),
        short_id=text,
    )
    for shown in (
        render.card(card),
        render.outcome(card),
        render.hint(text),
        render.file_line(text, text, 1),
    ):
        assert not _FORBIDDEN.search(drawn(shown, 60, has_colour=False))


@pytest.mark.parametrize("entity", ["&#27;[31m", "&#x9b;31m", "&#x202e;", "&rlm;", "&#x2066;", "&lrm;"])
def test_a_character_entity_smuggles_nothing(entity: str) -> None:
    shown = drawn(render.message(OutboundText(f"a {entity} b\n\n`{entity}`\n")), 60, has_colour=False)
    assert not _FORBIDDEN.search(shown)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        pytest.param("one\ntwo", "one\ntwo", id="a line break is one"),
        pytest.param("<b>x</b>", "<b>x</b>", id="HTML is text"),
        pytest.param("[bold]x[/bold]", "[bold]x[/bold]", id="Rich's own markup is text"),
        pytest.param(":smile:", ":smile:", id="an emoji code stays what it is"),
        pytest.param("[a](https://b.org)", "a (https://b.org)", id="a link shows its address"),
        pytest.param(
            "![a](https://b.org/c.png)", "a (https://b.org/c.png)", id="a picture shows its address"
        ),
        pytest.param("```\n  a\n```", "    a", id="code keeps its indentation"),
    ],
)
def test_markdown(source: str, words: str) -> None:
    assert words in drawn(render.message(OutboundText(source)), 60, has_colour=False)


def test_a_link_is_no_terminal_link() -> None:
    shown = drawn(render.message(OutboundText("[a](https://b.org) <https://c.org>")), 60, has_colour=True)
    assert "\x1b]" not in shown


def test_a_long_word_in_a_table_is_folded_not_cut() -> None:
    word = "x" * 90
    shown = drawn(render.message(OutboundText(f"| a |\n|---|\n| {word} |")), 40, has_colour=False)
    assert shown.count("x") == 90


@given(
    st.text(st.sampled_from("ab \n+-@'\"{"), max_size=80), st.sampled_from(["diff", "bash", "json", "", "?"])
)
def test_colouring_code_changes_no_character(code: str, language: str) -> None:
    assert highlighted(code, language).plain.rstrip() == code.rstrip()


@given(st.text(st.sampled_from("abcdef"), min_size=1, max_size=300))
def test_a_card_shows_its_call_whole(word: str) -> None:
    card = Card("c", "T", (CodeBlock(word, "bash"), Fields((("F", word),))))
    lines = drawn(render.card(card), 40, has_colour=False).replace("\n", "").replace("▌", "").replace(" ", "")
    assert lines == f"T{word}F{word}"


def test_a_closed_card_is_told_in_a_line_with_its_reason() -> None:
    card = Card(
        "c",
        "Run a command?",
        (
            Paragraph("Denied by cli:local at 10:00:00 UTC", strong=True),
            Paragraph("Reason: too soon"),
            CodeBlock("rm -r build"),
        ),
        state=CardState.DENIED,
        short_id="abc123",
    )
    assert drawn(render.outcome(card, ("/ask-again",)), 80, has_colour=False) == (
        "✗ Denied by cli:local at 10:00:00 UTC · Run a command? (abc123)\n"
        "  Reason: too soon\n"
        "  Possible now: /ask-again\n\n"
    )
