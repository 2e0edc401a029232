"""Waiting in tests: ask again until it is true or the deadline passes, and then say what was awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

POLL_SECONDS = 0.01
PATIENCE_SECONDS = 60.0
"""Long, for machines that are busy: only a test that fails waits for so long."""


async def eventually(
    probe: Callable[[], Found | None], what: str, timeout: float = PATIENCE_SECONDS
) -> Found:
    """The first truthy value of `probe`. Raises AssertionError naming `what` after `timeout` seconds."""
    deadline = asyncio.get_running_loop().time() + timeout
    while not (found := probe()):
        if asyncio.get_running_loop().time() >= deadline:
            raise AssertionError(f"waited {timeout:g} s for {what}, in vain")
        await asyncio.sleep(POLL_SECONDS)
    return found
