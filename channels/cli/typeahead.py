"""Keys pressed before a question was on the screen are dropped: they were meant for something else."""

from __future__ import annotations

import asyncio

from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import clear_typeahead

QUIET_SECONDS = 0.6
"""Whoever was typing has noticed the question once no key came for so long."""


def drop_typed(source: Input) -> None:
    """Forget what was typed and not acted on yet."""
    with source.raw_mode():  # in line mode the terminal would hold back an unfinished line
        while source.read_keys():
            continue
    source.flush_keys()
    clear_typeahead(source)


async def drop_until_quiet(source: Input, seconds: float = QUIET_SECONDS) -> None:
    """Drop keys, unseen, until none came for `seconds`."""
    pressed = asyncio.Event()

    def forget() -> None:
        source.read_keys()
        pressed.set()

    with source.raw_mode(), source.attach(forget):
        while not source.closed:
            pressed.clear()
            try:
                await asyncio.wait_for(pressed.wait(), seconds)
            except TimeoutError:
                break
    drop_typed(source)
