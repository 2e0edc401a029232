"""Delivery: order per chat, the platform's waiting time, dead letters, doubts after a crash, masks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot.channel import ChannelCapabilities, LengthUnit
from echo_bot.delivery.body import Body
from echo_bot.errors import (
    ChannelFatal,
    FormatRejected,
    OutcomeUnknown,
    RetryAfter,
    TargetGone,
    TemporaryFailure,
)
from echo_bot.events import Address, MessageRef, OutboundFile, OutboundText
from echo_bot.storage.records import OutboxRow
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.scripted_model import Say, ScriptedModel
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]
CHAT = Address("telegram", "1")


def row(source: str, text: str, *, reply: str = "") -> OutboxRow:
    return OutboxRow(source, 0, CHAT, Body("text", text, reply_to_id=reply).to_json(), datetime.now(UTC))


async def test_messages_keep_their_order_while_the_platform_asks_to_wait(
    tmp_path: Path, local: Config
) -> None:
    async with running_bot(tmp_path, local) as bot:
        bot.channel.fail("send_text", RetryAfter(0.2))
        for number in range(5):
            await bot.parts.delivery.send(CHAT, f"number {number}", source=f"s{number}")
        await eventually(lambda: len(bot.channel.texts) == 5, "all five")
        assert bot.channel.texts == [f"number {number}" for number in range(5)]


async def test_of_a_long_text_no_part_shows_nothing(tmp_path: Path, local: Config) -> None:
    limits = ChannelCapabilities(max_length=100, length_unit=LengthUnit.CHARACTERS)
    async with running_bot(tmp_path, local, channel=FakeChannel("telegram", capabilities=limits)) as bot:
        await bot.parts.delivery.send(CHAT, "begin" + "\n" * 250 + "end", source="s", wait_seconds=5)
        assert [text.strip() for text in bot.channel.texts] == ["begin", "end"]


async def test_a_message_that_waits_for_its_time_is_sent_after_a_restart_without_another_reason(
    tmp_path: Path, local: Config
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        channel.fail("send_text", RetryAfter(2), times=1)
        await bot.parts.delivery.send(CHAT, "later", source="s")
        await eventually(
            lambda: "send_text" not in {k for k, v in channel._faults.items() if v}, "the refusal"
        )
    async with running_bot(tmp_path, local, channel=channel):
        await eventually(lambda: channel.texts == ["later"], "the message", timeout=15)


async def test_what_may_have_arrived_before_a_crash_is_marked_and_keeps_its_place(
    tmp_path: Path, local: Config
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await bot.parts.delivery.close()
        first, _ = await bot.store.outbox.put((row("a", "first"), row("b", "second")))
        await bot.store.outbox.mark(first.row_id, "sending")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await eventually(lambda: len(channel.texts) == 2, "both")
        assert channel.texts == ["(possibly repeated)\nfirst", "second"]
        assert not await bot.store.outbox.list("dead", 10)


async def test_a_full_message_in_doubt_still_fits(tmp_path: Path, local: Config) -> None:
    channel = FakeChannel("telegram", capabilities=ChannelCapabilities(max_length=50))
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await bot.parts.delivery.close()
        [only] = await bot.store.outbox.put((row("a", "x" * 50),))
        await bot.store.outbox.mark(only.row_id, "sending")
    async with running_bot(tmp_path, local, channel=channel):
        await eventually(lambda: channel.texts == ["(possibly repeated)", "x" * 50], "the mark and the text")


async def test_what_may_have_arrived_before_the_line_broke_is_marked(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        bot.channel.fail("send_text", OutcomeUnknown("the line broke"), after=True)
        await bot.parts.delivery.send(CHAT, "once", source="s")
        await eventually(lambda: len(bot.channel.texts) == 2, "both")
        assert bot.channel.texts == ["once", "(possibly repeated)\nonce"]


async def test_so_is_what_was_sent_in_place_of_a_draft_that_was_deleted(
    tmp_path: Path, local: Config
) -> None:
    async with running_bot(tmp_path, local) as bot:
        bot.channel.fail("edit_text", TargetGone("deleted"), times=2)
        bot.channel.fail("send_text", OutcomeUnknown("the line broke"), after=True)
        await bot.parts.delivery.send(CHAT, "once", source="s", replaces="77")
        await eventually(lambda: len(bot.channel.texts) == 2, "both")
        assert bot.channel.texts == ["once", "(possibly repeated)\nonce"]


async def test_what_was_refused_before_it_was_asked_is_not_marked(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        bot.channel.fail("send_text", TemporaryFailure("no line"))
        await bot.parts.delivery.send(CHAT, "once", source="s")
        await eventually(lambda: bot.channel.texts == ["once"], "the message")


async def test_a_card_that_may_stand_there_already_says_so(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        bot.channel.fail("send_card", OutcomeUnknown("the line broke"), after=True)
        await bot.channel.say("/run ls")
        await eventually(lambda: len(bot.channel.cards) == 2, "both")
        first, second = (repr(card.blocks) for card in bot.channel.cards)
        assert "Possibly repeated" not in first
        assert "Possibly repeated" in second


async def test_where_the_platform_drops_doubles_nothing_is_marked(tmp_path: Path, local: Config) -> None:
    channel = FakeChannel("telegram", capabilities=ChannelCapabilities(max_length=500, dedups_sends=True))
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await bot.parts.delivery.close()
        [only] = await bot.store.outbox.put((row("a", "first"),))
        await bot.store.outbox.mark(only.row_id, "sending")
    async with running_bot(tmp_path, local, channel=channel):
        await eventually(lambda: channel.texts == ["first"], "the message")


@pytest.mark.parametrize(("drops_doubles", "said"), [(True, []), (False, ["(possibly repeated)"])])
async def test_a_file_that_may_have_arrived_says_so_where_the_platform_drops_no_second_file(
    tmp_path: Path, local: Config, drops_doubles: bool, said: list[str]
) -> None:
    limits = ChannelCapabilities(max_length=500, files=True, dedups_sends=True, dedups_files=drops_doubles)
    channel = FakeChannel("telegram", capabilities=limits)
    async with running_bot(tmp_path, local, channel=channel) as bot:
        (bot.workspace / "a.txt").write_text("x")
        file = OutboundFile(str(bot.workspace / "a.txt"), "a.txt")
        channel.fail("send_file", OutcomeUnknown("the line broke"), after=True)
        receipt = await bot.parts.delivery.send(CHAT, "", files=(file,), source="s", wait_seconds=5)
    assert receipt.state == "delivered"
    assert channel.texts == said
    assert len([message for message in channel.messages if message.file]) == (1 if drops_doubles else 2)


async def test_a_refused_format_goes_as_plain_text(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        bot.channel.fail("send_text", FormatRejected("can't parse entities"))
        await bot.parts.delivery.send(CHAT, "*odd", source="s")
        await eventually(lambda: bot.channel.texts == ["*odd"], "the text")
        [message] = bot.channel.messages
        assert message.text is not None
        assert not message.text.markdown


async def test_what_is_refused_as_plain_text_too_is_given_up_at_once_and_holds_up_nothing(
    tmp_path: Path, local: Config
) -> None:
    async with running_bot(tmp_path, local) as bot:
        bot.channel.fail("send_text", FormatRejected("message text is empty"), times=2)
        receipt = await bot.parts.delivery.send(CHAT, "refused", source="s", wait_seconds=5)
        assert (receipt.state, receipt.error) == ("failed", "message text is empty")
        await bot.parts.delivery.send(CHAT, "next", source="t")
        await eventually(lambda: bot.channel.texts == ["next"], "the next message")


async def test_a_dead_letter_is_shown_by_status_and_holds_up_nothing(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        bot.channel.fail("send_text", TargetGone("bot was blocked by the user"))
        receipt = await bot.parts.delivery.send(CHAT, "lost", source="s", wait_seconds=5)
        assert (receipt.state, receipt.error) == ("failed", "bot was blocked by the user")
        await bot.channel.say("/status")
        await bot.channel.wait_for(says("Undeliverable messages: 1"))


async def test_what_only_a_person_can_mend_is_given_up_at_once_and_shown_by_status_until_it_is_mended(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        (bot.workspace / "a.txt").write_text("x")
        file = OutboundFile(str(bot.workspace / "a.txt"), "a.txt")
        bot.channel.fail("send_file", ChannelFatal("The app lacks files:write", "Add files:write"))
        receipt = await bot.parts.delivery.send(CHAT, "", files=(file,), source="s", wait_seconds=5)
        assert (receipt.state, receipt.error) == ("failed", "The app lacks files:write. Add files:write")
        await bot.channel.say("/status")
        shown = await bot.channel.wait_for(says("Channel telegram: connected"))
        assert "The app lacks files:write. Add files:write" in shown.body
        await bot.parts.delivery.send(CHAT, "", files=(file,), source="t", wait_seconds=5)
        await bot.channel.say("/status")
        mended = await bot.channel.wait_for(
            lambda message: says("Channel telegram: connected")(message) and message is not shown
        )
        [line] = [line for line in mended.body.splitlines() if "Channel telegram" in line]
        assert "Add files:write" not in line


class Faulty(FakeChannel):
    """Raises what no adapter may raise, once."""

    def __init__(self) -> None:
        super().__init__("telegram")
        self.left = 1

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        if self.left:
            self.left -= 1
            raise KeyError("message_id")
        return await super().send_text(address, message)


async def test_an_adapters_own_fault_blocks_no_chat(tmp_path: Path, local: Config) -> None:
    channel = Faulty()
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await bot.parts.delivery.send(CHAT, "one", source="1")
        await bot.parts.delivery.send(CHAT, "two", source="2")
        await eventually(lambda: channel.texts == ["one", "two"], "both, in order", timeout=10)


async def test_parts_fit_the_channels_own_unit_and_lose_nothing(tmp_path: Path, local: Config) -> None:
    limits = ChannelCapabilities(max_length=100, length_unit=LengthUnit.UTF16)
    channel = FakeChannel("telegram", capabilities=limits)
    text = "😀" * 333
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await bot.parts.delivery.send(CHAT, text, source="s")
        await eventually(lambda: "".join(channel.texts) == text, "all of it")


async def test_secrets_are_masked_before_anything_is_stored(
    tmp_path: Path, local: Config, says: Says
) -> None:
    secret = "s3cr3t-value-of-the-operator"
    config = local | {"models.api_key": secret, "credentials.require_encryption": False}
    script = ScriptedModel([Say(f"I was told {secret} once.")])
    async with running_bot(tmp_path, config, model=script.model) as bot:
        await bot.channel.say(f"remember {secret}")
        await bot.channel.wait_for(says("I was told"))
        assert secret not in str(script.seen)
        assert all(secret not in str(v) for m in bot.channel.messages for v in m.versions)
        rows = [*await bot.store.outbox.list("sent", 10), *await bot.store.sessions.transcript(CHAT, 10)]
        assert rows
        assert secret not in str(rows)


async def test_a_message_of_a_megabyte_and_one_of_half_characters_are_taken(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        assert await bot.channel.say("x" * 1_000_000, chat_id="1")
        await bot.channel.wait_for(says("No model"))
        assert await bot.channel.say("/tool message text=half\ud800way", chat_id="2", sender_name="\udcff")
        await bot.channel.wait_for(says("half\ufffdway"))
        assert not await bot.channel.say("hello", chat_id="3\ud800")


async def test_a_long_card_on_a_channel_without_buttons_is_shown_whole_in_parts(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = FakeChannel("telegram", capabilities=ChannelCapabilities(max_length=300))
    async with running_bot(tmp_path, local, channel=channel):
        await channel.say("/run echo " + "y" * 900)
        await channel.wait_for(says("/approve"))
        assert "".join(channel.texts).count("y" * 100) >= 2


async def test_a_copy_for_sending_is_kept_only_for_a_while(tmp_path: Path, local: Config, says: Says) -> None:
    import os

    async with running_bot(tmp_path, local) as bot:
        (bot.workspace / "a.txt").write_text("a")
        await bot.channel.say('/tool message {"text": "see", "files": ["a.txt"]}')
        await bot.channel.wait_for(lambda m: m.file is not None)
        [copy] = (tmp_path / "state" / "outgoing").glob("*/content")
        old = (datetime.now(UTC) - timedelta(days=8)).timestamp()
        os.utime(copy, (old, old))
        await bot.channel.say('/tool message {"text": "again", "files": ["a.txt"]}')
        await bot.channel.wait_for(says("again"))
        await eventually(lambda: not copy.exists() or None, "the old copy to go")


async def test_files_pass_the_path_policy_and_need_a_channel_that_takes_them(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = FakeChannel("telegram", capabilities=ChannelCapabilities(max_length=4000))
    async with running_bot(tmp_path, local, channel=channel) as bot:
        (bot.workspace / "a.txt").write_text("a")
        await channel.say('/tool message {"text": "see", "files": ["a.txt"]}')
        await channel.wait_for(says("takes no files"))
        await channel.say('/tool message {"text": "  "}')
        await channel.wait_for(says("text is empty"))
    async with running_bot(tmp_path, local, channel=FakeChannel("telegram")) as bot:
        forbidden = '/tool message {"text": "see", "files": ["../state/echo-bot.db"]}'
        await bot.channel.say(forbidden, event_id="another")
        await bot.channel.wait_for(lambda message: message.text is not None)
        assert "see" not in bot.channel.texts
        assert not any(m.file is not None for m in bot.channel.messages)


async def test_a_long_message_stored_while_its_channel_was_away_is_split_when_it_is_sent(
    tmp_path: Path, local: Config
) -> None:
    text = "word " * 2000
    other = FakeChannel("slack")
    async with running_bot(tmp_path, local) as bot:
        await bot.parts.delivery.send(Address("slack", "1"), text, source="s", markdown=False)
        other.fail("send_text", TemporaryFailure("503"), after=False)
        await other.start(bot.parts.inbox)
        bot.parts.book.add(other)
        bot.parts.delivery.wake()
        await eventually(
            lambda: "".join(m.body for m in other.messages).split() == text.split(), "all parts, once", 15
        )


async def test_a_message_whose_sender_is_stopped_while_it_is_stored_is_sent_all_the_same(
    tmp_path: Path, local: Config
) -> None:
    async with running_bot(tmp_path, local) as bot:
        for number in range(20):
            sending = asyncio.create_task(
                bot.parts.delivery.send(CHAT, f"number {number}", source=f"s{number}")
            )
            for _ in range(number % 4 + 1):
                await asyncio.sleep(0)
            sending.cancel()
        await bot.parts.delivery.send(CHAT, "last", source="last")
        await eventually(lambda: bot.channel.texts[-1:] == ["last"], "the last one")
        assert bot.channel.texts[:-1] == sorted(bot.channel.texts[:-1], key=lambda text: int(text[7:]))
        assert len(bot.channel.texts) == len(set(bot.channel.texts))


class Slow(FakeChannel):
    """Holds the first message until it is let go, and has no place for the second."""

    def __init__(self) -> None:
        super().__init__("telegram")
        self.goes = asyncio.Event()

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        await self.goes.wait()
        if message.text == "number 1":
            raise TargetGone("gone")
        return await super().send_text(address, message)


async def test_what_waits_behind_a_dead_letter_goes_on_at_once(tmp_path: Path, local: Config) -> None:
    channel = Slow()
    async with running_bot(tmp_path, local, channel=channel) as bot:
        for number in range(4):
            await bot.parts.delivery.send(CHAT, f"number {number}", source=f"s{number}")
        channel.goes.set()
        await eventually(lambda: len(channel.texts) == 3, "the others", timeout=3)
        assert channel.texts == ["number 0", "number 2", "number 3"]


async def test_what_the_last_delivery_took_along_is_not_looked_for_again(
    tmp_path: Path, local: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = Slow()
    async with running_bot(tmp_path, local, channel=channel) as bot:
        looked: list[int] = []
        due = bot.store.outbox.due

        async def counted(now: datetime, limit: int) -> tuple[OutboxRow, ...]:
            looked.append(limit)
            return await due(now, limit)

        monkeypatch.setattr(bot.store.outbox, "due", counted)
        for number in (0, 2, 3):
            await bot.parts.delivery.send(CHAT, f"number {number}", source=f"s{number}")
        channel.goes.set()
        await eventually(lambda: len(channel.texts) == 3, "all", timeout=3)
        await asyncio.sleep(0.2)
        assert looked == []
