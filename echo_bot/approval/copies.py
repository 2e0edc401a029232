"""The copies of a card: sent wherever somebody decides, kept the same everywhere, closed together."""

from __future__ import annotations

import asyncio
import json
from asyncio import FIRST_COMPLETED
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Protocol
from weakref import WeakValueDictionary

import structlog

from echo_bot.approval.answers import UNREACHABLE, named_votes
from echo_bot.approval.escape import escape_line
from echo_bot.approval.late_ends import LateEnds, Running
from echo_bot.approval.routing import direct_chat
from echo_bot.channel import Prompt
from echo_bot.errors import (
    ChannelError,
    FormatRejected,
    OutcomeUnknown,
    RetryAfter,
    StorageError,
    TemporaryFailure,
)
from echo_bot.events import Address, ApprovalId, ButtonPress, Card, Identity, MessageRef, Paragraph
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus
from echo_bot.text.language import _, listed

log = structlog.get_logger(__name__)

_ENDS_REMEMBERED = 500
_SEND_AGAIN_SECONDS = 2.0
_DIRECT_CHATS = "direct_chats"
"""Where it is stored which chat a person's id stands for: JSON of the one address under that of the other."""


class Faces(Protocol):
    """How a record looks: the open card for whoever decides, the closed one, and what its buttons ask."""

    def open(self, record: ApprovalRecord) -> Card: ...

    def closed(self, record: ApprovalRecord) -> Card: ...

    def time(self, moment: datetime) -> str: ...

    def prompt(self, record: ApprovalRecord, decision: str) -> Prompt | None: ...


class CardChannel(Protocol):
    """The way out; see `echo_bot.delivery.cards`."""

    async def send(self, address: Address, card: Card, *, in_doubt: bool = False) -> MessageRef: ...

    async def edit(self, ref: MessageRef, card: Card) -> bool: ...

    async def restate(self, ref: MessageRef, card: Card) -> None: ...

    async def update(self, ref: MessageRef, card: Card, line: str) -> bool: ...

    def fits(self, address: Address, card: Card) -> bool: ...

    def now(self, address: Address) -> Address: ...

    async def boards_changed(self) -> None: ...


class Notice(Protocol):
    """Tell a chat a line of ours, once for each `source`."""

    def __call__(
        self, address: Address, text: str, *, source: str, reply_to_id: str = ""
    ) -> Awaitable[None]: ...


class Copies:
    """Knows no rules: it shows what the store says, where it is told to."""

    def __init__(
        self,
        store: Store,
        cards: CardChannel,
        faces: Faces,
        *,
        notice: Notice,
        running: Running,
        clock: Callable[[], datetime],
        timeout_seconds: float,
    ) -> None:
        self._store, self._cards, self._faces = store, cards, faces
        self._notice, self._timeout = notice, timeout_seconds
        self._locks: WeakValueDictionary[ApprovalId, asyncio.Lock] = WeakValueDictionary()
        self._late: set[asyncio.Task[bool]] = set()
        self._ends: OrderedDict[tuple[str, ...], Card] = OrderedDict()
        self._late_ends = LateEnds(store.approvals, self._show_late, running=running, clock=clock)
        self._chats: dict[Address, Address] = {}
        self._under_way: set[tuple[ApprovalId, Address]] = set()

    def fits(self, address: Address, record: ApprovalRecord) -> bool:
        """Is the open card whole in one message there?"""
        return self._cards.fits(address, self._faces.open(record))

    async def send(self, record: ApprovalRecord, addresses: Iterable[Address], now: datetime) -> str:
        """Send the open card to each chat. Returns once one has it, or why none has.

        The others get theirs meanwhile: nobody waits for the slowest chat.
        """
        until = record.deadline or now + timedelta(seconds=record.timeout_seconds)
        card = self._faces.open(replace(record, deadline=until))
        on_their_way = self._begin(record, addresses, card)
        problems: list[str] = []
        try:
            async with asyncio.timeout(self._timeout):
                while on_their_way and "" not in problems:
                    done, on_their_way = await asyncio.wait(on_their_way, return_when=FIRST_COMPLETED)
                    problems += [task.result() for task in done]
        except TimeoutError:
            await end_all(on_their_way)
            return UNREACHABLE
        except BaseException:
            await end_all(on_their_way)
            raise
        if on_their_way:
            self._finish_later(record, on_their_way)
        if "" in problems:
            return ""
        return next((problem for problem in problems if problem != UNREACHABLE), UNREACHABLE)

    async def send_more(self, record: ApprovalRecord, addresses: Iterable[Address]) -> bool:
        """Send the open card to those of the chats that have none, for as long as somebody is asked.

        Ends when each has it or never will. False: it could not be stored, and is to be tried again.
        """
        under_way = set(self._under_way)
        fresh = await self.fresh(record)
        under_way |= self._under_way
        there = {ref.address for ref in fresh.copies}
        there |= {self._place(each) for approval_id, each in under_way if approval_id == fresh.approval_id}
        left = [each for each in dict.fromkeys(addresses) if self._place(each) not in there]
        if not left or fresh.status is not ApprovalStatus.PENDING:
            return True
        return await self._finish_later(fresh, self._begin(fresh, left, self._faces.open(fresh)))

    async def start(self) -> None:
        """Show the ends that an earlier run, or a platform that was down, left unshown."""
        chats = await self._store.values.list(_DIRECT_CHATS)
        self._chats = {_from_json(person): _from_json(chat) for person, chat in chats.items()}
        self._late_ends.start()

    async def close(self) -> None:
        """Cards that are still on their way are given up."""
        await self._late_ends.close()
        await end_all(self._late)

    async def show(self, record: ApprovalRecord) -> None:
        """Every copy as the store has it now: with another vote, or closed. One after the other."""
        lock = self._locks.setdefault(record.approval_id, asyncio.Lock())
        async with lock:
            fresh = await self.fresh(record)
            if fresh.status is ApprovalStatus.PENDING:
                card, line = self._faces.open(fresh), _progress(fresh)
                await asyncio.gather(*(self._cards.update(ref, card, line) for ref in fresh.copies))
            else:
                await self._close(fresh)
        await self._cards.boards_changed()

    async def restate(self, record: ApprovalRecord, pressed: MessageRef) -> None:
        """Somebody saw buttons on a copy that closed a while ago: perhaps it was out of reach then."""
        for ref in record.copies:
            if place_of(ref) == place_of(pressed):
                await self._cards.restate(ref, self._faces.closed(record))

    async def tell_waiting(self, record: ApprovalRecord) -> None:
        """The chat of the request hears that somebody elsewhere decides."""
        text = _("Waiting for approval of {tool} ({id}); the card is in another chat.")
        text = text.format(tool=record.tool, id=record.approval_id[-6:])
        await self._notice(record.address, text, source=f"{record.approval_id}:waiting")

    async def remind(self, record: ApprovalRecord) -> None:
        """One line under each copy. Nothing of the call is in it, so it mentions and formats nothing."""
        text = _("Still waiting for a decision ({id}).").format(id=record.approval_id[-6:])
        if record.deadline:
            at = self._faces.time(record.deadline)
            text += _(" It can be decided until {time}.").format(time=at)
        for ref in record.copies:
            source = f"{record.approval_id}:reminder:{ref.address}"
            await self._notice(ref.address, text, source=source, reply_to_id=ref.message_id)

    async def boards_changed(self) -> None:
        await self._cards.boards_changed()

    async def fresh(self, record: ApprovalRecord) -> ApprovalRecord:
        return await self._store.approvals.get(record.approval_id) or record

    def _place(self, address: Address) -> Address:
        """A person and their direct chat are one place."""
        return self._chats.get(address, address)

    def _begin(
        self, record: ApprovalRecord, addresses: Iterable[Address], card: Card
    ) -> set[asyncio.Task[str]]:
        return {self._begin_one(record, each, card) for each in addresses}

    def _begin_one(self, record: ApprovalRecord, address: Address, card: Card) -> asyncio.Task[str]:
        place = record.approval_id, address
        self._under_way.add(place)
        task = asyncio.create_task(self._send_one(record, address, card))
        task.add_done_callback(lambda _: self._under_way.discard(place))
        return task

    async def _send_one(self, record: ApprovalRecord, address: Address, card: Card) -> str:
        """Until it stands there, can never, or nobody is asked any more. Returns why it does not, or ""."""
        in_doubt = address in record.unplaced
        while True:
            await self._store.approvals.plan_copy(record.approval_id, address)
            try:
                ref = await self._cards.send(address, card, in_doubt=in_doubt)
            except ChannelError as error:
                in_doubt = in_doubt or isinstance(error, OutcomeUnknown)
                if not in_doubt:
                    await self._store.approvals.place_copy(record.approval_id, address, None)
                log.warning(
                    "card_not_delivered", address=str(address), approval=record.approval_id, error=str(error)
                )
                if not isinstance(error, RetryAfter | TemporaryFailure):
                    return str(error) if isinstance(error, FormatRejected) else UNREACHABLE
                asked = error.seconds if isinstance(error, RetryAfter) else 0.0
            else:
                await self._stands(record, address, ref)
                return ""
            await asyncio.sleep(max(_SEND_AGAIN_SECONDS, asked))
            if (await self.fresh(record)).status is not ApprovalStatus.PENDING:
                return UNREACHABLE

    async def _stands(self, record: ApprovalRecord, address: Address, ref: MessageRef) -> None:
        if ref.address != self._place(address):
            await self._store.values.put(_DIRECT_CHATS, _to_json(address), _to_json(ref.address))
            self._chats[address] = ref.address
        if ref.message_id:
            await self._store.approvals.place_copy(record.approval_id, address, ref)

    def _finish_later(
        self, record: ApprovalRecord, on_their_way: set[asyncio.Task[str]]
    ) -> asyncio.Task[bool]:
        late = asyncio.create_task(self._finish(record, on_their_way), name="late cards")
        self._late.add(late)
        late.add_done_callback(self._late.discard)
        return late

    async def _finish(self, record: ApprovalRecord, on_their_way: set[asyncio.Task[str]]) -> bool:
        """Wait for the slower chats, and show them what was decided or voted meanwhile.

        Once it is decided, a chat that hangs is waited for no longer. False: something could not be stored.
        """
        left = on_their_way
        try:
            while left:
                done, left = await asyncio.wait(left, timeout=self._timeout, return_when=FIRST_COMPLETED)
                for task in done:
                    task.result()
                fresh = await self.fresh(record)
                if fresh.status is not ApprovalStatus.PENDING or fresh.votes:
                    await self.show(fresh)
                if not done and fresh.status is not ApprovalStatus.PENDING:
                    break
        except StorageError as error:
            log.error("late_card_not_stored", approval=record.approval_id, error=str(error))
            return False
        finally:
            await end_all(on_their_way)
        return True

    async def _close(self, record: ApprovalRecord) -> None:
        card = self._faces.closed(record)
        await asyncio.gather(*(self._show_end(record, ref, card) for ref in record.copies))
        is_elsewhere = record.copies and all(ref.address != record.address for ref in record.copies)
        if is_elsewhere and record.kind == "approval":
            source = f"{record.approval_id}:outcome"
            await self._notice(record.address, _outcome(record, card), source=source)

    async def _show_late(self, record: ApprovalRecord) -> None:
        """Unless its end is being shown at this moment."""
        lock = self._locks.get(record.approval_id)
        if lock is None or not lock.locked():
            await self.show(record)

    async def _show_end(self, record: ApprovalRecord, ref: MessageRef, card: Card) -> None:
        """Once: where a card cannot be changed its end is a message, which must not come twice."""
        place = place_of(ref)
        shown = self._ends.get(place)
        if shown == card or (shown is None and ref in record.ended):
            return
        if await self._cards.edit(ref, card):
            self._ends[place] = card
            # Its chat may have moved while it was shown, and its row with it.
            stands = replace(ref, address=self._cards.now(ref.address))
            await self._store.approvals.copy_ended(record.approval_id, stands)
            while len(self._ends) > _ENDS_REMEMBERED:
                self._ends.popitem(last=False)


async def end_all(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel them and wait until they are gone."""
    for task in tuple(tasks):
        task.cancel()
    if tasks:
        await asyncio.wait(tuple(tasks))


def may_be_copy(record: ApprovalRecord, ref: MessageRef, presser: Identity) -> bool:
    """Is this message, which is not known as a copy, in a chat that got one or was about to get one?"""
    chats = {_chat_of(each) for each in (*(copy.address for copy in record.copies), *record.unplaced)}
    is_known = place_of(ref) in {place_of(copy) for copy in record.copies}
    is_there = _chat_of(ref.address) in chats or direct_chat(presser) in record.unplaced
    return bool(ref.message_id) and is_there and not is_known


def asked_at(prompt: Prompt, record: ApprovalRecord, press: ButtonPress) -> Prompt:
    """The prompt with the place of its card, whose thread a platform may leave out of the press."""
    pressed = place_of(MessageRef(press.address, press.message_id))
    known = (copy.address for copy in record.copies if place_of(copy) == pressed)
    on_its_way = (chat for chat in record.unplaced if _chat_of(chat) == _chat_of(press.address))
    return replace(prompt, address=next(chain(known, on_its_way), press.address))


def _chat_of(address: Address) -> tuple[str, str, str]:
    return address.channel, address.account, address.chat_id


def place_of(ref: MessageRef) -> tuple[str, str, str, str]:
    """Where a message stands, without the thread: platforms leave that out now and then."""
    return *_chat_of(ref.address), ref.message_id


def _to_json(address: Address) -> str:
    return json.dumps(asdict(address))


def _from_json(text: str) -> Address:
    return Address(**json.loads(text))


def _progress(record: ApprovalRecord) -> str:
    votes = named_votes(record)
    names = escape_line(listed(votes.approved))
    return _("Approved by {names}; {missing} more needed ({id}).").format(
        names=names, missing=votes.missing, id=record.approval_id[-6:]
    )


def _outcome(record: ApprovalRecord, card: Card) -> str:
    verdict = next((block.text for block in card.blocks if isinstance(block, Paragraph)), _("Closed"))
    return _("{verdict} – {tool} ({id})").format(verdict=verdict, tool=record.tool, id=card.short_id)
