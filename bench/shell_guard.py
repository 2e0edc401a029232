"""How fast the shell guard is, in processor time: p50 and p99 over labelled cases, and growth with length."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from echo_bot.policy.guards.shell import judge_command

CASES = Path(__file__).parents[1] / "tests" / "data" / "shell.jsonl"
SHAPES = {
    "commands": "true; ",
    "words": "ls a b; ",
    "quoted": "echo 'a b'\n",
    "substitutions": "echo $(ls) ",
    "here-documents": "cat <<A\nx $y\nA\n",
    "variables": "x=a$x; ",
    "doubled variables": "x=$x$x; ",
    "lists": 'a=("${a[@]}" b); ',
    "paths": "export P=$P:/a; ",
    "folders": "cd a; ",
    "pipes": "ls | wc | sort; ",
    "loops": "for i in a b; do echo $i; done; ",
    "branches": "if a; then x=1; else x=2; fi; echo $x; ",
    "aliases": "alias a='a b'; a; ",
}
NESTED = {
    "$( )": ("$(", "ls", ")"),
    "$( open": ("$(", "", ""),
    "(( open": ("(", "", ""),
    "{ }": ("{ ", "ls", "; }"),
    "[[ ( open": ("[[ ( ", "", ""),
    "${x:-}": ("${x:-", "ls", "}"),
    "backticks": ("`", "", ""),
    "<( )": ("cat <(", "ls", ")"),
    "here-documents open": ("cat <<A; ", "", ""),
    "sh -c": ("sh -c ", "ls", ""),
    "eval": ("eval ", "ls", ""),
    "functions": ("f() { ", "ls", "; }"),
    "find -exec": ("find -exec ", "ls", ""),
}
"""What opens a level, what stands inside all of them, and what closes one."""
HUGE = 1_000_000


def judge(command: str) -> None:
    judge_command(command, cwd="/srv/projects/echo/workspace", home="/home/user", env={})


def best_of(command: str, times: int) -> float:
    best = float("inf")
    for _ in range(times):
        started = time.process_time()
        judge(command)
        best = min(best, time.process_time() - started)
    return best


def repeated(shape: str, length: int) -> str:
    return shape * (length // len(shape))


def nested(shape: tuple[str, str, str], length: int) -> str:
    opening, inside, closing = shape
    levels = length // len(opening + closing)
    return opening * levels + inside + closing * levels


def growth(name: str, text_of_length: Callable[[int], str], huge: bool) -> None:
    short, long = best_of(text_of_length(10_000), 5), best_of(text_of_length(100_000), 3)
    line = f"{name:20s} 10 kB {short * 1e3:7.1f} ms   100 kB {long * 1e3:7.1f} ms   ratio {long / short:4.1f}"
    if huge:
        longest = best_of(text_of_length(HUGE), 1)
        line += f"   1 MB {longest * 1e3:8.1f} ms   ratio {longest / long:4.1f}"
    print(line, flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--huge", action="store_true", help="also texts of 1 MB: takes some minutes")
    huge = arguments.parse_args().huge
    commands = [json.loads(line)["command"] for line in CASES.read_text().splitlines()]
    judge("true")
    figures = sorted(best_of(command, 5) for command in commands)
    print(f"{len(figures)} commands: p50 {figures[len(figures) // 2] * 1e6:.0f} us", end="   ")
    print(f"p99 {figures[int(len(figures) * 0.99)] * 1e6:.0f} us   max {figures[-1] * 1e6:.0f} us")
    for name, shape in SHAPES.items():
        growth(name, partial(repeated, shape), huge)
    for name, levels in NESTED.items():
        growth(name, partial(nested, levels), huge)


if __name__ == "__main__":
    main()
