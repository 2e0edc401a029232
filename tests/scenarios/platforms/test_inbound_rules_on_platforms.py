"""The rules for what comes in, on each platform: emulator, real SDK, adapter and the whole core."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from echo_bot.channel import Channel, ChannelSettings, ChannelState
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.discord import DiscordEmulator
from echo_bot.testing.scripted_model import echo_model
from echo_bot.testing.slack import SlackEmulator
from echo_bot.testing.telegram import TelegramEmulator, media
from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually

Chat = Any
"""A direct chat on some platform: `say`, `edit`, `press`, `from_bot`, `wait_for_text`, `wait_for_button`."""


@dataclass
class Stage:
    """One platform with Ada, who may do everything, Bob, who may talk, and Mallory, whom nobody knows."""

    platform: str
    settings: ChannelSettings
    ada: Chat
    bob: Chat
    mallory: Chat
    ids: tuple[str, str]
    upload: Callable[[Chat], object]
    two_hours_ago: Callable[[Chat, str], object]
    signs: Callable[[], list[object]]
    """Typing signs and downloads so far."""

    @property
    def config(self) -> dict[str, object]:
        return {
            "tools.exec.host": "local",
            f"channels.{self.platform}.allow_from": list(self.ids),
            f"channels.{self.platform}.api_base": self.settings.api_base,
            "permissions.admin_users": [f"{self.platform}:{self.ids[0]}"],
        }


@asynccontextmanager
async def on_telegram() -> AsyncIterator[Stage]:
    async with TelegramEmulator() as emulator:
        ada, bob, mallory = (emulator.user(number).chat() for number in (42, 43, 66))

        def two_hours_ago(chat: Chat, text: str) -> None:
            chat.say(text, extra={"date": int(time.time()) - 7200})

        yield Stage(
            "telegram",
            ChannelSettings("", api_base=emulator.url, secrets={"token": emulator.token}),
            ada,
            bob,
            mallory,
            ("42", "43"),
            lambda chat: chat.send(media.document("a.txt", b"words")),
            two_hours_ago,
            lambda: [*emulator.world.typed, *emulator.called("getFile")],
        )


@asynccontextmanager
async def on_discord() -> AsyncIterator[Stage]:
    async with DiscordEmulator(first_answer_seconds=PATIENCE_SECONDS) as emulator:
        people = [emulator.user(name) for name in ("Ada", "Bob", "Mallory")]
        ada, bob, mallory = (person.dm() for person in people)

        def two_hours_ago(chat: Chat, text: str) -> None:
            emulator.cut()
            emulator.skew(-7200)
            chat.say(text)
            emulator.skew(7200)

        options = {"gateway_url": emulator.gateway_url}
        yield Stage(
            "discord",
            ChannelSettings(
                "", api_base=emulator.api_base, options=options, secrets={"token": emulator.token}
            ),
            ada,
            bob,
            mallory,
            (people[0].id, people[1].id),
            lambda chat: chat.say("", files=[("a.txt", b"words")]),
            two_hours_ago,
            lambda: [*emulator.world.typing, *emulator.called("GET", "/channels/*/messages/*")],
        )


@asynccontextmanager
async def on_slack() -> AsyncIterator[Stage]:
    async with SlackEmulator() as emulator:
        names = {"U1": "Ada", "U2": "Bob", "U6": "Mallory"}
        ada, bob, mallory = (emulator.user(user, name).dm() for user, name in names.items())

        def two_hours_ago(chat: Chat, text: str) -> None:
            clock = emulator.world.clock
            emulator.world.clock = lambda: clock() - 7200
            chat.say(text)
            emulator.world.clock = clock

        secrets = {"bot_token": emulator.bot_token, "app_token": emulator.app_token}
        yield Stage(
            "slack",
            ChannelSettings("", emulator.url, options={"mode": "socket"}, secrets=secrets),
            ada,
            bob,
            mallory,
            ("U1", "U2"),
            lambda chat: chat.upload("a.txt", b"words"),
            two_hours_ago,
            lambda: [*emulator.world.statuses, *emulator.called("files.info")],
        )


STAGES = {"telegram": on_telegram, "discord": on_discord, "slack": on_slack}


@pytest.fixture(params=STAGES)
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    async with STAGES[request.param]() as standing:
        yield standing


Open = Callable[..., AbstractAsyncContextManager[RunningBot]]


@pytest.fixture
def opened(tmp_path: Path, stage: Stage, channel_of: Callable[[str, ChannelSettings], Channel]) -> Open:
    @asynccontextmanager
    async def open_bot(config: dict[str, object] | None = None, **more: Any) -> AsyncIterator[RunningBot]:
        channel = channel_of(stage.platform, stage.settings)
        async with running_bot(tmp_path, stage.config | (config or {}), channels=[channel], **more) as bot:
            await eventually(lambda: channel.health().state is ChannelState.CONNECTED, "a connection")
            yield bot

    return open_bot


def words(message: Any) -> str:
    """What a person reads: Slack's blocks, or the text."""
    return str(getattr(message, "words", "") or message.text)


def saying(chat: Chat, part: str) -> list[str]:
    return [words(message) for message in chat.from_bot if part in words(message)]


async def test_a_stranger_gets_nothing_no_typing_sign_no_download_and_no_answer(
    stage: Stage, opened: Open
) -> None:
    async with opened(model=echo_model()):
        stage.mallory.say("hello")
        stage.mallory.say("/whoami")
        stage.upload(stage.mallory)
        stage.ada.say("/whoami")
        await stage.ada.wait_for_text("You are")
        assert (stage.mallory.from_bot, stage.signs()) == ([], [])


async def test_a_session_keeps_its_order_while_others_go_on_and_decisions_do_not_wait(
    stage: Stage, opened: Open
) -> None:
    async with opened():
        stage.ada.say("/run touch made")
        card = await stage.ada.wait_for_button("Approve once")
        for number in range(3):
            stage.ada.say(f"/tool todo action=add items='[\"task {number}\"]'")
        stage.bob.say("/tool todo action=list")
        await stage.bob.wait_for_text("The list is empty")
        stage.ada.say("/status")
        await stage.ada.wait_for_text("Open approvals: 1")
        assert saying(stage.ada, "task 0") == []
        found = re.search(r"Id:\W*(\w{6})", words(card))
        assert found is not None, words(card)
        stage.ada.say(f"/deny {found[1]}")
        await stage.ada.wait_for_text("Denied")
        await stage.ada.wait_for_text("3. task 2")
        [last] = saying(stage.ada, "3. task 2")
        assert [last.index(f"task {number}") for number in range(3)] == sorted(
            last.index(f"task {number}") for number in range(3)
        )


async def test_stop_ends_the_turn_that_runs_and_those_behind_it(stage: Stage, opened: Open) -> None:
    async with opened() as bot:
        stage.ada.say("/run touch made")
        await stage.ada.wait_for_button("Approve once")
        stage.ada.say("/tool todo action=list")
        stage.ada.say("/stop")
        await stage.ada.wait_for_text("Stopped 1 turn and 1 message that waited.")
        assert (saying(stage.ada, "list is empty"), (bot.workspace / "made").exists()) == ([], False)


async def test_an_edit_replaces_what_still_waits_and_never_runs_or_decides_anything(
    stage: Stage, opened: Open
) -> None:
    async with opened(model=echo_model()) as bot:
        first = stage.ada.say("/run touch made")
        card = await stage.ada.wait_for_button("Deny")
        second = stage.ada.say("secnod")
        await stage.ada.wait_for_text("A decision is open")
        found = re.search(r"Id:\W*(\w{6})", words(card))
        assert found is not None, words(card)
        stage.ada.edit(first, f"/approve {found[1]}")
        stage.ada.edit(second, "second")
        stage.ada.say("/status")
        await stage.ada.wait_for_text("Open approvals: 1")
        stage.ada.press("Deny")
        await eventually(lambda: saying(stage.ada, "second"), "the edited message")
        assert (saying(stage.ada, "secnod"), (bot.workspace / "made").exists()) == ([], False)


async def test_an_attachment_without_words_is_a_message(stage: Stage, opened: Open) -> None:
    async with opened() as bot:
        stage.upload(stage.ada)
        await stage.ada.wait_for_text("Received")
        [received] = (bot.workspace / "incoming").rglob("a.txt")
        assert received.read_bytes() == b"words"


async def test_over_the_rate_there_is_one_notice_and_status_still_works(stage: Stage, opened: Open) -> None:
    async with opened({"rate_limit.per_minute": 1, "rate_limit.burst": 2}):
        for _ in range(6):
            stage.ada.say("/whoami")
        stage.ada.say("/status")
        await stage.ada.wait_for_text("Open approvals")
        await eventually(lambda: len(saying(stage.ada, "You are")) == 2, "the first two")
        assert len(saying(stage.ada, "Too many messages")) == 1


async def test_what_is_older_than_the_backlog_is_not_run_and_its_sender_is_told_once(
    stage: Stage, opened: Open
) -> None:
    async with opened():
        stage.two_hours_ago(stage.ada, "/tool todo action=list")
        stage.two_hours_ago(stage.ada, "/whoami")
        stage.ada.say("/status")
        await stage.ada.wait_for_text("Open approvals")
        assert len(saying(stage.ada, "too old to act on")) == 1
        assert (saying(stage.ada, "list is empty"), saying(stage.ada, "You are")) == ([], [])
