"""Diffs on cards are right and come in bounded time."""

from __future__ import annotations

import time

from echo_bot.files.patches import apply_hunks, parse_patch
from echo_bot.tools.builtin.diffs import unified_diff


def test_equal_texts_have_no_diff_but_a_move_is_shown() -> None:
    assert unified_diff("a\n", "a\n", "x") == ""
    assert unified_diff("a\n", "a\n", "x", "y") == "--- a/x\n+++ b/y\n"


def test_a_change_far_from_another_gets_its_own_hunk() -> None:
    old = [f"{n}\n" for n in range(30)]
    new = [*old]
    new[2], new[25] = "two\n", "25!\n"
    assert unified_diff("".join(old), "".join(new), "x").count("@@ -") == 2


def test_a_rewrite_of_a_large_file_is_quick_and_whole() -> None:
    old = "same\n" + "".join(f"old {n % 7}\n" for n in range(20_000)) + "end\n"
    new = "same\n" + "".join(f"new {n % 7}\n" for n in range(20_000)) + "end\n"
    before = time.process_time()
    diff = unified_diff(old, new, "x")
    assert time.process_time() - before < 2
    (change,) = parse_patch(diff)
    assert apply_hunks(old, change.hunks, "x") == new
