"""What shows nothing is blank, whatever it is made of."""

from __future__ import annotations

import pytest

from echo_bot.text import is_blank


@pytest.mark.parametrize(
    "text", ["", " \n\t", "\u200b", "\u2800 \u3164", "\ufeff\u2060", "\u202e\x00", "\ufe0f", "\U000e0041"]
)
def test_blanks_and_hidden_characters_show_nothing(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", [".", " x ", "\u200ba", "🙂", "👨\u200d👩", "é", "ー", "\ufffd"])
def test_one_seen_character_is_enough(text: str) -> None:
    assert not is_blank(text)
