"""Models that fail over a real connection: asked again, passed over, and told about in a clause."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from echo_bot.channel import ChannelCapabilities
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.model_server import BreakOff, Garbage, ModelServer, Refuse
from echo_bot.testing.scripted_model import CallTool, Say
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

QUICK = ChannelCapabilities(max_length=400, buttons=True, edits=True, stream_interval_ms=10)
DEAD = "http://127.0.0.1:9/v1"


class Servers:
    """A first and a second model server, and the configuration that names both."""

    def __init__(self, *steps: list[object]) -> None:
        self.first, self.second = (ModelServer(each) for each in (*steps, [])[:2])  # type: ignore[arg-type]
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Servers:
        await self._stack.enter_async_context(self.first.serving())
        await self._stack.enter_async_context(self.second.serving())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @property
    def config(self) -> Config:
        return {
            "models.default": "openai:one",
            "models.base_url": self.first.base_url,
            "models.fallback": ["spare:two"],
            "models.providers": {"spare": {"base_url": self.second.base_url}},
            "channels.stream.min_interval_ms": 10,
        }


FAILURES: dict[str, list[object]] = {
    "a server that fails": [Refuse(500)] * 3,
    "a server that is too busy": [Refuse(429, retry_after="900")],
    "a page that is no answer": [Garbage()],
    "a connection that breaks off": [BreakOff("I was about to say that ")] * 3,
}


async def test_a_model_that_says_nothing_is_asked_once_more_as_a_strict_server_takes_it(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = FakeChannel("telegram", capabilities=QUICK)
    steps: list[object] = [Say(""), Say(""), Say("Here I am.")]
    async with (
        Servers(steps) as servers,
        running_bot(tmp_path, local | servers.config, channel=channel),
    ):
        await channel.say("hello")
        await channel.wait_for(says("Here I am."))
        first, second, third = (body["messages"] for body in servers.first.requests)
        assert [each["role"] for each in first] == [each["role"] for each in third]
        assert first[-1]["content"] == "hello"
        assert second[-1]["content"].startswith("hello\n\nPlease return text")
        assert not servers.first.problems


@pytest.mark.parametrize("failures", FAILURES.values(), ids=FAILURES.keys())
async def test_the_next_model_answers_after(
    tmp_path: Path, local: Config, says: Says, failures: list[object]
) -> None:
    channel = FakeChannel("telegram", capabilities=QUICK)
    async with (
        Servers(failures, [Say("The spare speaks.")]) as servers,
        running_bot(tmp_path, local | servers.config, channel=channel),
    ):
        await channel.say("hello")
        told = await channel.wait_for(says("The spare speaks."))
        assert told.body == "The spare speaks.\n\n(Answered by spare:two: openai:one failed.)"
        assert len(channel.messages) == 1
        assert len(servers.first.requests) == len(failures)


async def test_a_model_that_cannot_be_reached_is_passed_over(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with Servers([], [Say("Here.")]) as servers:
        config = local | servers.config | {"models.base_url": DEAD}
        async with running_bot(tmp_path, config) as bot:
            await bot.channel.say("hello")
            await bot.channel.wait_for(says("Answered by spare:two"))


async def test_a_wait_that_the_server_asks_for_is_kept_and_the_first_model_answers(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with (
        Servers([Refuse(429, retry_after="1"), Say("Now I can.")]) as servers,
        running_bot(tmp_path, local | servers.config) as bot,
    ):
        await bot.channel.say("hello")
        told = await bot.channel.wait_for(says("Now I can."))
        assert told.body == "Now I can."
        assert not servers.second.requests


async def test_a_wrong_key_is_said_and_hides_behind_no_other_model(
    tmp_path: Path, local: Config, says: Says
) -> None:
    key = "sk-of-the-operator-0123456789"
    async with Servers([Refuse(401, f"Incorrect API key provided: {key}")]) as servers:
        config = local | servers.config | {"models.api_key": key, "credentials.require_encryption": False}
        async with running_bot(tmp_path, config) as bot:
            await bot.channel.say("hello")
            told = await bot.channel.wait_for(says("answered with status 401"))
            assert key not in told.body
            assert not servers.second.requests


async def test_every_model_that_failed_is_named_with_its_reason(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with (
        Servers([Refuse(503, "moving house")] * 3, [Refuse(400, "no such tool format")]) as servers,
        running_bot(tmp_path, local | servers.config) as bot,
    ):
        await bot.channel.say("hello")
        told = await bot.channel.wait_for(says("The model did not get this done"))
        assert "openai:one answered with status 503: moving house" in told.body
        assert "spare:two answered with status 400: no such tool format" in told.body


async def test_a_model_that_fails_amid_a_turn_leaves_its_calls_done_and_another_goes_on(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    first = [CallTool("exec", {"command": "echo once >> log"}), *[Refuse(500)] * 3]
    async with (
        Servers(first, [Say("It is done.")]) as servers,
        running_bot(tmp_path, local | servers.config) as bot,
    ):
        await bot.channel.say("do it")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("It is done."))
        assert (bot.workspace / "log").read_text() == "once\n"
        assert sum(m.card is not None for m in bot.channel.messages) == 1
        roles = [message["role"] for message in servers.second.requests[0]["messages"]]
        assert roles[-3:] == ["user", "assistant", "tool"]
        assert [*servers.first.problems, *servers.second.problems] == []


async def test_half_an_answer_that_broke_off_is_not_shown_beside_the_whole_one(
    tmp_path: Path, local: Config
) -> None:
    channel = FakeChannel("telegram", capabilities=QUICK)
    async with (
        Servers([BreakOff("The moon is made of " * 4), Say("The moon is made of stone.")]) as servers,
        running_bot(tmp_path, local | servers.config, channel=channel),
    ):
        await channel.say("what is the moon made of?")
        await channel.wait_for(lambda m: m.body == "The moon is made of stone.")
        assert len(channel.messages) == 1


async def test_what_every_answer_used_is_recorded_with_who_gave_it(
    tmp_path: Path, local: Config, says: Says
) -> None:
    steps = [CallTool("todo", {"action": "list"}), *[Refuse(500)] * 3]
    async with (
        Servers(steps, [Say("Done.")]) as servers,
        running_bot(tmp_path, local | servers.config) as bot,
    ):
        await bot.channel.say("go")
        await bot.channel.wait_for(says("Done."))
        await eventually(lambda: bot.parts.queues.total() == (0, 0) or None, "the end of the turn")
        await bot.channel.say("/status")
        told = (await bot.channel.wait_for(says("Models today: 2 answers"))).body
        assert "`openai:one`: 1 answer, 1 tokens read, 1 written, cost unknown" in told
        assert "`spare:two`: 1 answer" in told
        used = {(each.model, each.answers) for each in await bot.parts.models.ledger.today()}
        assert used == {("openai:one", 1), ("spare:two", 1)}
