"""Targets: how one is written, what an alias stands for, and when a chat is foreign."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.events import Address
from echo_bot.policy.decision import Verdict
from echo_bot.policy.targets import FOREIGN_TARGET, Target, judge_target, parse_address, parse_target

HERE = Address("telegram", "1000", "7")
ALIASES = {"ops": "slack:C1", "home": "telegram:1000"}


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("telegram:1", Address("telegram", "1")),
        ("telegram:-100:7", Address("telegram", "-100", "7")),
        ("telegram/work:1", Address("telegram", "1", account="work")),
        ("matrix:!a:b:c", Address("matrix", "!a", "b:c")),
    ],
)
def test_an_address_is_read_and_written_alike(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert str(address) == text


@pytest.mark.parametrize(
    ("text", "target"),
    [
        (" here", Target("here")),
        ("ops\n", Target("address", Address("slack", "C1"))),
        (" telegram / work : 1 : 7 ", Target("address", Address("telegram", "1", "7", "work"))),
    ],
)
def test_blanks_around_a_target_and_its_parts_mean_nothing(text: str, target: Target) -> None:
    assert parse_target(text, ALIASES) == target


@pytest.mark.parametrize(
    "text", ["telegram:", "telegram: ", " : 1", ":1", "/work:1", "ops2", "telegram::7", "Here"]
)
def test_what_names_no_chat_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not"):
        parse_target(text, ALIASES)


def test_here_and_owner_cannot_be_shadowed() -> None:
    shadowed = {"here": "slack:1", "owner": "slack:1"}
    assert parse_target("here", shadowed) == Target("here")
    assert parse_target("owner", shadowed) == Target("owner")
    assert parse_target("", shadowed) == Target("here")


@pytest.mark.parametrize(
    ("text", "allowed", "is_foreign"),
    [
        ("here", (), False),
        ("owner", (), False),
        ("home", (), False),
        ("telegram:1000", (), False),
        ("telegram:1000:9", (), False),
        ("telegram/w:1000", (), True),
        ("telegram:10000", (), True),
        ("ops", (), True),
        ("ops", ("ops",), False),
        ("ops", ("slack:C1",), False),
        ("slack:C1", ("ops",), False),
        ("slack:C1:5", ("slack:C1",), False),
        ("slack:C1", ("slack:C1:5",), True),
        ("slack:C1:6", ("slack:C1:5",), True),
        ("slack:C2", ("here", "owner", "nonsense", "slack:C1"), True),
        ("slack:C2", ("*", "slack:*"), True),
    ],
)
def test_foreign(text: str, allowed: tuple[str, ...], is_foreign: bool) -> None:
    findings = judge_target(text, HERE, ALIASES, allowed)
    assert [(found.kind, found.verdict) for found in findings] == (
        [(FOREIGN_TARGET, Verdict.ASK)] if is_foreign else []
    )


@given(st.text(max_size=20))
def test_a_text_without_a_colon_is_a_word_or_an_error(text: str) -> None:
    word = text.replace(":", "")
    if word.strip() in ("", "here", "owner", *ALIASES):
        return
    with pytest.raises(ValueError, match="is not a known target"):
        parse_target(word, ALIASES)
