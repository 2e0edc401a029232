"""The reference server, through a whole bot: its tools are offered, none is withheld, and they work."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelRequest, ToolReturnPart

from echo_bot.mcp.server import ServerState
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel
from tests.mcp.everything import everything
from tests.mcp.rig import eventually

FETCHING_SECONDS = 600
Config = dict[str, object]


@pytest.fixture(scope="module")
def server() -> dict[str, object]:
    command, *args = everything()
    return {"command": command, "args": args, "timeout": 60}


@pytest.fixture
def config(server: dict[str, object]) -> Config:
    return {"tools.mcp_servers": {"everything": server}, "permissions.approval.mode": "off"}


async def ready(bot: RunningBot) -> None:
    servers = bot.parts.toolbox.servers
    await eventually(lambda: all(each.state is ServerState.READY for each in servers.status()))


def says(text: str) -> Callable[[FakeMessage], bool]:
    return lambda message: message.text is not None and text in message.text.text


@pytest.mark.timeout(FETCHING_SECONDS)
async def test_every_tool_is_offered_and_the_calls_come_back(tmp_path: Path, config: Config) -> None:
    async with running_bot(tmp_path, config) as bot:
        await ready(bot)
        (status,) = bot.parts.toolbox.servers.status()
        assert status.tools >= 10
        assert status.notes == ()
        for name, args, answer in (
            ("echo", {"message": "hello"}, "Echo: hello"),
            ("get-sum", {"a": 2, "b": 3}, "is 5"),
            ("get-structured-content", {"location": "New York"}, "temperature"),
            ("get-tiny-image", {}, "(image/png, "),
            ("trigger-long-running-operation", {"duration": 1, "steps": 2}, "completed"),
        ):
            await bot.channel.say(f"/tool mcp_everything_{name} {json.dumps(args)}")
            await bot.channel.wait_for(says(answer))
        await bot.channel.say('/tool mcp_everything_get-sum {"a": "two", "b": 3}')
        await bot.channel.wait_for(says("a must be a number"))


@pytest.mark.timeout(FETCHING_SECONDS)
async def test_a_model_calls_it(tmp_path: Path, config: Config) -> None:
    model = ScriptedModel([CallTool("mcp_everything_echo", {"message": "from a model"}), Say("done")])
    async with running_bot(tmp_path, config, model=model.model) as bot:
        await ready(bot)
        await bot.channel.say("go on")
        await bot.channel.wait_for(says("done"))
    returned = [
        part.content
        for message in model.seen[-1]
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]
    assert returned == ["Echo: from a model"]
