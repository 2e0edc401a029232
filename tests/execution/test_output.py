"""Output as text: any split gives the same, codes are gone, memory is bounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.execution.output import BoundedText, TextStream


def clean(*pieces: bytes) -> str:
    stream = TextStream()
    return "".join(stream.feed(piece) for piece in pieces) + stream.feed(b"", final=True)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(b"plain\n\ttext", "plain\n\ttext", id="plain text stays"),
        pytest.param(b"\x1b[1;31mred\x1b[0m", "red", id="colours go"),
        pytest.param(b"\x1b[2K\x1b[1Gline\x1b[?25h", "line", id="cursor movements go"),
        pytest.param(b"\x1b]0;title\x07text", "text", id="titles go"),
        pytest.param(b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link", id="links keep their text"),
        pytest.param(b"\x1bP1$r\x1b\\x\x1b_y\x1b\\", "x", id="device strings go"),
        pytest.param(b"\x1b(B\x1b=\x1bcx", "x", id="short codes go"),
        pytest.param(b"a\r\nb\rc", "a\nb\nc", id="every line end is a newline"),
        pytest.param(b"a\r\x1b[0m\nb", "a\nb", id="a code between the halves of a line end"),
        pytest.param(b"a\x00\x07\x08\x7f\xc2\x9bb", "ab", id="control characters go"),
        pytest.param(b"caf\xc3\xa9 \xff", "caf\u00e9 \ufffd", id="invalid UTF-8 is replaced"),
        pytest.param(b"\xf0\x9f\x90\x8d", "\U0001f40d", id="four bytes are one character"),
        pytest.param(b"end\x1b[", "end[", id="an unfinished code loses its escape"),
    ],
)
def test_text(data: bytes, text: str) -> None:
    assert clean(data) == text
    assert clean(*(bytes([byte]) for byte in data)) == text, "byte by byte"


PIECES = st.lists(
    st.one_of(
        st.binary(max_size=6),
        st.sampled_from(
            [b"\x1b", b"\x1b[", b"\x1b]0;", b"\x07", b"\x1b\\", b"31m", b"\r", b"\n", "é".encode(), b"P"]
        ),
    ),
    max_size=20,
)


@given(PIECES)
def test_how_output_is_split_makes_no_difference(pieces: list[bytes]) -> None:
    assert clean(*pieces) == clean(b"".join(pieces))


@given(PIECES)
def test_no_escape_ever_gets_through(pieces: list[bytes]) -> None:
    assert not set(clean(*pieces)) & set("\x1b\x00\x07\x08\r\x7f\x9b")


def test_a_code_that_never_ends_is_not_held_for_ever() -> None:
    stream = TextStream()
    assert len(stream.feed(b"\x1b]" + b"a" * 10_000)) > 5_000


@given(st.lists(st.text(max_size=30)), st.integers(0, 60))
def test_bounded_text_keeps_both_ends_and_counts_the_rest(pieces: list[str], max_chars: int) -> None:
    bounded, whole = BoundedText(max_chars), "".join(pieces)
    for piece in pieces:
        bounded.add(piece)
    assert bounded.total_chars == len(whole)
    assert bounded.dropped_chars == max(0, len(whole) - max_chars)
    if len(whole) <= max_chars:
        assert bounded.text() == whole
    else:
        tail = max_chars // 2
        assert bounded.text().startswith(whole[: max_chars - tail])
        assert bounded.text().endswith(whole[len(whole) - tail :])
        assert f"{bounded.dropped_chars} characters left out" in bounded.text()


def test_a_flood_is_many_times_what_can_be_kept() -> None:
    bounded = BoundedText(10)
    bounded.add("x" * 1000)
    assert not bounded.is_flooded
    bounded.add("x")
    assert bounded.is_flooded
