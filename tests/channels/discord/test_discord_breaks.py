"""Whole paths over restarts, crashes and broken lines: nothing is lost, and nothing happens twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from echo_bot.storage.approvals import SqlApprovals
from echo_bot.testing.discord import Conversation, DiscordEmulator, Person, Shown
from echo_bot.testing.waiting import eventually

Opening = Callable[..., AbstractAsyncContextManager[Any]]
Decided = Callable[[Conversation], Callable[[], Shown | None]]


async def test_a_restart_leaves_buttons_and_modals_working(
    opened: Opening, chat: Conversation, decided: Decided
) -> None:
    async with opened() as scene:
        chat.say("/run echo once >> log")
        await chat.wait_for_button("Approve once")
        await eventually(lambda: scene.bot.parts.queues.total() == (1, 0), "the turn to wait")
    async with opened() as scene:
        opening = chat.press("Edit")
        await opening.modal()
        assert "echo once" in opening.input["value"]
        await chat.press("Approve once").answer()
        await eventually((scene.bot.workspace / "log").exists, "the call")
        await eventually(decided(chat), "the closed card")
        assert (scene.bot.workspace / "log").read_text() == "once\n"


async def test_a_card_that_was_sent_before_a_crash_stands_there_once(
    opened: Opening,
    discord: DiscordEmulator,
    chat: Conversation,
    monkeypatch: pytest.MonkeyPatch,
    decided: Decided,
) -> None:
    async def crash(*_: object) -> None:
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(SqlApprovals, "place_copy", crash)
        async with opened():
            chat.say("/run touch made")
            card = await chat.wait_for_button("Approve once")
    async with opened() as scene:
        await eventually(lambda: len(discord.called("POST", "/channels/*/messages")) == 2, "the second try")
        await chat.press("Approve once").answer()
        await eventually((scene.bot.workspace / "made").exists, "the call")
        closed = await eventually(decided(chat), "the closed card")
        assert closed.id == card.id
        assert sum("touch made" in one.text and "Run a command?" in one.text for one in chat.from_bot) == 1


async def test_a_card_whose_answer_was_lost_stands_there_once(
    opened: Opening, discord: DiscordEmulator, chat: Conversation, decided: Decided
) -> None:
    async with opened():
        discord.drop("POST", "/channels/*/messages", after=True)
        chat.say("/run touch made")
        card = await chat.wait_for_button("Approve once")
        await eventually(lambda: len(discord.called("POST", "/channels/*/messages")) == 2, "the second try")
        await chat.press("Approve once").answer()
        closed = await eventually(decided(chat), "the closed card")
        assert closed.id == card.id
        assert sum("Run a command?" in one.text for one in chat.from_bot) == 1


async def test_a_killed_line_loses_nothing_while_a_card_is_open(
    opened: Opening, discord: DiscordEmulator, chat: Conversation, decided: Decided
) -> None:
    async with opened() as scene:
        chat.say("/run touch made")
        await chat.wait_for_button("Approve once")
        discord.cut()
        chat.press("Approve once")
        chat.say("/whoami")
        await eventually((scene.bot.workspace / "made").exists, "the call")
        await chat.wait_for_text("discord:")
        await eventually(decided(chat), "the closed card")


async def test_what_was_said_in_a_channel_while_the_bot_was_off_is_heard_once(
    opened: Opening, discord: DiscordEmulator, ada: Person
) -> None:
    room = ada.chat(discord.guild().channel("general"))
    async with opened():
        room.mention("/whoami")
        await room.wait_for_text(ada.id)
    room.mention("/status")
    room.say("just talking")
    async with opened():
        await eventually(lambda: len(room.from_bot) == 2, "the late answer")
    async with opened():
        room.mention("/whoami")
        await eventually(lambda: len(room.from_bot) == 3, "an answer after another restart")
    assert ada.id in room.from_bot[-1].text


async def test_a_direct_message_written_while_the_bot_was_off_is_answered_once(
    opened: Opening, chat: Conversation
) -> None:
    async with opened():
        chat.say("/whoami")
        await chat.wait_for_text("You are")
    chat.say("/tool todo action=list")
    async with opened():
        await chat.wait_for_text("The list is empty")
    async with opened():
        chat.say("/status")
        await chat.wait_for_text("Echo Bot")
    assert sum("The list is empty" in one.text for one in chat.from_bot) == 1
