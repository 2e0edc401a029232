"""`tools.exec.host: container` and `remote` from a message in a chat to the reply."""

from __future__ import annotations

from pathlib import Path

import pytest

from echo_bot.execution.remote import RemoteHost
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.waiting import eventually
from tests.execution.real_engine import IMAGE, RealEngine
from tests.execution.real_sshd import RealServer

Config = dict[str, object]

_FREE: Config = {
    "permissions.approval.mode": "off",
    "permissions.elevated.enabled": True,
    "permissions.elevated.allow_from": {"telegram": ["1"]},
}


def in_container(engine: RealEngine) -> Config:
    return _FREE | {
        "tools.exec.host": "container",
        "execution.container.image": IMAGE,
        "execution.container.socket": engine.socket,
    }


def on(remote: RemoteHost) -> Config:
    return _FREE | {
        "tools.exec.host": "remote",
        "execution.remote.host": remote.host,
        "execution.remote.user": remote.user,
        "execution.remote.key_path": remote.key_path,
        "execution.remote.known_hosts": remote.known_hosts,
    }


@pytest.fixture(params=["container", "remote"])
def config(request: pytest.FixtureRequest) -> Config:
    if request.param == "container":
        return in_container(request.getfixturevalue("engine"))
    server: RealServer = request.getfixturevalue("shared_server")
    return on(server.remote)


async def said(bot: RunningBot, text: str) -> FakeMessage:
    return await bot.channel.wait_for(lambda message: text in message.body, text)


async def test_a_command_runs_where_the_operator_said(tmp_path: Path, config: Config) -> None:
    async with running_bot(tmp_path, config) as bot:
        (bot.workspace / "hello.txt").write_text("from the workspace")
        await bot.channel.say("/run cat hello.txt; echo $((6 * 7)) | tr 4 5")
        assert "from the workspace" in (await said(bot, "52")).body


async def test_stop_ends_it_there(tmp_path: Path, config: Config) -> None:
    async with running_bot(tmp_path, config) as bot:
        bot.workspace.chmod(0o777)
        await bot.channel.say("/run touch began; sleep 60; touch ended")
        await eventually(lambda: (bot.workspace / "began").exists(), "the start", timeout=20)
        await bot.channel.say("/stop")
        await said(bot, "topped")
        assert not (bot.workspace / "ended").exists()


async def test_an_interpreter_that_is_not_there_says_so_when_it_runs(
    tmp_path: Path, engine: RealEngine
) -> None:
    """Of another machine's programs this one knows nothing: the image has no Python."""
    async with running_bot(tmp_path, in_container(engine)) as bot:
        await bot.channel.say("""/tool execute_code language=python code='print("hi")'""")
        await said(bot, "exit code 127")


async def test_what_is_missing_is_told_to_whoever_asks(tmp_path: Path) -> None:
    keys = _FREE | {"tools.exec.host": "container", "execution.container.image": "any"}
    async with running_bot(tmp_path, keys | {"execution.container.socket": "/no/such.sock"}) as bot:
        await bot.channel.say("/run true")
        await said(bot, "no container engine listens at /no/such.sock")
