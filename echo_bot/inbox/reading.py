"""What a surface may read of the core: a chat's past, the chats there are, the open cards of a viewer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import structlog

from echo_bot.approval.broker import Broker
from echo_bot.channel import TranscriptEntry
from echo_bot.delivery.card_json import CARD_PREFIX, card_from_json
from echo_bot.events import Address, ApprovalId, Card, Identity
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord, TranscriptRow

log = structlog.get_logger(__name__)

_MOST_CHATS = 200


class Reading:
    """The reading part of `echo_bot.channel.Port`."""

    def __init__(self, store: Store, broker: Broker) -> None:
        self._store, self._broker = store, broker

    async def transcript(self, address: Address, limit: int) -> tuple[TranscriptEntry, ...]:
        rows = await self._store.sessions.transcript(address, limit)
        return tuple([await self._entry(row) for row in rows])

    async def chats(self, channel: str, account: str) -> tuple[Address, ...]:
        found = await self._store.sessions.chats(channel, None, _MOST_CHATS, account=account)
        return tuple(address for address, _ in found)

    async def pending(self, viewer: Identity) -> tuple[Card, ...]:
        return tuple(self._shown(await self._broker.pending_for(viewer)))

    async def _entry(self, row: TranscriptRow) -> TranscriptEntry:
        """A card is shown as its request stands now: the last edit may have been lost in a crash."""
        card = None
        if row.card_json:
            record = await self._store.approvals.get(ApprovalId(row.entry_id.removeprefix(CARD_PREFIX)))
            shown = next(self._shown((record,)), None) if record is not None else None
            card = shown or card_from_json(row.card_json)
        return TranscriptEntry(row.entry_id, row.role, row.text, row.at, card)

    def _shown(self, records: Iterable[ApprovalRecord]) -> Iterator[Card]:
        """Their cards; one that cannot be rendered takes no other along."""
        for record in records:
            try:
                yield self._broker.card(record)
            except (ValueError, KeyError, IndexError) as error:
                log.error("card_not_rendered", approval=record.approval_id, error=str(error))
