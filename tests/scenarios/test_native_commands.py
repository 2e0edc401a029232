"""Native slash commands: answered at once and privately, claimed once, completed while they are typed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from echo_bot.channel import CommandReply
from echo_bot.inbox.admission import code_hash
from echo_bot.storage.records import PairingCode
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FakeMessage

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]


async def open_code(bot: RunningBot, code: str) -> None:
    until = datetime.now(UTC) + timedelta(minutes=10)
    await bot.store.people.add_code(PairingCode(code_hash(code), ("chat",), until))


async def test_a_command_is_answered_at_once_and_nothing_is_sent(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        reply = await bot.channel.command("/whoami")
        assert "telegram:1" in reply.text
        assert (reply.ok, reply.queued) == (True, False)
        assert bot.channel.messages == []


async def test_a_repeated_command_answers_with_nothing(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        assert (await bot.channel.command("/help", event_id="i1")).text
        assert await bot.channel.command("/help", event_id="i1") == CommandReply(repeated=True)
        assert not await bot.channel.say("/help", event_id="i1")


async def test_a_command_that_starts_a_turn_is_queued_and_its_reply_is_sent(
    tmp_path: Path, local: Config
) -> None:
    async with running_bot(tmp_path, local) as bot:
        reply = await bot.channel.command("/tool todo action=list")
        assert reply == CommandReply(queued=True)
        await bot.channel.wait_for_text("The list is empty")


async def test_an_open_call_is_approved_by_a_native_command(
    tmp_path: Path, local: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.command("/run echo done")
        card = (await bot.channel.wait_for(is_open)).card
        assert card is not None
        refused = await bot.channel.command(f"/approve {card.short_id} forever")
        assert "not a scope" in refused.text
        reply = await bot.channel.command(f"/approve {card.short_id} once")
        assert "Approved" in reply.text
        await bot.channel.wait_for_text("done\n")


async def test_an_unknown_command_says_so(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        assert "no command `/dance`" in (await bot.channel.command("/dance")).text


async def test_a_stranger_is_told_and_may_only_pair(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        for text in ("/status", "/run echo hi", "/pair ABCD2345"):
            reply = await bot.channel.command(text, sender_id="9", chat_id="9")
            assert (reply.ok, reply.queued) == (False, False)
            assert "does not know you" in reply.text
        await open_code(bot, "ABCD2345")
        assert not (await bot.channel.command("/pair WRONG234", sender_id="9", chat_id="9")).ok
        assert "Paired" in (await bot.channel.command("/pair ABCD2345", sender_id="9", chat_id="9")).text
        assert (await bot.channel.command("/status", sender_id="9", chat_id="9")).ok
        assert bot.channel.messages == []


async def test_a_group_that_is_switched_off_hears_no_command(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local | {"channels.telegram.group_policy": "off"}) as bot:
        assert not (await bot.channel.command("/help", is_group=True, chat_id="100")).ok


async def test_native_commands_count_against_the_rate_but_control_does_not(
    tmp_path: Path, local: Config
) -> None:
    config = local | {"rate_limit.per_minute": 1, "rate_limit.burst": 2}
    async with running_bot(tmp_path, config) as bot:
        replies = [await bot.channel.command("/help") for _ in range(4)]
        assert [reply.ok for reply in replies] == [True, True, False, False]
        assert all("Too many" in reply.text for reply in replies[2:])
        assert (await bot.channel.command("/status")).ok


async def test_what_is_typed_is_completed_with_what_the_viewer_may_use(
    tmp_path: Path, local: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, local | {"channels.telegram.allow_from": ["1", "2"]}) as bot:
        await bot.channel.say("/run echo one")
        card = (await bot.channel.wait_for(is_open)).card
        assert card is not None
        assert await bot.channel.complete("approve", "id") == [card.short_id]
        assert await bot.channel.complete("approve", "id", "echo") == [card.short_id]
        assert await bot.channel.complete("approve", "id", "nothing like it") == []
        assert await bot.channel.complete("approve", "id", sender_id="2") == []
        assert await bot.channel.complete("tool", "name", "read_f") == ["read_file"]
        assert await bot.channel.complete("tool", "name", sender_id="9") == []
        assert len(await bot.channel.complete("tool", "name")) <= 25
        assert await bot.channel.complete("approve", "scope", "s") == ["session", "always"]


async def test_remembered_approvals_are_completed_for_their_owner_alone(
    tmp_path: Path, local: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, local | {"channels.telegram.allow_from": ["1", "2"]}) as bot:
        await bot.channel.say("/run echo one")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("For 1 hour")
        await bot.channel.wait_for_text("one\n")
        [grant] = await bot.channel.complete("revoke", "id")
        assert await bot.channel.complete("revoke", "id", sender_id="2") == []
        assert "Forgotten" in (await bot.channel.command(f"/revoke {grant}")).text
