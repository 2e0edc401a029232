"""What a crowd counts against a bot."""

from __future__ import annotations

import pytest

from echo_bot.testing.crowd.crowd import Tally, tally_of

AGAIN = "(possibly repeated)\n"


@pytest.mark.parametrize(
    ("said", "answers", "tally"),
    [
        pytest.param([], [], Tally(), id="nothing"),
        pytest.param(["a", "b"], ["a", "b"], Tally(), id="each once, in order"),
        pytest.param(["a", "b"], ["a"], Tally(lost=1), id="one is not answered"),
        pytest.param(["a", "b"], ["a", "b", "a"], Tally(duplicated=1), id="one twice"),
        pytest.param(["a", "b"], ["b", "a"], Tally(out_of_order=1), id="the later one first"),
        pytest.param(["a"], ["a", "something else"], Tally(duplicated=1), id="an answer to nothing"),
        pytest.param(["a", "b"], [f"{AGAIN}a", "b"], Tally(), id="one that only may be repeated"),
        pytest.param(["a", "b"], ["a", f"{AGAIN}a", "b"], Tally(), id="a repeat that says so"),
        pytest.param(
            ["a"], ["a", "a", f"{AGAIN}a"], Tally(duplicated=1), id="a repeat that does not, and one"
        ),
        pytest.param(["a"], [f"{AGAIN}b"], Tally(lost=1, duplicated=1), id="a marked answer to nothing"),
    ],
)
def test_tally(said: list[str], answers: list[str], tally: Tally) -> None:
    assert tally_of(said, answers) == tally


def test_marks_are_counted_apart() -> None:
    assert tally_of(["a", "b"], ["a", f"{AGAIN}a", f"{AGAIN}b"]).marked == 2
