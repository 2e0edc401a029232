"""A whole bot that serves its HTTP API, with a client for each token and one without."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from echo_bot.testing.bot import RunningBot, running_bot

ORDINARY, ADMIN = "ordinary-token-of-a-test", "admin-token-of-a-test"
TOKENS: Mapping[str, object] = {
    "gateway.api_tokens": [{"name": "ci", "token": ORDINARY}],
    "gateway.admin_tokens": [{"name": "ops", "token": ADMIN}],
}


@dataclass(frozen=True, slots=True)
class ApiBot:
    """`ci` holds an ordinary token and `ops` an admin one; their paths begin below /api/v1."""

    bot: RunningBot
    ci: httpx.AsyncClient
    ops: httpx.AsyncClient
    nobody: httpx.AsyncClient


@asynccontextmanager
async def api_bot(
    folder: Path, config: Mapping[str, object] | None = None, **more: Any
) -> AsyncIterator[ApiBot]:
    """Run a bot as `running_bot` does, with both tokens."""
    async with (
        running_bot(folder, {**TOKENS, **(config or {})}, **more) as bot,
        api_client(bot, ORDINARY) as ci,
        api_client(bot, ADMIN) as ops,
        api_client(bot) as nobody,
    ):
        yield ApiBot(bot, ci, ops, nobody)


def api_client(bot: RunningBot, token: str = "") -> httpx.AsyncClient:
    """Whoever holds this token."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.AsyncClient(base_url=f"{bot.url}/api/v1", headers=headers, trust_env=False, verify=False)
