"""One outbox row to its channel: in as many parts as fit, in plain text where the formatting is refused."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from echo_bot.channel import Channel
from echo_bot.delivery.body import Body, drops_doubles, fitting, hand_over
from echo_bot.delivery.book import ChannelBook
from echo_bot.errors import ChannelFatal, FormatRejected, TargetGone
from echo_bot.events import Address, MessageRef, OutboundText
from echo_bot.storage.records import OutboxRow
from echo_bot.text import measure
from echo_bot.text.language import N_, _

_SEND_TIMEOUT_SECONDS = 90.0
REPEATED = N_("(possibly repeated)")
"""Also the mark in the row's error that says it may have arrived already."""


class Courier:
    """Remembers which parts of a row have arrived, so that another try sends the others alone."""

    def __init__(self, book: ChannelBook) -> None:
        self._book = book
        self._arrived: set[tuple[int, int]] = set()

    async def hand_over(self, channel: Channel, row: OutboxRow, body: Body) -> MessageRef:
        """Where the last part stands. Raises what the channel raises, and TimeoutError."""
        key = f"{row.source}:{row.part}"
        if body.kind == "file" and not channel.capabilities.files:
            raise TargetGone(f"{channel.name} takes no files")
        if row.error.startswith(REPEATED) and not (body.replaces or drops_doubles(channel, body)):
            body = await _marked_as_repeated(channel, row, body)
        *first, last = fitting(channel, body)
        try:
            for index, part in enumerate(first):
                if (row.row_id, index) not in self._arrived:
                    await self._hand_over_part(channel, row.address, part, f"{key}.{index}")
                    self._arrived.add((row.row_id, index))
            ref = await self._hand_over_part(channel, row.address, last, key)
        except TargetGone:
            if not body.replaces:
                raise
            return await self.hand_over(channel, row, replace(body, replaces=""))
        self._arrived = {each for each in self._arrived if each[0] != row.row_id}
        return ref

    async def _hand_over_part(self, channel: Channel, address: Address, body: Body, key: str) -> MessageRef:
        plain = False
        while True:
            try:
                async with asyncio.timeout(_SEND_TIMEOUT_SECONDS):
                    ref = await hand_over(channel, address, body, dedup_key=key, plain=plain)
                self._book.taken(channel, body.kind)
                return ref
            except ChannelFatal as error:
                self._book.refused(channel, body.kind, str(error))
                raise
            except FormatRejected:
                if plain:
                    raise
                plain = True


async def _marked_as_repeated(channel: Channel, row: OutboxRow, body: Body) -> Body:
    """It may have arrived before; where the platform drops no doubles, a person is told."""
    marked = replace(body, text=f"{_(REPEATED)}\n{body.text}")
    limits = channel.capabilities
    if body.kind == "text" and measure(marked.text, limits.length_unit) <= limits.max_length:
        return marked
    async with asyncio.timeout(_SEND_TIMEOUT_SECONDS):
        await channel.send_text(row.address, OutboundText(_(REPEATED), markdown=False))
    return body
