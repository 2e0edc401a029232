"""Which of its messages are the bot's own words: only in those may a platform name commands in its form."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic_ai.exceptions import UnexpectedModelBehavior

from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel
from echo_bot.testing.scripted_model import Fail, Say, ScriptedModel

Config = dict[str, object]


async def is_own(channel: FakeChannel, said: str, answered: str) -> bool:
    await channel.say(said)
    message = await channel.wait_for_text(answered)
    assert message.text is not None
    return message.text.is_own


@pytest.mark.parametrize(
    ("said", "answered", "own"),
    [
        ("hello", "No model is configured", True),
        ("/run", "/run ls -la", True),
        ("/pause", "paused", True),
        ("/tool read_file path=notes.txt", "see /help", False),
    ],
)
async def test_an_answer_that_quotes_no_tool_is(
    tmp_path: Path, local: Config, said: str, answered: str, own: bool
) -> None:
    async with running_bot(tmp_path, local) as bot:
        (bot.workspace / "notes.txt").write_text("see /help")
        assert await is_own(bot.channel, said, answered) is own


async def test_a_models_words_are_not_but_what_is_said_of_its_failure_is(
    tmp_path: Path, local: Config
) -> None:
    script = ScriptedModel([Say("Write /help"), *[Fail(UnexpectedModelBehavior("no sense"))] * 9])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        assert not await is_own(bot.channel, "hello", "Write /help")
        assert await is_own(bot.channel, "again", "did not get this done")


async def test_what_waits_over_a_restart_stays_the_bots_own(tmp_path: Path, local: Config) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.say("/status")
        address = (await channel.wait_for_text("")).ref.address
        await bot.parts.delivery.close()
        await bot.parts.delivery.send(address, "Later: /help", source="late", is_own=True)
    async with running_bot(tmp_path, local, channel=channel):
        message = await channel.wait_for_text("Later")
        assert message.text is not None
        assert message.text.is_own
