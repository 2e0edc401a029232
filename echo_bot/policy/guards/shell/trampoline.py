"""Recursion without the interpreter's stack: nested steps are generators, run on a list."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar, cast

Result = TypeVar("Result")

Steps = Generator["Steps[object]", object, Result]
"""A computation that yields the nested computations it waits for and returns a Result."""


MAX_DEPTH = 12_000
"""How many computations may wait for one another: a few for each level of nesting in a text."""


class Stopped(Exception):
    """A nested computation gave up; those that wait for it may catch this."""


class TooDeep(Stopped):
    """The text is nested deeper than anything a person or a program writes."""


def run(steps: Steps[Result]) -> Result:
    """Run steps to their end; nesting costs memory, never stack depth."""
    stack: list[Steps[object]] = [cast("Steps[object]", steps)]
    value: object = None
    stopped: Stopped | None = None
    while stack:
        try:
            nested = stack[-1].send(value) if stopped is None else stack[-1].throw(stopped)
        except StopIteration as stop:
            stack.pop()
            value, stopped = stop.value, None
        except Stopped as raised:
            stack.pop()
            value, stopped = None, raised.with_traceback(None)
        else:
            stack.append(nested)
            value, stopped = None, None
            if len(stack) > MAX_DEPTH:
                stopped = TooDeep("it is nested too deep")
    if stopped is not None:
        raise stopped
    return cast("Result", value)


def call(steps: Steps[Result]) -> Steps[Result]:
    """Wait for nested steps: `value = yield from call(steps)`."""
    value = yield cast("Steps[object]", steps)
    return cast("Result", value)
