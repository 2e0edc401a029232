"""How people are named: never by the name alone, and by no name that could be taken for an identity."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.approval.names import named


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param("Ada", "Ada (discord:1)", id="the name, then the identity"),
        pytest.param("", "discord:1", id="without a name the identity alone"),
        pytest.param("  \n ", "discord:1", id="blanks are no name"),
        pytest.param("discord:1", "discord:1", id="a name that is the identity says nothing more"),
        pytest.param("Ada\nLovelace  ", "Ada Lovelace (discord:1)", id="one line"),
        pytest.param("Eve (discord:9)", "Eve [discord:9] (discord:1)", id="no identity of somebody else"),
        pytest.param("Eve （discord:9⑴", "Eve [discord:9[ (discord:1)", id="nor what looks like one"),
        pytest.param("<@U1> `x` [a](b)", "‹@U1› 'x' [a][b] (discord:1)", id="no mention, code or link"),
        pytest.param("x" * 90, "x" * 39 + "… (discord:1)", id="forty characters"),
    ],
)
def test_a_person_is_named(name: str, shown: str) -> None:
    assert named("discord:1", name) == shown


@given(st.text())
def test_a_name_holds_neither_parentheses_nor_the_marks_of_links_mentions_and_code(name: str) -> None:
    shown = named("discord:1", name)
    assert shown == "discord:1" or shown.endswith(" (discord:1)")
    front = unicodedata.normalize("NFKC", shown.removesuffix("(discord:1)"))
    assert not set("()<>`") & set(front)
