"""A message that shows how something goes on: edited at the chat's pace, its last text stored and sure.

Its first and its last text go through the outbox, so that it is one message, also over a restart; what is
shown in between may be late or left out. Where a channel cannot edit, the two are messages of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

import structlog

from echo_bot.delivery.outbox import Delivery
from echo_bot.errors import ChannelError, RetryAfter, StorageError
from echo_bot.events import InboundEvent, MessageRef, OutboundText, TurnId
from echo_bot.storage.protocol import Outbox

log = structlog.get_logger(__name__)

_BETWEEN_SECONDS = 2.0
_FIRST_SECONDS = 10.0
_LAST_DRAW_SECONDS = 5.0


class LiveMessage:
    """The one message of a turn. `begin` of a turn that goes on after a restart finds the message again.

    `event` began the turn: the message goes where it is answered.
    """

    def __init__(
        self,
        delivery: Delivery,
        outbox: Outbox,
        turn_id: TurnId,
        event: InboundEvent,
        mask: Callable[[str], str],
    ) -> None:
        self._delivery, self._outbox, self._mask = delivery, outbox, mask
        self._turn_id, self._address = turn_id, delivery.now(event.answered_at)
        self._reply_to_id = event.message_id if event.deliver_to is None else ""
        self._text = self._shown = ""
        self._changed, self._ended = asyncio.Event(), asyncio.Event()
        self._pump: asyncio.Task[None] | None = None

    @property
    def most_chars(self) -> int:
        """What one message holds, as far as that is known."""
        channel = self._delivery.channel(self._address)
        return (channel.capabilities.max_length if channel is not None else 2000) * 9 // 10

    def show(self, text: str) -> None:
        """This is how it stands now. Never waits."""
        self._text = text
        self._changed.set()
        if self._pump is None:
            self._pump = asyncio.create_task(self._keep_showing(), name="live message")

    async def finish(self, text: str) -> None:
        """The last text; it takes the place of what stands there."""
        await self.drop()
        await self._delivery.send(
            self._address,
            text,
            source=f"{self._turn_id}:end",
            markdown=False,
            reply_to_id=self._reply_to_id,
            replaces=await self._standing() if self._can_edit() else "",
        )

    async def drop(self, patience_seconds: float = _LAST_DRAW_SECONDS) -> None:
        """Show nothing more. What is being shown at this moment is waited for."""
        self._ended.set()
        if self._pump is not None:
            await asyncio.wait({self._pump}, timeout=patience_seconds)
            self._pump.cancel()
            await asyncio.wait({self._pump})
            self._pump = None

    async def _keep_showing(self) -> None:
        try:
            await self._begin()
            while self._can_edit() and await self._next_change():
                await self._pause(await self._draw())
        except StorageError as error:
            log.warning("live_message_dropped", turn=self._turn_id, error=str(error))

    async def _begin(self) -> None:
        self._shown = self._text
        self._delivery.pace.take(self._address, _BETWEEN_SECONDS)
        await self._delivery.send(
            self._address,
            self._shown,
            source=f"{self._turn_id}:live",
            markdown=False,
            reply_to_id=self._reply_to_id,
            wait_seconds=_FIRST_SECONDS if self._can_edit() else 0,
        )

    async def _next_change(self) -> bool:
        """False once it has ended."""
        while not self._ended.is_set() and self._text == self._shown:
            self._changed.clear()
            waits = {asyncio.ensure_future(each.wait()) for each in (self._changed, self._ended)}
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waits:
                    each.cancel()
        return not self._ended.is_set()

    async def _draw(self) -> float:
        """Returns the seconds until the next time."""
        channel, text = self._delivery.channel(self._address), self._text
        left = self._delivery.pace.take(self._address, _BETWEEN_SECONDS)
        if left or channel is None:
            return left or _BETWEEN_SECONDS
        standing = await self._standing()
        try:
            if standing:
                message = OutboundText(self._mask(text), markdown=False, is_draft=True)
                await channel.edit_text(MessageRef(self._address, standing), message)
            self._shown = text
        except RetryAfter as error:
            self._delivery.pace.hold(self._address, error.seconds)
            return max(error.seconds, _BETWEEN_SECONDS)
        except ChannelError as error:
            self._shown = text
            log.debug("live_edit_dropped", address=str(self._address), error=str(error))
        return _BETWEEN_SECONDS

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)

    async def _standing(self) -> str:
        """The id of the message that stands in the chat, "" while it is not there."""
        rows = await self._outbox.of_turn(self._turn_id)
        return next((row.message_id for row in rows if row.source == f"{self._turn_id}:live"), "")

    def _can_edit(self) -> bool:
        channel = self._delivery.channel(self._address)
        return channel is not None and channel.capabilities.edits and channel.capabilities.redraws
