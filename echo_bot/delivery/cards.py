"""Cards: sent whole (in several messages where one is too small), and changed where they stand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TypeVar

import structlog

from echo_bot.channel import Channel
from echo_bot.delivery.book import ChannelBook
from echo_bot.delivery.card_json import transcript_row
from echo_bot.delivery.moved import MovedChats
from echo_bot.delivery.pace import Pace
from echo_bot.errors import (
    ChannelError,
    ChannelFatal,
    FormatRejected,
    OutcomeUnknown,
    RetryAfter,
    TargetGone,
    TemporaryFailure,
)
from echo_bot.events import Address, Card, MessageRef, OutboundText, Paragraph
from echo_bot.storage.protocol import Store
from echo_bot.text import TooLong, card_parts, closed_card, measure, split_plain
from echo_bot.text.language import N_, _

log = structlog.get_logger(__name__)

_TRIES = 5
_DOUBT_PAUSE_SECONDS = 0.5
_REPEATED = N_("Possibly repeated: this card may stand here already. Either one decides the same call, once.")

_TOO_LONG = N_("the call is too long to be shown whole in this chat, so nobody can approve it")

T = TypeVar("T")


class CardDelivery:
    """Sends and edits cards. A card that was not sent was not asked, so errors of sending are raised."""

    def __init__(
        self,
        store: Store,
        book: ChannelBook,
        moved: MovedChats,
        pace: Pace,
        *,
        clock: Callable[[], datetime],
    ) -> None:
        self._store, self._book, self._moved, self._pace = store, book, moved, pace
        self._clock = clock

    async def send(self, address: Address, card: Card, *, in_doubt: bool = False) -> MessageRef:
        """Send the card to one chat. Raises ChannelError when it cannot be delivered, or shown whole.

        `in_doubt`: it may stand there already. Where the platform does not drop doubles the card says so.
        The message's id is "" where it stands there and nobody knows where.
        """
        try:
            return await self._send(address, card, in_doubt=in_doubt)
        except OutcomeUnknown:
            await asyncio.sleep(_DOUBT_PAUSE_SECONDS)
            return await self._send(address, card, in_doubt=True)

    async def _send(self, address: Address, card: Card, *, in_doubt: bool) -> MessageRef:
        address = self._moved.now(address)
        channel = self._book.get(address)
        if channel is None:
            raise TargetGone(f"{address.channel} is not running")
        kept = card
        if in_doubt and not channel.capabilities.dedups_sends:
            card = replace(card, blocks=(Paragraph(_(_REPEATED)), *card.blocks))
        if not channel.capabilities.buttons:
            ref = await self._send_plain(channel, address, card.fallback)
        else:
            parts = card_parts(card, channel.capabilities.max_length, channel.capabilities.length_unit)
            if isinstance(parts, TooLong):
                raise FormatRejected(_TOO_LONG)
            for index, part in enumerate(parts):
                keyed = replace(part, dedup_key=f"{card.card_id}:{address}:{index}")
                may_repeat = in_doubt or channel.capabilities.dedups_sends
                send = partial(channel.send_card, address, keyed)
                ref = await self._patiently(address, send, may_repeat=may_repeat)
        await self._keep(ref.address, kept)
        return ref

    async def edit(self, ref: MessageRef, card: Card) -> bool:
        """Show the card's new state; where it cannot be edited, say it in a new message.

        False: not now, but another time it may go. True also where neither will ever go.
        """
        ref = replace(ref, address=self._moved.now(ref.address))
        await self._keep(ref.address, card)
        channel = self._book.get(ref.address)
        if channel is None:
            return False
        try:
            if await self._edit_in_place(channel, ref, card):
                return True
        except ChannelError as error:
            log.info("card_not_editable", address=str(ref.address), card=card.card_id, error=str(error))
            if _may_pass(error):
                return False
        return await self._say_instead(ref, card)

    async def restate(self, ref: MessageRef, card: Card) -> None:
        """Show the card's end again where its message can be changed, and say nothing where it cannot."""
        ref = replace(ref, address=self._moved.now(ref.address))
        channel = self._book.get(ref.address)
        if channel is None:
            return
        try:
            await self._edit_in_place(channel, ref, card)
        except ChannelError as error:
            log.info("card_not_restated", address=str(ref.address), card=card.card_id, error=str(error))

    async def update(self, ref: MessageRef, card: Card, line: str) -> bool:
        """Show an open card's new face; `line` says what is new where it cannot be edited whole."""
        await self._keep(ref.address, card)
        channel = self._book.get(ref.address)
        if channel is None:
            return False
        limits = channel.capabilities
        try:
            if limits.buttons and limits.edits and self.fits(ref.address, card):
                await self._patiently(ref.address, partial(channel.edit_card, ref, card))
            else:
                await self._send_plain(channel, ref.address, line, reply_to_id=ref.message_id)
        except ChannelError as error:
            log.info("card_not_updated", address=str(ref.address), card=card.card_id, error=str(error))
            return False
        return True

    def fits(self, address: Address, card: Card) -> bool:
        """Is the card whole in one message of this chat?"""
        channel = self._book.get(address)
        if channel is None:
            return False
        limits = channel.capabilities
        if not limits.buttons:
            return measure(card.fallback, limits.length_unit) <= limits.max_length
        parts = card_parts(card, limits.max_length, limits.length_unit)
        return not isinstance(parts, TooLong) and len(parts) == 1

    def now(self, address: Address) -> Address:
        """The address under the chat's present id."""
        return self._moved.now(address)

    async def boards_changed(self) -> None:
        """Tell every channel with a pending list that the set of open cards changed."""
        for channel in self._book:
            changed = getattr(channel, "pending_changed", None)
            if channel.capabilities.pending_list and changed is not None:
                try:
                    await changed()
                except ChannelError as error:
                    log.info("board_not_told", channel=channel.name, error=str(error))

    async def _edit_in_place(self, channel: Channel, ref: MessageRef, card: Card) -> bool:
        """False where the channel changes no cards. Raises ChannelError."""
        limits = channel.capabilities
        if not (limits.buttons and limits.edits):
            return False
        fitting = closed_card(card, limits.max_length, limits.length_unit)
        await self._patiently(ref.address, partial(channel.edit_card, ref, fitting))
        return True

    async def _say_instead(self, ref: MessageRef, card: Card) -> bool:
        channel = self._book.get(ref.address)
        if channel is None:
            return False
        try:
            await self._send_plain(channel, ref.address, _outcome(card), reply_to_id=ref.message_id)
        except ChannelError as error:
            log.warning(
                "outcome_not_delivered", address=str(ref.address), card=card.card_id, error=str(error)
            )
            return not _may_pass(error)
        return True

    async def _send_plain(
        self, channel: Channel, address: Address, text: str, *, reply_to_id: str = ""
    ) -> MessageRef:
        """As many messages as it takes; returns where the last one stands."""
        limits = channel.capabilities
        first, *more = split_plain(text, limits.max_length, limits.length_unit)
        message = OutboundText(first, markdown=False, reply_to_id=reply_to_id)
        ref = await self._patiently(address, partial(channel.send_text, address, message))
        for part in more:
            ref = await self._patiently(
                address, partial(channel.send_text, address, OutboundText(part, markdown=False))
            )
        return ref

    async def _patiently(
        self, address: Address, send: Callable[[], Awaitable[T]], *, may_repeat: bool = True
    ) -> T:
        """Try a few times, waiting as the platform asks. Raises the last error.

        Without `may_repeat` also OutcomeUnknown at once: what may have arrived is not sent again unmarked.
        """
        for attempt in range(_TRIES):
            try:
                return await send()
            except (RetryAfter, TemporaryFailure) as error:
                if isinstance(error, RetryAfter):
                    self._pace.hold(address, error.seconds)
                is_in_doubt = isinstance(error, OutcomeUnknown) and not may_repeat
                if is_in_doubt or attempt == _TRIES - 1:
                    raise
                await asyncio.sleep(
                    error.seconds + 0.1 if isinstance(error, RetryAfter) else 0.5 * 2**attempt
                )
        raise AssertionError("unreachable")

    async def _keep(self, address: Address, card: Card) -> None:
        await self._store.sessions.put_transcript(transcript_row(address, card, self._clock()))


def _may_pass(error: ChannelError) -> bool:
    """May the same succeed later, by itself or once a person has mended the channel?"""
    return isinstance(error, RetryAfter | TemporaryFailure | ChannelFatal)


def _outcome(card: Card) -> str:
    """What became of it and why, without the call, which stands in the card itself."""
    verdict = []
    for block in card.blocks:
        if not isinstance(block, Paragraph):
            break
        verdict.append(block.text)
    return "\n".join(line for line in (*verdict, card.title, _("Id: {id}").format(id=card.short_id)) if line)
