"""Whatever is asked for becomes terms, and an excerpt shows where they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.text.terms import MOST_TERMS, Terms, excerpt, terms_of


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("How do I install it?", Terms(("how", "do", "i", "install", "it"))),
        ("数据库备份", Terms((), ("数据库备份",))),
        ("GPT模型 v2", Terms(("gpt", "v2"), ("模型",))),
        ("snake_case foo-bar", Terms(("snake", "case", "foo", "bar"))),
        ('" OR NEAR( * :', Terms(("or", "near"))),
        ("서울 날씨 ภาษาไทย", Terms((), ("서울", "날씨", "ภาษาไทย"))),
        ("?!", Terms()),
        ("", Terms()),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_query_is_words_and_unspaced_runs(query: str, terms: Terms) -> None:
    assert terms_of(query) == terms


def test_runs_are_cut_into_pairs_and_triples() -> None:
    terms = terms_of("数据库备份 天气 雨")
    assert terms.triples == ("数据库", "据库备", "库备份")
    assert terms.pairs == ("数据", "据库", "库备", "备份", "天气", "雨")


@given(st.text(max_size=2000))
def test_no_query_gives_more_terms_than_can_be_looked_for(query: str) -> None:
    terms = terms_of(query)
    for each in (terms.words, terms.runs, terms.pairs, terms.triples):
        assert len(each) <= MOST_TERMS
        assert all(part and '"' not in part and "\0" not in part for part in each)


@given(st.text(max_size=500), st.text(max_size=50), st.integers(5, 200))
def test_an_excerpt_is_a_line_within_its_limit(text: str, query: str, limit: int) -> None:
    shown = excerpt(text, terms_of(query), limit)
    assert len(shown) <= limit
    assert "\n" not in shown


def test_an_excerpt_holds_the_term_wherever_it_stands() -> None:
    for position in (0, 500, 990):
        text = "x " * position + "the harbours open " + "y " * (1000 - position)
        assert "harbours" in excerpt(text, terms_of("harbour opening"), 120)
