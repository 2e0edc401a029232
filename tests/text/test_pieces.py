from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from echo_bot.text.pieces import PIECE_CHARS, in_pieces, pieces


@given(st.text("ab\n", max_size=200), st.integers(2, 40))
def test_nothing_is_lost_and_no_piece_is_too_long(text: str, most: int) -> None:
    found = list(pieces(text, most))
    assert "".join(found) == text
    assert all(len(piece) <= most for piece in found)


@given(st.lists(st.text("ab", max_size=9), max_size=40))
def test_short_lines_stay_whole(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    assert all(piece.endswith("\n") for piece in pieces(text, 20) if piece)


def test_the_work_is_done_to_every_line_of_a_long_text() -> None:
    text = "a secret\n" * (PIECE_CHARS // 4)
    assert in_pieces(text, lambda piece: piece.replace("secret", "***")) == text.replace("secret", "***")
