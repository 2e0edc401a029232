"""One connection's life: open, receive, close, and what happens to each update."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

import structlog
from telegram import Message, Update
from telegram.error import TelegramError

from channels.telegram.client import TelegramBot
from channels.telegram.inbound import event_of, is_edit, message_of, move_of
from channels.telegram.intake import Intake, album_of
from channels.telegram.mentions import Self
from channels.telegram.menu import publish_commands
from channels.telegram.moves import Moves
from channels.telegram.polling import Poller
from channels.telegram.presses import Presses
from channels.telegram.reactions import deserves_a_sign, show_seen
from channels.telegram.standing import Rhythm, Standing
from channels.telegram.strays import Strays
from channels.telegram.webhook import Webhook, WebhookReceiver
from echo_bot.channel import ChannelHealth, ChannelState, Port
from echo_bot.channel.clock import PlatformClock
from echo_bot.channel.errands import Errands
from echo_bot.events import InboundEvent

log = structlog.get_logger(__name__)

_ERRANDS_PATIENCE_SECONDS = 0.4
_SHUTDOWN_SECONDS = 0.7
_ALBUMS_REMEMBERED = 200


class Receiver(Protocol):
    """How updates come: `connect` once, then `run` for ever; `last_word` when all are stored at the end."""

    async def connect(self) -> None: ...

    async def run(self) -> None: ...

    async def last_word(self) -> None: ...


class Link:
    """A bot that receives from `open` to `close`, by the webhook if there is one, else by polling."""

    def __init__(
        self,
        bot: TelegramBot,
        port: Port,
        account: str,
        rhythm: Rhythm,
        webhook: Webhook | None,
        clock: PlatformClock,
    ) -> None:
        self.bot = bot
        self._clock = clock
        self.moves = Moves(port, account)
        self._port, self._account, self._rhythm = port, account, rhythm
        self._errands = Errands()
        self.strays = Strays(bot, account, self._errands)
        self._presses = Presses(bot, port, account, self._errands, self.strays)
        self._albums: OrderedDict[str, tuple[Message, ...]] = OrderedDict()
        quiet = rhythm.album_quiet if webhook is None else rhythm.album_quiet_webhook
        self._intake = Intake(self._take, account, quiet)
        self._standing = Standing(account, rhythm)
        self.hook: WebhookReceiver | None = None
        self._receiver: Receiver
        if webhook is None:
            self._receiver = Poller(bot, self._intake, self._greeted, self._standing, rhythm)
        else:
            self.hook = WebhookReceiver(bot, self._intake, webhook, self._greeted, self._standing, rhythm)
            self._receiver = self.hook
        self._receiving: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect and receive, also after a first try that fails. Raises ChannelFatal for a refused token."""
        await self._receiver.connect()
        name = f"telegram:{self._account}:receiving"
        self._receiving = asyncio.create_task(self._receiver.run(), name=name)

    async def close(self) -> None:
        """End every task and connection, within three seconds also when Telegram hangs."""
        if self._receiving is not None:
            self._receiving.cancel()
            await asyncio.wait({self._receiving})
        await self._intake.drain(self._rhythm.last_word)
        await self._errands.close(_ERRANDS_PATIENCE_SECONDS)
        await self._receiver.last_word()
        try:
            async with asyncio.timeout(_SHUTDOWN_SECONDS):
                await self.bot.shutdown()
        except (TelegramError, TimeoutError):
            log.info("telegram_not_shut_down_cleanly", account=self._account)

    def health(self) -> ChannelHealth:
        if self._receiving is not None and self._receiving.done():
            return ChannelHealth(ChannelState.FAILED, error="Receiving has ended unexpectedly")
        return self._standing.health

    def _greeted(self) -> None:
        self._errands.run(publish_commands(self.bot, self._port.commands()), "telegram:commands")

    async def _take(self, updates: tuple[Update, ...]) -> None:
        """Store what an update, or an album, says, by way of the port. Returns once that is done."""
        for update in updates:
            if (said := message_of(update)) is not None:
                self.strays.heard(said.chat.id, said.message_id)
        query, message = updates[0].callback_query, updates[0].message
        if query is not None:
            await self._presses.take(query)
        elif message is not None and (move := move_of(message, self._account)) is not None:
            await self.moves.note(*move)
        elif message is None or not await self._presses.take_words(message):
            await self._receive(updates)
        self._standing.heard()

    async def _receive(self, updates: tuple[Update, ...]) -> None:
        self._remember(updates)
        event = self._event(updates, self._unchanged(updates[0]))
        if event is None:
            return
        if await self._port.receive(event):
            if deserves_a_sign(event):
                self._errands.run(show_seen(self.bot, event), "telegram:reaction")
        elif len(updates) > 1:
            # Perhaps some parts of the album were stored before a crash, and one that came late was not.
            for update in updates:
                if (part := self._event((update,), ())) is not None:
                    await self._port.receive(part)

    def _event(self, updates: tuple[Update, ...], unchanged: Sequence[Message]) -> InboundEvent | None:
        commands = frozenset(command.name for command in self._port.commands())
        me = Self(self.bot.id, self.bot.username, commands)
        return event_of(updates, me, self._account, unchanged, self._clock.ahead)

    def _unchanged(self, update: Update) -> tuple[Message, ...]:
        """The other parts of an album of which one was edited, as long as they are remembered."""
        message = message_of(update)
        if message is None or not message.media_group_id or not is_edit(update):
            return ()
        parts = self._albums.get(f"{message.chat.id}:{message.media_group_id}", ())
        return tuple(part for part in parts if part.message_id != message.message_id)

    def _remember(self, updates: Sequence[Update]) -> None:
        album = album_of(updates[0])
        if album:
            parts = [part for update in updates if (part := message_of(update)) is not None]
            known = {part.message_id: part for part in (*self._albums.get(album, ()), *parts)}
            self._albums[album] = tuple(known.values())
            while len(self._albums) > _ALBUMS_REMEMBERED:
                self._albums.popitem(last=False)
