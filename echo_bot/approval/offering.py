"""Cards for several calls at once: offered on request, closed once none of their calls waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from echo_bot.approval.batching import LEAST, batch_of, may_stand_in_a_batch, members
from echo_bot.approval.copies import Copies
from echo_bot.approval.deciding import Decider
from echo_bot.events import Address, ApprovalId, Identity
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus
from echo_bot.text.language import N_, _, listed

_MOST = 20
_REPLACED = N_("a newer list took its place")
_NOT_SHOWN = N_("it could not be shown")
_OVER = ""


class Batches:
    """Knows the open batch cards and the calls on each."""

    def __init__(self, store: Store, decider: Decider, copies: Copies, clock: Callable[[], datetime]) -> None:
        self._store, self._decider, self._copies, self._clock = store, decider, copies, clock
        self._open: dict[ApprovalId, ApprovalRecord] = {}

    async def take_up(self, record: ApprovalRecord) -> None:
        """A card of an earlier run."""
        self._open[record.approval_id] = record
        await self._close_if_over(record)

    async def offer(self, viewer: Identity, address: Address, pending: Iterable[ApprovalRecord]) -> str:
        """Send one card for the calls that fit on it whole. Returns a sentence about it, "" without one."""
        wanted = [record for record in pending if may_stand_in_a_batch(record)]
        chosen = self._fitting(wanted, viewer, address)
        if len(chosen) < LEAST:
            return ""
        for old in [each for each in self._open.values() if each.requester == str(viewer)]:
            await self._close(old, _REPLACED)
        record = await self._store.approvals.attach(batch_of(chosen, viewer, address, self._clock()))
        self._open[record.approval_id] = record
        if await self._copies.send(record, (address,), self._clock()):
            await self._close(record, _NOT_SHOWN)
            return ""
        await self._close_if_over(record)
        left = [each.approval_id[-6:] for each in wanted if each not in chosen]
        sentence = _("One card decides {count} of them together.").format(count=len(chosen))
        if not left:
            return sentence
        return sentence + _(" Not on it, since they do not fit whole: {ids}.").format(ids=listed(left))

    async def call_ended(self, approval_id: ApprovalId) -> None:
        """A call was decided or is over: cards on which no other waits are closed."""
        for record in tuple(self._open.values()):
            if any(member == approval_id for member, _ in members(record)):
                await self._close_if_over(record)

    async def ended(self, record: ApprovalRecord) -> None:
        """A batch was decided."""
        self._open.pop(record.approval_id, None)
        await self._copies.show(record)

    def _fitting(
        self, wanted: list[ApprovalRecord], viewer: Identity, address: Address
    ) -> list[ApprovalRecord]:
        """The short ones first, so that one long call takes no place from several others."""
        chosen: list[ApprovalRecord] = []
        for record in sorted(wanted[:_MOST], key=lambda each: len(each.request_json)):
            if self._copies.fits(address, batch_of([*chosen, record], viewer, address, self._clock())):
                chosen.append(record)
        return [record for record in wanted if record in chosen]

    async def _close_if_over(self, record: ApprovalRecord) -> None:
        for approval_id, _digest in members(record):
            call = await self._store.approvals.get(approval_id)
            if call is not None and call.status is ApprovalStatus.PENDING:
                return
        await self._close(record, _OVER)

    async def _close(self, record: ApprovalRecord, why: str) -> None:
        self._open.pop(record.approval_id, None)
        await self._decider.close(record, ApprovalStatus.CANCELLED, why)
        await self._copies.show(record)
