"""What is looked for before a pattern is tried stands in everything that the pattern finds."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from echo_bot.policy.guards.secrets.fold import lower_ascii
from echo_bot.policy.guards.secrets.hinted import Hinted, Spotter, hinted
from echo_bot.policy.guards.secrets.shapes import SPOTTER
from echo_bot.policy.guards.secrets.vendors import LONG_WORD, TOKENS

DATA = Path(__file__).parents[2] / "data"
TEXTS = [
    json.loads(line)["text"]
    for name in ("secrets.jsonl.b64", "secrets_unseen.jsonl.b64")
    for line in base64.decodebytes((DATA / name).read_bytes()).decode().split("\n")
    if line.strip()
]


@pytest.mark.parametrize("each", SPOTTER.patterns, ids=lambda each: each.hints[0])
def test_a_hint_stands_in_what_the_pattern_finds(each: Hinted) -> None:
    found = [match for text in TEXTS for match in each.pattern.finditer(lower_ascii(text))]
    found += [match for text in TEXTS for match in each.pattern.finditer(text)]
    # The name may begin behind the character that the match must stand behind.
    seen = [match.string[max(0, match.start() - 1) : match.end()].lower() for match in found]
    assert [text for text in seen if not any(hint in text for hint in each.hints)] == []


def test_hints_are_in_lower_case() -> None:
    assert [hint for each in SPOTTER.patterns for hint in each.hints if hint != lower_ascii(hint)] == []


def test_most_patterns_find_something_in_the_corpus() -> None:
    finding = [each for each in SPOTTER.patterns if any(each.pattern.search(lower_ascii(t)) for t in TEXTS)]
    assert len(finding) > len(SPOTTER.patterns) * 0.6


def test_only_the_patterns_with_a_hint_in_the_text_are_possible() -> None:
    one, other, both = hinted("xa", "a"), hinted("xb", "b"), hinted("x[ab]", "a|b")
    spotter = Spotter((one, other, both))
    assert spotter.possible("") == frozenset()
    assert spotter.possible("an a") == {one, both}
    assert spotter.possible("ab") == {one, other, both}


def test_a_hint_within_another_is_seen() -> None:
    long, short = hinted("x", "password"), hinted("x", "word")
    assert Spotter((long, short)).possible("password") == {long, short}


def test_a_token_is_within_one_long_word() -> None:
    found = [each[0] for text in TEXTS for each in TOKENS.finditer(text)]
    assert len(found) > 100
    assert [each for each in found if not LONG_WORD.fullmatch(each)] == []
