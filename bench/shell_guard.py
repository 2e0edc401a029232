"""How fast the shell guard is: p50 and p99 over the labelled cases, and how time grows with length."""

from __future__ import annotations

import json
import time
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
    "pipes": "ls | wc | sort; ",
    "loops": "for i in a b; do echo $i; done; ",
}


def judge(command: str) -> None:
    judge_command(command, cwd="/srv/projects/echo/workspace", home="/home/user", env={})


def best_of(command: str, times: int) -> float:
    best = float("inf")
    for _ in range(times):
        started = time.perf_counter()
        judge(command)
        best = min(best, time.perf_counter() - started)
    return best


def main() -> None:
    commands = [json.loads(line)["command"] for line in CASES.read_text().splitlines()]
    judge("true")
    figures = sorted(best_of(command, 5) for command in commands)
    print(f"{len(figures)} commands: p50 {figures[len(figures) // 2] * 1e6:.0f} us", end="   ")
    print(f"p99 {figures[int(len(figures) * 0.99)] * 1e6:.0f} us   max {figures[-1] * 1e6:.0f} us")
    for name, shape in SHAPES.items():
        short = best_of(shape * (10_000 // len(shape)), 3)
        long = best_of(shape * (100_000 // len(shape)), 2)
        print(
            f"{name:15s} 10 kB {short * 1e3:7.1f} ms   100 kB {long * 1e3:7.1f} ms   ratio {long / short:.1f}"
        )


if __name__ == "__main__":
    main()
