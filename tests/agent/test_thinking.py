"""Thinking in a model's text is never shown, however the text is cut into deltas."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.agent.thinking import ThinkFilter, without_thinking

TEXTS = {
    "a thought before the answer": ("<think>hm</think>\n\nYes.", "Yes."),
    "the longer mark": ("<thinking>hm</thinking>Yes.", "Yes."),
    "other case": ("<THINK>hm</Think>Yes.", "Yes."),
    "a thought in the middle": ("Yes, <think>or no?</think>sure.", "Yes, sure."),
    "two thoughts": ("<think>a</think>One. <think>b</think>Two.", "One. Two."),
    "a thought that never ends": ("<think>hm, and then", ""),
    "a thought that never began": ("hm, so it is 4.</think>\nFour.", "Four."),
    "a mark that the text speaks about": ("Write `<think>` first.", "Write `<think>` first."),
    "half a mark at the end": ("a < b and a <thi", "a < b and a <thi"),
    "something else in brackets": ("<thinker>x</thinker>", "<thinker>x</thinker>"),
    "no thought at all": ("  indented\n", "  indented\n"),
    "a mark inside a thought": ("<think>a <think> b</think>c", "c"),
}


@pytest.mark.parametrize(("text", "shown"), TEXTS.values(), ids=TEXTS.keys())
def test_what_is_shown_of(text: str, shown: str) -> None:
    assert without_thinking(text) == shown


PIECES = st.sampled_from(
    ["<think>", "</think>", "<thinking>", "</thinking>", "<", "th", "`", "x", " ", "\n", "/", ">", "<THINK>"]
)


@given(st.lists(PIECES | st.text(max_size=3), max_size=14), st.lists(st.integers(0, 60), max_size=8))
def test_any_cut_of_the_deltas_gives_the_same_text(pieces: list[str], cuts: list[int]) -> None:
    text = "".join(pieces)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    thoughts = ThinkFilter()
    for start, end in pairwise(places):
        thoughts.feed(text[start:end])
    thoughts.end()
    assert thoughts.text == without_thinking(text)


@given(st.text(max_size=30), st.text(max_size=30))
def test_a_thought_at_the_start_never_comes_through_a_character_at_a_time(thought: str, answer: str) -> None:
    thoughts = ThinkFilter()
    for character in f"<think>{thought.replace('<', '')}":
        thoughts.feed(character)
        assert thoughts.text == ""
    for character in f"</think>{answer.replace('<', '')}":
        thoughts.feed(character)
    thoughts.end()
    assert thoughts.text == answer.replace("<", "").lstrip()
