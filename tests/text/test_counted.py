"""How many of a thing there are, as a person says it."""

from __future__ import annotations

import pytest

from echo_bot.text.counted import counted


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1200, "1,200 files")]
)
def test_one_thing_is_no_plural(number: int, words: str) -> None:
    assert counted(number, "file") == words
