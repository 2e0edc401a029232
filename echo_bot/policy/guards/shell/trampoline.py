"""Recursion without the interpreter's stack: nested steps are generators, run on a list."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar, cast

Result = TypeVar("Result")

Steps = Generator["Steps[object]", object, Result]
"""A computation that yields the nested computations it waits for and returns a Result."""


def run(steps: Steps[Result]) -> Result:
    """Run steps to their end; nesting costs memory, never stack depth."""
    stack: list[Steps[object]] = [cast("Steps[object]", steps)]
    value: object = None
    while stack:
        try:
            nested = stack[-1].send(value)
        except StopIteration as stop:
            stack.pop()
            value = stop.value
        else:
            stack.append(nested)
            value = None
    return cast("Result", value)


def call(steps: Steps[Result]) -> Steps[Result]:
    """Wait for nested steps: `value = yield from call(steps)`."""
    value = yield cast("Steps[object]", steps)
    return cast("Result", value)
