"""Splitting: within the limit, always advancing, fences balanced, and nothing lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.channel import LengthUnit
from echo_bot.text import join_parts, measure, split_markdown, split_plain

UNITS = st.sampled_from(list(LengthUnit))
PIECES = st.sampled_from(
    [
        "```",
        "~~~",
        "````",
        "`",
        "``",
        "\n",
        "\n",
        "a",
        "word ",
        "py",
        "😀",
        "\n```py\n",
        "\n```\n",
        "e\u0301",
        "\u200d",
    ]
)
SOURCES = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=120).map("".join))


@given(SOURCES, st.integers(2, 60), UNITS)
def test_parts_fit_and_join_to_the_source(source: str, limit: int, unit: LengthUnit) -> None:
    parts = split_markdown(source, limit, unit)
    assert join_parts(parts) == source
    assert all(0 < measure(part, unit) <= limit for part in parts)


@given(SOURCES, st.integers(2, 60), UNITS)
def test_plain_parts_are_pieces_of_the_source(source: str, limit: int, unit: LengthUnit) -> None:
    parts = split_plain(source, limit, unit)
    assert "".join(parts) == source
    assert all(0 < measure(part, unit) <= limit for part in parts)


@given(
    st.lists(st.sampled_from(["x = 1", "", "    return", "# note"]), min_size=5, max_size=60),
    st.integers(40, 90),
)
def test_every_part_of_a_fenced_text_has_balanced_fences(lines: list[str], limit: int) -> None:
    source = "Intro\n```python\n" + "\n".join(lines) + "\n```\nOutro"
    parts = split_markdown(source, limit, LengthUnit.CHARACTERS)
    assert join_parts(parts) == source
    for part in parts:
        assert sum(line.startswith("```") for line in part.split("\n")) % 2 == 0


def test_a_cut_fence_is_reopened_with_its_language() -> None:
    source = "```python\n" + "".join(f"line{number} = {number}\n" for number in range(12)) + "```"
    parts = split_markdown(source, 80, LengthUnit.CHARACTERS)
    assert len(parts) > 1
    assert all(part.startswith("```python\n") for part in parts)
    assert all(part.endswith("\n```") for part in parts)


def test_a_part_never_ends_with_an_empty_fence() -> None:
    source = "word " * 12 + "\n```py\n" + "x = 1\n" * 10 + "```"
    for part in split_markdown(source, 68, LengthUnit.CHARACTERS):
        assert not part.rstrip().endswith("```py\n```")


@pytest.mark.parametrize(
    "cluster",
    ["👩\u200d💻", "👍🏽", "e\u0301", "🇩🇪", "\r\n"],
    ids=["a joined emoji", "a skin tone", "a combining accent", "a flag", "a line end of two characters"],
)
def test_a_cut_spares_what_a_person_sees_as_one(cluster: str) -> None:
    parts = split_plain("abc" + cluster + "def", 4, LengthUnit.CHARACTERS)
    assert any(cluster in part for part in parts)


def test_utf16_counts_an_emoji_twice() -> None:
    assert measure("a😀", LengthUnit.UTF16) == 3
    assert measure("a😀", LengthUnit.CHARACTERS) == 2
    assert split_plain("😀😀😀", 4, LengthUnit.UTF16) == ("😀😀", "😀")


def test_paragraphs_are_preferred_to_words() -> None:
    parts = split_markdown("one two\n\nthree four five", 16, LengthUnit.CHARACTERS)
    assert parts[0] == "one two\n\n"


@pytest.mark.parametrize(
    "source",
    ["`" * 200_000, "```\n" * 50_000, "e\u0301" * 100_000, "a" * 200_000],
    ids=["marks", "fences", "accents", "letters"],
)
def test_long_texts_are_split_in_linear_time(source: str) -> None:
    assert join_parts(split_markdown(source, 4096, LengthUnit.UTF16)) == source


def test_a_limit_without_room_is_an_error() -> None:
    with pytest.raises(ValueError, match="no room"):
        split_markdown("text", 1, LengthUnit.CHARACTERS)
