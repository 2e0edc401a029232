"""A group takes twenty messages a minute: drafts leave room for what must arrive, and never wait."""

from __future__ import annotations

import pytest

from channels.telegram.adapter import TelegramChannel
from channels.telegram.standing import Rhythm, Standing
from echo_bot.errors import ChannelFatal, TemporaryFailure
from echo_bot.events import Address, OutboundText
from echo_bot.testing.telegram import TelegramEmulator

GROUP = Address("telegram", "-1002")
DRAFT = OutboundText("growing …", is_draft=True)


async def test_in_a_busy_group_drafts_are_left_out_and_answers_do_not_wait_for_them(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    telegram.group(-1002, "Busy")
    ref = await channel.send_text(GROUP, DRAFT)
    for number in range(12):
        await channel.send_text(GROUP, OutboundText(f"answer {number}"))
    with pytest.raises(TemporaryFailure):
        await channel.edit_text(ref, DRAFT)
    with pytest.raises(TemporaryFailure):
        await channel.send_text(GROUP, DRAFT)
    await channel.edit_text(ref, OutboundText("the whole answer"))
    assert telegram.called("editMessageText")[-1].text("text") == "the whole answer"


def test_after_a_refused_token_it_asks_soon_and_then_less_often() -> None:
    standing = Standing("", Rhythm())
    refused = ChannelFatal("Telegram does not accept the bot's token", "Get a token")
    pauses = []
    for _ in range(7):
        standing.failed(refused)
        pauses.append(standing.pause)
    assert pauses == [2, 4, 8, 16, 32, 60, 60]
    standing.succeeded(proven=True)
    standing.failed(refused)
    assert standing.pause == 2
