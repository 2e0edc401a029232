"""What comes in: lines however they are cut, and how much may be said unasked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.mcp import stdio
from echo_bot.mcp.stdio import Lines
from echo_bot.mcp.traffic import BURST, PER_SECOND, Budget


@given(st.lists(st.sampled_from([b"\n", b"a", b"{}", b"\n\n", b"long line"]) | st.binary(max_size=6)))
def test_lines_are_the_same_however_they_are_cut(chunks: list[bytes]) -> None:
    lines, found = Lines(), list[bytes]()
    for chunk in chunks:
        found += lines.add(chunk)
    assert found == b"".join(chunks).split(b"\n")[:-1]


def test_a_line_without_end_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "MOST_LINE_BYTES", 10)
    lines = Lines()
    assert lines.add(b"12345\n12345678901\n12345") == [b"12345"]
    assert not lines.is_too_long
    assert lines.add(b"678901") == []
    assert lines.is_too_long


def test_a_burst_is_fine_and_a_flood_is_not() -> None:
    now = 0.0
    budget = Budget(lambda: now)
    assert all(budget.spend() for _ in range(BURST))
    assert not budget.spend()
    now = 10.0
    assert all(budget.spend() for _ in range(BURST))
    for _ in range(1000):
        now += 1.01 / PER_SECOND
        assert budget.spend()
