"""Remembered approvals: one owner, one session, one hour, one exact call and the very script it named."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]


@pytest.fixture
def two_admins(local: Config) -> Config:
    return local | {
        "permissions.admin_users": ["telegram:1", "telegram:2"],
        "channels.telegram.allow_from": ["1", "2"],
    }


async def asks(bot: RunningBot, is_open: Is, text: str, *, chat_id: str = "1", sender_id: str = "1") -> bool:
    """Say it and wait for its end or its card; True for a card, which is then denied."""
    cards = len(bot.channel.cards)
    await bot.channel.say(text, chat_id=chat_id, sender_id=sender_id)
    await eventually(
        lambda: len(bot.channel.cards) > cards or bot.parts.queues.total() == (0, 0), "a card or the end"
    )
    if len(bot.channel.cards) == cards:
        return False
    await bot.channel.press("Deny", sender_id=sender_id)
    await eventually(lambda: bot.parts.queues.total() == (0, 0), "the end")
    return True


async def grant(bot: RunningBot, is_open: Is, text: str, label: str, *, chat_id: str = "1") -> None:
    await bot.channel.say(text, chat_id=chat_id)
    await bot.channel.wait_for(is_open)
    assert (await bot.channel.press(label)).ok
    await eventually(lambda: bot.parts.queues.total() == (0, 0), "the end")


async def test_a_grant_belongs_to_whoever_asked_and_another_persons_call_asks_anew(
    tmp_path: Path, two_admins: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, two_admins) as bot:
        await grant(bot, is_open, "/run echo hi", "Always (exact call)")
        assert not await asks(bot, is_open, "/run echo hi", chat_id="55")
        assert await asks(bot, is_open, "/run echo hi", chat_id="2", sender_id="2")
        assert await asks(bot, is_open, "/run echo hi there")


async def test_a_session_grant_holds_in_its_session_alone(
    tmp_path: Path, two_admins: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, two_admins) as bot:
        await grant(bot, is_open, "/run echo hi", "For this session")
        assert not await asks(bot, is_open, "/run echo hi")
        assert await asks(bot, is_open, "/run echo hi", chat_id="55")


async def test_a_session_grant_does_not_outlive_a_session_that_ends_as_it_is_made(
    tmp_path: Path, two_admins: Config, is_open: Is, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_bot(tmp_path, two_admins) as bot:
        record = bot.parts.audit.record
        remembered: list[int] = []

        async def slow(kind: str, **fields: object) -> None:
            if kind == "decision":
                now = datetime.now(UTC)
                remembered.append(len(await bot.store.grants.list("telegram:1", now)))
                await bot.channel.say("/new")
                await bot.channel.wait_for(says("A fresh conversation"))
            await record(kind, **fields)

        await bot.channel.say("/run echo hi")
        await bot.channel.wait_for(is_open)
        with monkeypatch.context() as patch:
            patch.setattr(bot.parts.audit, "record", slow)
            assert (await bot.channel.press("For this session")).ok
        assert remembered == [1], "decided and remembered at once, so that a crash comes not between them"
        assert await asks(bot, is_open, "/run echo hi")


async def test_an_hours_grant_ends_after_an_hour(tmp_path: Path, two_admins: Config, is_open: Is) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, two_admins, channel=channel) as bot:
        await grant(bot, is_open, "/run echo hi", "For 1 hour")
        assert not await asks(bot, is_open, "/run echo hi")

    def in_an_hour() -> datetime:
        return datetime.now(UTC) + timedelta(minutes=61)

    config = two_admins | {"channels.max_backlog_minutes": 600}
    async with running_bot(tmp_path, config, channel=channel, clock=in_an_hour) as bot:
        assert await asks(bot, is_open, "/run echo hi")


async def test_a_grant_for_a_script_ends_when_the_script_changes(
    tmp_path: Path, two_admins: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, two_admins) as bot:
        script = bot.workspace / "job.sh"
        script.write_text("echo one\n")
        await grant(bot, is_open, "/run bash ./job.sh", "Always (exact call)")
        assert not await asks(bot, is_open, "/run bash ./job.sh")
        script.write_text("echo two\n")
        assert await asks(bot, is_open, "/run bash ./job.sh")


async def test_a_dangerous_call_is_offered_once_or_not_at_all(
    tmp_path: Path, two_admins: Config, is_open: Is, says: Says
) -> None:
    tool = tmp_path / "own.py"
    tool.write_text(
        "from echo_agent.tools import Tool, ToolResult\n"
        "class Nuke(Tool):\n"
        "    name = 'nuke'\n    risk_level = 'dangerous'\n    parameters = {'type': 'object'}\n"
        "    async def execute(self, params, ctx=None):\n"
        "        return ToolResult(True, output='done ' + ctx.approval_source)\n"
    )
    config = two_admins | {
        "tools.paths": [str(tool)],
        "permissions.approval.auto_approve": ["nuke"],
        "permissions.approval.trusted_channels": ["telegram"],
        "permissions.approval.mode": "off",
    }
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/tool nuke")
        card = await bot.channel.wait_for(is_open)
        assert [button.label for button in card.buttons] == ["Approve once", "Deny", "Deny with reason"]
        assert card.card is not None
        await bot.channel.say(f"/approve {card.card.short_id} always")
        await bot.channel.wait_for(says("is not offered"))
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("done human"))
        assert not await bot.store.grants.list(None, datetime.now(UTC))
