"""Two hundred turns of a process that is killed five times: effects once, history valid, memory flat."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from echo_bot.testing.model_server import ModelServer, Served
from echo_bot.testing.scripted_model import CallTool, Say

pytestmark = pytest.mark.e2e

StartBot = Callable[..., Awaitable[Any]]

TURNS = 200
TOKEN = "token-of-the-long-conversation"
WITH_CALLS = frozenset(n for n in range(TURNS) if n % 10 in (3, 6, 9))
KILLS = {12: "asked", 33: "asked", 56: "result", 79: "running", 96: "answered"}
"""By turn: when the model is asked or has got the result, while the call runs, or once it has answered."""

MOST_GROWTH_MB = 40


@dataclass
class Script:
    """Answers by what stands last in a request; `reached` is set when the turn's moment has come."""

    kill_at: tuple[int, str] = (-1, "")
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    summaries: int = 0

    def answer(self, body: Mapping[str, Any]) -> Served:
        messages = body["messages"]
        if "You shorten conversations" in str(messages[0]["content"]):
            self.summaries += 1
            return Say("In short: they counted.")
        number = _turn_of(messages)
        has_result = messages[-1]["role"] == "tool"
        self._note(number, "result" if has_result else "asked")
        if number in WITH_CALLS and not has_result:
            slow = "; sleep 30" if (number, "running") == self.kill_at else ""
            return CallTool("exec", {"command": f"echo {number} >> log{slow}"})
        self._note(number, "answered")
        return Say(f"This is the answer to number {number}. " + "It is long enough to fill a context. " * 5)

    def _note(self, number: int, moment: str) -> None:
        if self.kill_at == (number, moment):
            self.reached.set()


def _turn_of(messages: list[Mapping[str, Any]]) -> int:
    said = [str(m["content"]) for m in messages if m["role"] == "user"]
    found = [re.search(r"turn number (\d+)", text) for text in said]
    return int([m for m in found if m][-1][1])


def config_for(server: ModelServer) -> dict[str, object]:
    return {
        "models": {
            "default": "openai:long",
            "base_url": server.base_url,
            "compaction": {"at_tokens": 3000},
        },
        "tools": {"exec": {"host": "local"}, "allow": ["exec"]},
        "permissions": {"approval": {"auto_approve": ["exec"]}},
        "gateway": {"admin_tokens": [{"name": "ops", "token": TOKEN}]},
        "rate_limit": {"per_minute": 0},
    }


@dataclass
class Client:
    """Says the turns one after the other; asks again where a crash took the answer."""

    url: str

    async def say(self, number: int) -> dict[str, Any]:
        body = {"text": f"turn number {number}", "id": f"n{number}", "wait_seconds": 60}
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(base_url=self.url, headers=headers, timeout=90, trust_env=False) as http:
            answer = await http.post("/api/v1/messages", json=body)
            answer.raise_for_status()
            found: dict[str, Any] = answer.json()
            return found


def megabytes_of(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]) / 1024


async def test_every_effect_happens_once_and_every_request_is_valid(
    tmp_path: Path, start_bot: StartBot
) -> None:
    script = Script()
    server = ModelServer(otherwise=script.answer, usage=lambda body: (len(json.dumps(body)) // 4, 30))
    log = tmp_path / "workspace" / "log"
    unknown: set[int] = set()
    async with server.serving():
        bot = await start_bot(config_for(server))
        settled = 0.0
        for number in range(TURNS):
            if number in KILLS:
                script.kill_at = (number, KILLS[number])
                await _die_amid(bot, number, script, log)
                bot = await start_bot(config_for(server))
            answer = await Client(_origin(bot.url)).say(number)
            assert answer["state"] == "done", answer
            assert f"number {number}." in str(answer["reply"])
            if number == 120:
                settled = megabytes_of(bot.process.pid)
        grown = megabytes_of(bot.process.pid) - settled
        assert await bot.stop() == 0
    for body in server.requests:
        unknown |= {int(n) for n in _unknown_in(body)}
    lines = [int(line) for line in log.read_text().split()]
    assert len(lines) == len(set(lines))
    assert set(lines) | unknown == WITH_CALLS
    assert unknown <= {79}
    assert len(WITH_CALLS) == 60
    assert server.problems == []
    assert script.summaries >= 3
    longest = max(len(json.dumps(body["messages"])) for body in server.requests)
    assert longest < 3000 * 6
    assert grown < MOST_GROWTH_MB


async def _die_amid(bot: Any, number: int, script: Script, log: Path) -> None:
    """Kill the bot at the turn's moment; whoever waits for the answer loses the connection."""
    script.reached.clear()
    asking = asyncio.create_task(Client(_origin(bot.url)).say(number))
    if script.kill_at[1] == "running":
        async with asyncio.timeout(60):
            while str(number) not in (log.read_text().split() if log.exists() else ()):
                await asyncio.sleep(0.01)
    else:
        await asyncio.wait_for(script.reached.wait(), 60)
    bot.kill()
    await bot.process.wait()
    with contextlib.suppress(httpx.HTTPError):
        await asking


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _unknown_in(body: Mapping[str, Any]) -> list[str]:
    """The turns of calls whose outcome the model was told nobody knows."""
    calls = {
        call["id"]: call["function"]["arguments"]
        for message in body["messages"]
        for call in message.get("tool_calls") or ()
    }
    told = [m for m in body["messages"] if m["role"] == "tool" and "unknown" in str(m["content"]).lower()]
    return [found for m in told for found in re.findall(r"echo (\d+)", calls[m["tool_call_id"]])]
