"""A reply that grows while the model writes: a draft edited at the channel's pace, then the stored text."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

import structlog

from echo_bot.channel import Channel
from echo_bot.delivery.outbox import Delivery
from echo_bot.delivery.receipt import Receipt
from echo_bot.errors import (
    ChannelError,
    ChannelFatal,
    FormatRejected,
    OutcomeUnknown,
    RetryAfter,
    StorageError,
    TargetGone,
)
from echo_bot.events import Address, MessageRef, OutboundText
from echo_bot.text import is_blank, measure

log = structlog.get_logger(__name__)

_UNFINISHED = re.compile(r"[A-Za-z0-9_.+/=~:@%-]*\Z")
"""A word that may go on: half a secret is not recognised as one, so it is not shown yet."""

_CURSOR = " …"
_LAST_DRAW_SECONDS = 10.0
_FIND_PAUSES_SECONDS = (0.0, 0.5, 2.0)


class ReplyStream:
    """One reply. `add` never blocks the model: previews may be dropped, the final text never.

    `interval_seconds` is the least time between two edits in the chat; 0 shows no previews. `draft` is the
    message of an earlier run that goes on to grow; `on_draft` is told where a new one stands. `key` names
    the draft: where the platform drops doubles, one whose sending was never answered is found again by it.
    """

    def __init__(
        self,
        delivery: Delivery,
        address: Address,
        *,
        reply_to_id: str,
        interval_seconds: float,
        mask: Callable[[str], str],
        draft: str = "",
        key: str = "",
        on_draft: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        self._delivery, self._address = delivery, delivery.now(address)
        self._reply_to_id, self._interval, self._mask = reply_to_id, interval_seconds, mask
        self._ref = MessageRef(self._address, draft) if draft else None
        self._on_draft, self._key = on_draft, key
        self._may_stand = False
        self._text = ""
        self._shown = ""
        self._pump: asyncio.Task[None] | None = None
        self._ended = asyncio.Event()

    def add(self, text: str) -> None:
        """The reply grew by this; it is shown when the channel can edit and its pace allows."""
        self._text += text
        channel = self._delivery.channel(self._address)
        if channel is None or not channel.capabilities.edits or not self._interval or is_blank(self._text):
            return
        if self._pump is None:
            self._pump = asyncio.create_task(self._show(channel), name="reply stream")

    def restart(self) -> None:
        """What was added is void: the reply grows anew, in the place of what is shown of it."""
        self._text = ""

    async def finish(self, text: str, *, source: str, is_own: bool = False) -> Receipt:
        """Store and send the whole reply under `source`; it takes the draft's place."""
        await self._end()
        return await self._delivery.send(
            self._address,
            text,
            source=source,
            is_own=is_own,
            reply_to_id=self._reply_to_id,
            replaces=self._ref.message_id if self._ref else "",
        )

    async def abandon(self, why: str, *, source: str) -> None:
        """End without a final text: a draft that stands loses its sign of going on, and says `why`."""
        await self._end()
        if self._ref is None:
            return
        whole = self._mask(_UNFINISHED.sub("", self._text)).strip()
        await self._delivery.send(
            self._address,
            f"{whole}\n\n({why})" if whole else f"({why})",
            source=source,
            markdown=False,
            replaces=self._ref.message_id,
        )

    async def drop(self) -> None:
        """End the previews without a final text. A draft that is just being sent is waited for."""
        self._ended.set()
        if self._pump is not None:
            await asyncio.wait({self._pump}, timeout=_LAST_DRAW_SECONDS)
            self._pump.cancel()
            await asyncio.wait({self._pump})
            self._pump = None

    async def _end(self) -> None:
        """End the previews, and find a draft that may stand although its sending failed."""
        await self.drop()
        channel = self._delivery.channel(self._address)
        if self._may_stand and self._ref is None and channel is not None and self._is_found_by_key(channel):
            await self._find(channel)

    async def _find(self, channel: Channel) -> None:
        """Sent once more under its key the draft says where it stands, whatever is in it this time.

        The answer does not wait for long: where it would, the draft is let be.
        """
        sign = OutboundText(
            _CURSOR.strip(),
            markdown=False,
            reply_to_id=self._reply_to_id,
            dedup_key=self._key,
            is_draft=True,
        )
        for pause in _FIND_PAUSES_SECONDS:
            held = self._delivery.pace.held(self._address)
            if held > _LAST_DRAW_SECONDS:
                return
            await asyncio.sleep(max(pause, held))
            try:
                async with asyncio.timeout(_LAST_DRAW_SECONDS):
                    self._ref = await channel.send_text(self._address, sign)
                    return
            except RetryAfter as error:
                self._delivery.pace.hold(self._address, error.seconds)
            except (TargetGone, ChannelFatal):
                return
            except (ChannelError, TimeoutError) as error:
                log.debug("draft_not_found", address=str(self._address), error=str(error))

    def _is_found_by_key(self, channel: Channel) -> bool:
        return bool(self._key) and channel.capabilities.dedups_sends

    async def _show(self, channel: Channel) -> None:
        while not self._ended.is_set():
            pause = self._interval
            if self._text != self._shown:
                left = self._delivery.pace.take(self._address, self._interval)
                pause = left or await self._try_draw(channel)
            try:
                await asyncio.wait_for(self._ended.wait(), pause)
            except TimeoutError:
                continue

    async def _try_draw(self, channel: Channel) -> float:
        """Returns the seconds until the next time."""
        try:
            await self._draw(channel)
        except RetryAfter as error:
            self._delivery.pace.hold(self._address, error.seconds)
            return max(self._interval, error.seconds)
        except (ChannelError, StorageError) as error:
            log.debug("preview_dropped", address=str(self._address), error=str(error))
            if isinstance(error, TargetGone | ChannelFatal):
                self._ended.set()
            is_lost = isinstance(error, OutcomeUnknown) and self._ref is None
            if is_lost and not self._is_found_by_key(channel):
                # A draft may stand there and nobody knows where: another one would stand beside it.
                self._ended.set()
        return self._interval

    async def _draw(self, channel: Channel) -> None:
        text = self._text
        whole_words = _UNFINISHED.sub("", text)
        if is_blank(whole_words):
            return
        shown = self._mask(whole_words).rstrip() + _CURSOR
        if measure(shown, channel.capabilities.length_unit) > channel.capabilities.max_length:
            return
        message = OutboundText(shown, markdown=False, reply_to_id=self._reply_to_id, is_draft=True)
        if self._ref is None:
            if await self._delivery.has_unsent(self._address):
                return  # it would stand before what still waits to be sent
            stands, self._may_stand = self._may_stand, True
            try:
                self._ref = await channel.send_text(self._address, replace(message, dedup_key=self._key))
            except (RetryAfter, TargetGone, FormatRejected, ChannelFatal):
                self._may_stand = stands
                raise
            if stands:
                text = ""  # as it was sent at first
            if self._on_draft is not None:
                await self._on_draft(self._ref.message_id)
        else:
            await channel.edit_text(self._ref, message)
        self._shown = text
