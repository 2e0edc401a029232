"""A call that takes long: one message with its time and output, a Stop for those who may, and its end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from echo_bot.delivery import status
from echo_bot.errors import OutcomeUnknown, RetryAfter, TemporaryFailure
from echo_bot.events import Address, Card, CardState, MessageRef
from echo_bot.storage.store import open_store
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FULL_CAPABILITIES, FakeChannel, FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]

UNTIL_GO = "while [ ! -e go ]; do sleep 0.02; done"
"""A command that runs for as long as the test wants."""


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "_SHOWN_AFTER_SECONDS", 0.05)
    monkeypatch.setattr(status, "_BETWEEN_SECONDS", 0.05)
    monkeypatch.setattr(status, "_LONGEST_PAUSE_SECONDS", 0.05)


pytestmark = pytest.mark.usefixtures("quick")


@pytest.fixture
def free(local: Config) -> Config:
    """Nobody is asked, and sender 2 may chat, too."""
    return local | {
        "permissions.approval.mode": "off",
        "channels.telegram.allow_from": ["1", "2"],
        "permissions.elevated.enabled": True,
        "permissions.elevated.allow_from": {"telegram": ["1", "2"]},
    }


def is_line(message: FakeMessage) -> bool:
    return message.card is not None and message.card.card_id.startswith("status-")


async def line_of(bot: RunningBot) -> FakeMessage:
    return await bot.channel.wait_for(is_line, "a status line")


async def test_a_long_call_shows_its_time_and_last_output_and_then_its_end(
    tmp_path: Path, free: Config, says: Says
) -> None:
    async with running_bot(tmp_path, free) as bot:
        await bot.channel.say(f"/run echo step 1; {UNTIL_GO}")
        line = await line_of(bot)
        await eventually(lambda: "step 1" in line.body, "output")
        assert line.card is not None
        assert "exec is running" in line.card.title
        while len(entries := await bot.parts.inbox.transcript(line.ref.address, 10)) < 2:
            await asyncio.sleep(0.01)
        standing = entries[1]
        assert standing.card is not None
        assert standing.card.buttons == line.buttons
        assert [button.label for button in line.buttons] == ["Stop"]
        (bot.workspace / "go").touch()
        await bot.channel.wait_for(says("step 1"))
        await eventually(lambda: "exec is done after" in line.body, "its end")
        assert (line.buttons, line.card.state) == ((), CardState.CLOSED)
        assert sum(map(is_line, bot.channel.messages)) == 1
        while await bot.store.values.list("status_lines"):
            await asyncio.sleep(0.01)
        while len(entries := await bot.parts.inbox.transcript(line.ref.address, 10)) < 3:
            await asyncio.sleep(0.01)
        assert [entry.role for entry in entries] == ["user", "card", "bot"]
        assert (entries[1].card, "exec is done after" in entries[1].text) == (line.card, True)


async def test_stop_is_for_the_requester_and_admins(tmp_path: Path, free: Config) -> None:
    async with running_bot(tmp_path, free | {"channels.telegram.allow_from": ["1", "2", "3"]}) as bot:
        await bot.channel.say("/run sleep 60", sender_id="2", chat_id="100", is_group=True)
        line = await line_of(bot)
        refused = await bot.channel.press("Stop", sender_id="3")
        assert not refused.ok
        assert "Only whoever asked" in refused.text
        token = line.buttons[0].token
        assert (await bot.channel.press("Stop", sender_id="2")).ok
        await eventually(lambda: "exec was stopped after" in line.body, "its end")
        assert await bot.store.turns.unfinished() == ()
        late = await bot.channel.press_token(token, line.ref, sender_id="2")
        assert (late.ok, late.text) == (False, "This is not running any more.")
        await bot.channel.say("/run sleep 60", sender_id="2", chat_id="100", is_group=True)
        await eventually(lambda: sum(map(is_line, bot.channel.messages)) == 2, "a second line")
        assert (await bot.channel.press("Stop", sender_id="1")).ok


async def test_a_secret_that_a_command_prints_is_masked_in_the_line(tmp_path: Path, free: Config) -> None:
    async with running_bot(tmp_path, free) as bot:
        secret = "ghp_" + "a1B2" * 9
        await bot.channel.say(f"/run printf '%s' {secret[:20]}; sleep 0.1; echo {secret[20:]}; sleep 60")
        line = await line_of(bot)
        await eventually(lambda: "Last output" in line.body, "output")
        shown = [version for version in line.versions if secret[:12] in repr(version)]
        assert shown == []
        await bot.channel.say("/stop")
        await eventually(lambda: "stopped" in line.body, "its end")


async def test_a_channel_that_does_not_redraw_shows_none(tmp_path: Path, free: Config, says: Says) -> None:
    paper = FakeChannel("telegram", capabilities=replace(FULL_CAPABILITIES, redraws=False))
    async with running_bot(tmp_path, free, channel=paper) as bot:
        await bot.channel.say("/run sleep 0.2; echo end")
        await bot.channel.wait_for(says("end\n"))
        assert bot.channel.cards == []


async def test_a_line_that_the_platform_refuses_for_now_is_left_out_and_the_answer_comes_when_it_may(
    tmp_path: Path, free: Config, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_bot(tmp_path, free) as bot:
        now = time.monotonic()
        monkeypatch.setattr(bot.parts.delivery.pace, "_now", lambda: now)
        bot.channel.fail("send_card", RetryAfter(0.5))
        await bot.channel.say(f"/run {UNTIL_GO}; echo end")
        await eventually(lambda: not bot.channel._faults["send_card"], "the refusal")
        (bot.workspace / "go").touch()
        await eventually(lambda: not bot.parts.status._tasks, "the end of the call")
        now += 0.5
        await bot.channel.wait_for(says("end\n"))
        assert bot.channel.cards == []


async def test_a_bot_that_starts_again_ends_the_line_that_was_left(
    tmp_path: Path, free: Config, says: Says
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, free, channel=channel) as bot:
        await bot.channel.say("/run sleep 60")
        line = await line_of(bot)
        while not (stored := await bot.store.values.list("status_lines")):
            pass
        open_card = line.card
        assert open_card is not None
    await channel.edit_card(line.ref, open_card)
    store = await open_store(f"sqlite+aiosqlite:///{tmp_path / 'state' / 'echo-bot.db'}")
    for call, shown in stored.items():
        await store.values.put("status_lines", call, shown)
    await store.close()
    async with running_bot(tmp_path, free, channel=channel) as bot:
        await eventually(lambda: "is not running any more" in line.body, "its end")
        assert line.buttons == ()
        await bot.channel.wait_for(says("Outcome unknown"))


async def test_a_line_loses_its_stop_once_a_platform_that_was_down_is_back(
    tmp_path: Path, free: Config, says: Says
) -> None:
    async with running_bot(tmp_path, free) as bot:
        await bot.channel.say(f"/run {UNTIL_GO}; echo end")
        line = await line_of(bot)
        bot.channel.fail("edit_card", TemporaryFailure("down"), times=5)
        (bot.workspace / "go").touch()
        await bot.channel.wait_for(says("end\n"))
        await eventually(lambda: line.buttons == (), "its end")


async def test_a_line_that_may_have_arrived_is_not_sent_beside_itself(
    tmp_path: Path, free: Config, says: Says
) -> None:
    async with running_bot(tmp_path, free) as bot:
        bot.channel.fail("send_card", OutcomeUnknown("lost"), after=True)
        await bot.channel.say(f"/run {UNTIL_GO}; echo end")
        await line_of(bot)
        (bot.workspace / "go").touch()
        await bot.channel.wait_for(says("end\n"))
        assert len(bot.channel.cards) == 1


async def test_a_line_that_may_have_arrived_goes_on_where_doubles_are_dropped(
    tmp_path: Path, free: Config, says: Says
) -> None:
    bears = replace(FULL_CAPABILITIES, dedups_sends=True)
    async with running_bot(tmp_path, free, channel=FakeChannel("telegram", capabilities=bears)) as bot:
        bot.channel.fail("send_card", OutcomeUnknown("lost"), after=True)
        await bot.channel.say(f"/run {UNTIL_GO}; echo end")
        await line_of(bot)
        await eventually(
            lambda: (
                bot.parts.status._running
                and all(running.ref is not None for running in bot.parts.status._running.values())
            ),
            "its place",
        )
        (bot.workspace / "go").touch()
        await bot.channel.wait_for(says("end\n"))
        await eventually(lambda: [card.buttons for card in bot.channel.cards] == [()], "its end")


class Silent(FakeChannel):
    """Takes cards and does not say where they stand."""

    edits = 0

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        return replace(await super().send_card(address, card), message_id="")

    async def edit_card(self, ref: MessageRef, card: Card) -> None:
        self.edits += 1
        await super().edit_card(ref, card)


async def test_a_line_that_stands_nobody_knows_where_is_neither_changed_nor_remembered(
    tmp_path: Path, free: Config, says: Says
) -> None:
    channel = Silent("telegram")
    async with running_bot(tmp_path, free, channel=channel) as bot:
        await channel.say(f"/run {UNTIL_GO}; echo end")
        await line_of(bot)
        (bot.workspace / "go").touch()
        await channel.wait_for(says("end\n"))
        await eventually(lambda: not bot.parts.status._tasks, "the line's end")
        assert await bot.store.values.list("status_lines") == {}
    assert channel.edits == 0
