"""What is looked for before a pattern is tried stands in everything that the pattern finds."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from echo_bot.policy.guards.secrets.flags import PROGRAM_LINES, PROGRAM_WORDS, PROGRAMS
from echo_bot.policy.guards.secrets.fold import lower_ascii
from echo_bot.policy.guards.secrets.hinted import Hinted
from echo_bot.policy.guards.secrets.names import (
    ANNOUNCED,
    ATTRIBUTE,
    NAME_THEN_VALUE,
    NAMED,
    has_secret_word,
)
from echo_bot.policy.guards.secrets.vendors import LONG_WORD, TOKENS

DATA = Path(__file__).parents[2] / "data"
TEXTS = [
    json.loads(line)["text"]
    for name in ("secrets.jsonl.b64", "secrets_unseen.jsonl.b64")
    for line in base64.decodebytes((DATA / name).read_bytes()).decode().split("\n")
    if line.strip()
]


@pytest.mark.parametrize("hinted", [NAMED, NAME_THEN_VALUE], ids=["a name and a value", "names in code"])
def test_a_hint_stands_in_what_the_pattern_finds(hinted: Hinted) -> None:
    found = [each[0] for text in TEXTS for each in hinted.pattern.finditer(lower_ascii(text))]
    assert len(found) > 10
    # The name may begin behind the character that the match must stand behind.
    assert [each for each in found if not hinted.may_match(f"_{each}") and not hinted.may_match(each)] == []


def test_a_secret_word_stands_in_what_announces_one() -> None:
    lower = [lower_ascii(text) for text in TEXTS]
    found = [
        each[0] for text in lower for pattern in (*ANNOUNCED, ATTRIBUTE) for each in pattern.finditer(text)
    ]
    assert len(found) > 10
    assert [each for each in found if not has_secret_word(each)] == []


def test_a_program_s_word_stands_in_what_its_flags_find() -> None:
    found = [each[0] for text in TEXTS for pattern in PROGRAMS for each in pattern.finditer(text)]
    assert len(found) > 10
    named = [lower_ascii(each) for each in found]
    assert [
        each
        for each in named
        if not (any(word in each for word in PROGRAM_WORDS) or PROGRAM_LINES.search(each))
    ] == []


def test_a_token_is_within_one_long_word() -> None:
    found = [each[0] for text in TEXTS for each in TOKENS.finditer(text)]
    assert len(found) > 100
    assert [each for each in found if not LONG_WORD.fullmatch(each)] == []
