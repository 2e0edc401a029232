"""A changed call that nobody decided in time: asked for again as it was changed, by whoever changed it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from echo_bot.channel import inbound_event
from echo_bot.events import BlockType, CardState, ContentBlock, EditedCall
from echo_bot.inbox.incoming import without_trust
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.clock import MovedClock
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

EDITED = "echo 'was changed' >> log"


Expired = Callable[..., AbstractAsyncContextManager[tuple[RunningBot, FakeMessage]]]


@pytest.fixture
def expired(
    tmp_path: Path, clock: MovedClock, expire: Callable[[RunningBot], Awaitable[None]]
) -> Callable[..., AbstractAsyncContextManager[tuple[RunningBot, FakeMessage]]]:
    """A bot with the expired card of a call that was changed."""

    @asynccontextmanager
    async def run(
        config: Config, model: ScriptedModel | None = None
    ) -> AsyncIterator[tuple[RunningBot, FakeMessage]]:
        given = model.model if model else None
        async with running_bot(tmp_path, config, model=given, clock=clock) as bot:
            await bot.channel.say("go" if model else "/run echo first >> log")
            await bot.channel.wait_for_button("Edit")
            edited = await bot.channel.press("Edit", sender_id="7", sender_name="Ada", text=EDITED)
            assert edited.ok, edited.text
            await bot.channel.wait_for(is_again, "the card of the changed call")
            await expire(bot)
            yield (
                bot,
                await bot.channel.wait_for(
                    lambda m: (
                        m.card is not None and m.card.state is CardState.EXPIRED and "was changed" in m.body
                    )
                ),
            )

    return run


def is_again(message: FakeMessage) -> bool:
    return (
        message.card is not None
        and message.card.state is CardState.OPEN
        and "Edited by: Ada (telegram:7)" in message.body
    )


@pytest.fixture
def config(local: Config) -> Config:
    return local | {"permissions.approval.approvers": ["telegram:1", "telegram:7", "telegram:8"]}


async def test_a_direct_call_is_asked_for_as_it_was_changed(
    expired: Expired, config: Config, says: Says
) -> None:
    async with expired(config) as (bot, card):
        assert (await bot.channel.press("Ask again", message=card)).ok
        again = await bot.channel.wait_for(is_again)
        assert "was changed" in again.body
        await bot.channel.press("Approve once", message=again)
        await bot.channel.wait_for(says("no output"))
        assert (bot.workspace / "log").read_text() == "was changed\n"


async def test_the_model_is_told_the_changed_call(expired: Expired, config: Config) -> None:
    model = ScriptedModel(
        [
            CallTool("exec", {"command": "echo first >> log"}),
            Say("It was not decided."),
            CallTool("exec", {"command": EDITED}),
            Say("Done."),
        ]
    )
    async with expired(config, model) as (bot, card):
        assert (await bot.channel.press("Ask again", message=card)).ok
        again = await bot.channel.wait_for(is_again)
        assert "was changed" in again.body
        assert "as a person changed it" in str(model.seen[-1])


async def test_whoever_changed_it_may_not_approve_it_when_it_is_asked_for_again(
    expired: Expired, config: Config
) -> None:
    four_eyes = config | {"permissions.approval.requester_may_approve": {"exec": False}}
    async with expired(four_eyes) as (bot, card):
        assert (await bot.channel.press("Ask again", message=card)).ok
        again = await bot.channel.wait_for(is_again)
        refused = await bot.channel.press("Approve once", message=again, sender_id="7")
        assert (refused.ok, "You changed this call" in refused.text) == (False, True)


def test_no_channel_can_say_who_wrote_a_call() -> None:
    event = inbound_event(
        event_id="1",
        channel="telegram",
        chat_id="1",
        sender_id="1",
        timestamp=datetime.now(UTC),
        content=(ContentBlock(BlockType.TEXT, text="hi"),),
    )
    assert without_trust(replace(event, asks_again=EditedCall("exec", "{}", "telegram:9"))) == event
