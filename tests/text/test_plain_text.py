"""Markup taken out, mentions defused."""

from __future__ import annotations

import pytest

from echo_bot.text import defuse_mentions, strip_markup


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("**bold** and *slanted* and ~~gone~~", "bold and slanted and gone"),
        ("# Title\n> quoted", "Title\nquoted"),
        ("see [the docs](https://a.example/x_(y))", "see the docs (https://a.example/x_(y))"),
        ("[https://a.example](https://a.example)", "https://a.example"),
        ("run `ls -la` now", "run ls -la now"),
        ("```py\nx = 1\n```\nend", "x = 1\nend"),
        ("snake_case_name and 2*3*4", "snake_case_name and 2*3*4"),
    ],
    ids=["emphasis", "lines", "a link", "a bare link", "a code span", "a fence", "no markup at all"],
)
def test_markup_goes_and_words_stay(source: str, words: str) -> None:
    assert strip_markup(source) == words


@pytest.mark.parametrize("ping", ["@everyone", "@here", "<@123>", "<@&45>", "<!channel>", "<#C1>"])
def test_a_mention_is_no_mention_any_more(ping: str) -> None:
    defused = defuse_mentions(f"hello {ping} there")
    assert ping not in defused
    assert defused.replace("\u2060", "") == f"hello {ping} there"


def test_an_address_is_left_alone() -> None:
    assert defuse_mentions("write to ana@example.com, a < b") == "write to ana@example.com, a < b"
