"""One connection's life: open, receive, close, and what happens to each update."""

from __future__ import annotations

import asyncio

import structlog
from telegram import Update
from telegram.error import TelegramError

from channels.telegram.client import TelegramBot
from channels.telegram.errands import Errands
from channels.telegram.inbound import event_of
from channels.telegram.mentions import Self
from channels.telegram.menu import publish_commands
from channels.telegram.polling import Poller, Rhythm
from channels.telegram.presses import Presses
from echo_bot.channel import ChannelHealth, ChannelState, Port

log = structlog.get_logger(__name__)

_ERRANDS_PATIENCE_SECONDS = 0.4
_SHUTDOWN_SECONDS = 0.7


class Link:
    """A bot that polls from `open` to `close`."""

    def __init__(self, bot: TelegramBot, port: Port, account: str, rhythm: Rhythm) -> None:
        self.bot = bot
        self._port, self._account = port, account
        self._errands = Errands()
        self.presses = Presses(bot, port, account, self._errands)
        self._poller = Poller(bot, self._take, self._greeted, account, rhythm)
        self._polling: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect and poll. Returns also if the first try fails; raises ChannelFatal for a refused token."""
        await self._poller.connect()
        self._polling = asyncio.create_task(self._poller.run(), name=f"telegram:{self._account}:polling")

    async def close(self) -> None:
        """End every task and connection, within three seconds also when Telegram hangs."""
        if self._polling is not None:
            await self._poller.finish_storing()
            self._polling.cancel()
            await asyncio.wait({self._polling})
        await self._errands.close(_ERRANDS_PATIENCE_SECONDS)
        await self._poller.last_word()
        try:
            async with asyncio.timeout(_SHUTDOWN_SECONDS):
                await self.bot.shutdown()
        except (TelegramError, TimeoutError):
            log.info("telegram_not_shut_down_cleanly", account=self._account)

    def health(self) -> ChannelHealth:
        if self._polling is not None and self._polling.done():
            return ChannelHealth(ChannelState.FAILED, error="Receiving has ended unexpectedly")
        return self._poller.health

    def _greeted(self) -> None:
        self._errands.run(publish_commands(self.bot, self._port.commands()), "telegram:commands")

    async def _take(self, update: Update) -> None:
        """Store what an update says, by way of the port. Returns once that is done."""
        if update.callback_query is not None:
            await self.presses.take(update.callback_query)
            return
        if update.message is not None and await self.presses.take_words(update.message):
            return
        commands = frozenset(command.name for command in self._port.commands())
        event = event_of(update, Self(self.bot.id, self.bot.username, commands), self._account)
        if event is not None:
            await self._port.receive(event)
