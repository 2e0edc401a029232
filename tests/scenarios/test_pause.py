"""Pausing: everywhere by an admin, one chat by whoever speaks there, over restarts, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from echo_bot.cli.pause import LOCAL
from echo_bot.errors import StorageError
from echo_bot.events import SessionKey
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

LIST = "/tool todo action=list"
EMPTY = "The list is empty"
TWO = {"channels.telegram.allow_from": ["1", "2"]}


def counted(channel: FakeChannel, text: str) -> int:
    return sum(text in each for each in channel.texts)


async def test_an_admins_pause_holds_every_chat_and_the_first_message_is_told(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local | TWO) as bot:
        await bot.channel.say("/pause")
        await bot.channel.wait_for(says("Everything is paused"))
        for _ in range(2):
            await bot.channel.say(LIST, sender_id="2", chat_id="2")
        await bot.channel.say(LIST)
        await eventually(
            lambda: counted(bot.channel, "Paused: I will read this") == 2, "both chats told once"
        )
        assert bot.parts.queues.total() == (0, 3)
        assert counted(bot.channel, EMPTY) == 0
        await bot.channel.say("/resume")
        await eventually(lambda: counted(bot.channel, EMPTY) == 3, "all three answers")
        assert counted(bot.channel, "Everything goes on") == 1


async def test_somebody_who_is_no_admin_pauses_their_chat_alone(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local | TWO) as bot:
        await bot.channel.say("/pause everywhere", sender_id="2", chat_id="2")
        await bot.channel.wait_for(says("Only an admin"))
        await bot.channel.say("/pause", sender_id="2", chat_id="2")
        await bot.channel.wait_for(says("This chat is paused"))
        await bot.channel.say(LIST, sender_id="2", chat_id="2")
        await bot.channel.wait_for(says("after `/resume`"))
        await bot.channel.say(LIST)
        other = await bot.channel.wait_for(says(EMPTY))
        assert other.ref.address.chat_id == "1"
        assert counted(bot.channel, EMPTY) == 1


async def test_whoever_is_no_admin_cannot_end_the_pause_of_everything(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local | TWO) as bot:
        await bot.channel.say("/pause")
        await bot.channel.wait_for(says("Everything is paused"))
        for asked in ("/resume", "/resume everywhere", "/resume here"):
            assert "nly an admin" in (await bot.channel.command(asked, sender_id="2", chat_id="2")).text
        assert bot.parts.pausing.is_paused()
        assert "Paused since" in (await bot.channel.command("/status", sender_id="2", chat_id="2")).text
        assert "Paused everywhere" in (await bot.channel.command("/status")).text


async def test_an_admin_may_pause_one_chat_alone(tmp_path: Path, local: Config, says: Says) -> None:
    async with running_bot(tmp_path, local | TWO) as bot:
        assert "This chat is paused." in (await bot.channel.command("/pause here")).text
        assert not bot.parts.pausing.is_paused()
        assert "no place" in (await bot.channel.command("/pause there")).text
        assert "already" in (await bot.channel.command("/pause here")).text
        assert (await bot.channel.command("/resume")).text == "Going on."
        assert (await bot.channel.command("/resume")).text == "Nothing is paused."


async def test_what_runs_goes_on_and_its_approval_can_be_given(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo it-ran")
        card = await bot.channel.wait_for(is_open)
        await bot.channel.say("/pause")
        await bot.channel.wait_for(says("Everything is paused"))
        assert card.card is not None
        assert is_open(card)
        await bot.channel.say(f"/approve {card.card.short_id}")
        await bot.channel.wait_for(says("it-ran"))
        await bot.channel.say(LIST)
        await bot.channel.wait_for(says("Paused: I will read this"))
        await bot.channel.say("/stop")
        await bot.channel.wait_for(says("Stopped 1 message that waited."))
        assert bot.parts.queues.total() == (0, 0)


async def test_a_restart_stays_paused_and_holds_what_it_revives(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local | TWO, channel=channel) as bot:
        await channel.say("/pause")
        await channel.say("/pause", sender_id="2", chat_id="2")
        await channel.say(LIST, sender_id="2", chat_id="2")
        await eventually(lambda: bot.parts.queues.total() == (0, 1), "the message to wait")
    async with running_bot(tmp_path, local | TWO, channel=channel) as bot:
        assert bot.parts.queues.total() == (0, 1)
        await channel.say("/resume")
        await channel.wait_for(says("Everything goes on"))
        assert bot.parts.queues.total() == (0, 1)
        await channel.say("/resume", sender_id="2", chat_id="2")
        await channel.wait_for(says(EMPTY))


async def test_a_pause_that_another_process_stored_is_taken_over(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.store.values.put("paused", "*", "unreadable")
        await bot.parts.pausing.load()
        await bot.channel.say(LIST)
        await bot.channel.wait_for(says("Paused: I will read this"))
        await bot.store.values.delete("paused", "*")
        await bot.parts.pausing.load()
        await bot.channel.wait_for(says(EMPTY))


async def test_a_chat_that_moves_stays_paused_under_its_new_id(
    tmp_path: Path, local: Config, says: Says
) -> None:
    config = local | {"permissions.admin_users": []}
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/pause")
        await bot.channel.wait_for(says("This chat is paused"))
        await bot.channel.say(LIST)
        await bot.channel.move_chat("1", "-100")
        assert bot.parts.pausing.is_paused(SessionKey("telegram:-100"))
        assert not bot.parts.pausing.is_paused(SessionKey("telegram:1"))
        assert bot.parts.queues.total() == (0, 1)
        await bot.channel.say("/resume", chat_id="-100")
        await bot.channel.wait_for(says(EMPTY))


async def test_others_wait_with_the_pausing_until_it_is_over(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        pausing = bot.parts.pausing
        await asyncio.wait_for(pausing.wait_until_resumed(), 10)
        assert await pausing.pause(LOCAL)
        assert not await pausing.pause(LOCAL)
        job = asyncio.create_task(pausing.wait_until_resumed())
        await pausing.pause(LOCAL, SessionKey("telegram:1"))
        await pausing.resume(SessionKey("telegram:1"))
        assert not job.done()
        assert await pausing.resume()
        await asyncio.wait_for(job, 10)
        assert not await pausing.resume()


async def test_a_pause_that_cannot_be_stored_is_said_and_holds_nothing(
    tmp_path: Path, local: Config, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_bot(tmp_path, local) as bot:

        async def refuse(*_: object) -> None:
            raise StorageError("the disk is full")

        with monkeypatch.context() as broken:
            broken.setattr(bot.store.values, "put", refuse)
            await bot.channel.say("/pause")
            await bot.channel.wait_for(says("/pause did not work"))
        assert not bot.parts.pausing.is_paused()


async def test_pauses_and_resumes_are_audited(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.command("/pause")
        await bot.channel.command("/resume")
        assert [len(await bot.store.audit.of_kind(kind)) for kind in ("paused", "resumed")] == [1, 1]
