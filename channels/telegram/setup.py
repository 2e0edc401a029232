"""Help with the set-up: what @BotFather's token is worth, before the channel itself runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from telegram.error import TelegramError

from channels.telegram.client import TelegramBot, open_bot
from channels.telegram.failures import failure_of
from channels.telegram.keyboard import keyboard_of
from channels.telegram.render import render_card
from echo_bot.channel import ChannelSettings, SetupReport, Wanted
from echo_bot.events import Card

_TOKEN = Wanted("token", "Bot token", "Talk to @BotFather on Telegram, send /newbot, and copy the token.")
_WEBHOOK_SECRET = Wanted(
    "webhook_secret",
    "Webhook secret",
    "Make one with `openssl rand -hex 32`: Telegram sends it along with every update.",
)


class TelegramSetup:
    """See `ChannelSetup`."""

    def wanted(self, options: Mapping[str, str]) -> tuple[Wanted, ...]:
        return (_TOKEN, _WEBHOOK_SECRET) if options.get("webhook_url") else (_TOKEN,)

    async def check(self, settings: ChannelSettings) -> SetupReport:
        async with _opened(settings) as bot:
            steps = [f"Open https://t.me/{bot.username} and send it a message."]
            if not bot.bot.can_join_groups:
                steps.append("It cannot be added to groups; @BotFather's /setjoingroups changes that.")
            elif not bot.bot.can_read_all_group_messages:
                steps.append(
                    "In groups it hears only its commands, mentions and replies. With group_policy: open, "
                    "switch @BotFather's /setprivacy off."
                )
        return SetupReport(f"@{bot.username} (id {bot.id})", steps=tuple(steps))

    async def send_card(self, settings: ChannelSettings, to: str, card: Card) -> None:
        shown = render_card(card)
        async with _opened(settings) as bot:
            await bot.send_message(
                to, shown.text, entities=shown.entities or None, reply_markup=keyboard_of(card.buttons)
            )


SETUP = TelegramSetup()


@asynccontextmanager
async def _opened(settings: ChannelSettings) -> AsyncIterator[TelegramBot]:
    """A bot that knows who it is. Raises the port's errors for whatever is asked of it."""
    bot = open_bot(settings)
    try:
        await bot.initialize()
        yield bot
    except TelegramError as error:
        raise failure_of(error, bot.token) from None
    finally:
        await bot.shutdown()
