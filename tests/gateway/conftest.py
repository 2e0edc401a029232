"""A whole bot with an ordinary and an admin token, whose commands run on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from echo_bot.testing.api_bot import ApiBot, api_bot
from echo_bot.testing.scripted_model import ScriptedModel, Step

CONFIG: dict[str, object] = {
    "tools.exec.host": "local",
    "permissions.elevated.enabled": True,
    "permissions.elevated.allow_from": {"api": ["ci"]},
}


@pytest.fixture
def start_api(tmp_path: Path) -> Callable[..., AbstractAsyncContextManager[ApiBot]]:
    """Start a bot with an API on the same state; once more is a restart."""

    def start(config: dict[str, object] | None = None, *steps: Step) -> AbstractAsyncContextManager[ApiBot]:
        more: dict[str, Any] = {"model": ScriptedModel(steps).model} if steps else {}
        return api_bot(tmp_path, CONFIG | (config or {}), **more)

    return start


@pytest.fixture
async def api(start_api: Callable[..., AbstractAsyncContextManager[ApiBot]]) -> AsyncIterator[ApiBot]:
    async with start_api() as running:
        yield running
