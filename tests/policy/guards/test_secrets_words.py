"""Many words found in one pass."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from echo_bot.policy.guards.secrets.words import Words

LETTERS = st.text("ab\n\U0001f600\u0301\ud800", max_size=12)


@given(st.sets(LETTERS.filter(bool), max_size=5), LETTERS)
def test_every_occurrence_of_every_word_is_found(words: set[str], text: str) -> None:
    found = Words({word: word for word in words}).find(text)
    places = {
        (at, at + len(word), word) for word in words for at in range(len(text)) if text.startswith(word, at)
    }
    assert sorted(found) == sorted(places)


@given(st.sets(LETTERS.filter(bool), max_size=5), LETTERS)
def test_about_names_those_that_occur(words: set[str], text: str) -> None:
    assert Words({word: word for word in words}).about(text) == {word for word in words if word in text}


def test_none_is_found_where_there_are_none() -> None:
    assert list(Words[str]({}).find("text")) == []
    assert not Words[str]({})
