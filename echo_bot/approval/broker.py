"""Open a question to a person, wait for the one decision, and close its cards."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from echo_bot.approval.deciding import Decided, Decider
from echo_bot.approval.request import Choice
from echo_bot.approval.routing import Routes
from echo_bot.errors import ChannelError
from echo_bot.events import Address, ApprovalId, ButtonPress, Card, Identity, MessageRef, PressReply, TurnId
from echo_bot.policy.decision import ApprovalSource
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus

log = structlog.get_logger(__name__)

_GRACE_AFTER_RESTART = timedelta(seconds=60)
_MAX_WAIT_STEP_SECONDS = 30.0

_UNREACHABLE = "no approver could be reached"
_TIMED_OUT = "nobody decided in time"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person, or the lack of one, came to. `source` is HUMAN exactly when a person approved."""

    approved: bool
    sentence: str
    source: ApprovalSource | None = None
    by: str = ""
    text: str = ""
    decision: str = ""


class Faces(Protocol):
    """How a record looks: the open card for whoever decides, and the closed one."""

    def open(self, record: ApprovalRecord) -> Card: ...

    def closed(self, record: ApprovalRecord) -> Card: ...


class CardChannel(Protocol):
    """The way out; see `echo_bot.delivery.cards`."""

    async def send(self, address: Address, card: Card) -> MessageRef: ...

    async def edit(self, ref: MessageRef, card: Card) -> bool: ...

    async def boards_changed(self) -> None: ...


class Router(Protocol):
    """Who decides and where they are; see `echo_bot.approval.approvers`."""

    async def routes(self, record: ApprovalRecord) -> Routes: ...

    async def may_decide(self, by: Identity, record: ApprovalRecord) -> bool: ...


Notice = Callable[[ApprovalRecord, str], Awaitable[None]]
"""Tell the origin chat a line about a request whose card is elsewhere."""

AskAgain = Callable[[ApprovalRecord, Identity], Awaitable[PressReply]]
"""Run an expired call's request anew."""


class Broker:
    """Holds one future per open question. The store decides who was first; this only waits and shows."""

    def __init__(
        self,
        store: Store,
        decider: Decider,
        cards: CardChannel,
        router: Router,
        faces: Faces,
        *,
        notice: Notice,
        ask_again: AskAgain,
        clock: Callable[[], datetime],
        delivery_timeout_seconds: float,
        backlog: timedelta,
    ) -> None:
        self._store, self._decider, self._cards, self._router, self._faces = (
            store,
            decider,
            cards,
            router,
            faces,
        )
        self._notice, self._ask_again, self._clock = notice, ask_again, clock
        self._delivery_timeout, self._backlog = delivery_timeout_seconds, backlog
        self._futures: dict[ApprovalId, asyncio.Future[ApprovalRecord]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._seen_seq = 0

    async def start(self) -> None:
        """Note which decisions were made before this process, and close cards decided while it was down."""
        self._seen_seq = max(
            (r.decision_seq for r in await self._store.approvals.decided_after(0)), default=0
        )

    async def close(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def ask(self, record: ApprovalRecord) -> Answer:
        """Attach to the question (opening it if it is new) and wait for its end. Idempotent by approval id."""
        stored = await self._store.approvals.attach(record)
        if stored.status is not ApprovalStatus.PENDING:
            self._in_background(self._close_cards(stored))
            return answer_of(stored)
        future = self._futures.setdefault(stored.approval_id, asyncio.get_running_loop().create_future())
        try:
            if stored.deadline is None:
                delivered = await self._open(stored)
                if not delivered:
                    return await self._end(stored, ApprovalStatus.CANCELLED, _UNREACHABLE)
            else:
                await self._reopen(stored)
            return await self._wait(stored.approval_id, future)
        finally:
            self._futures.pop(stored.approval_id, None)

    async def press(self, press: ButtonPress) -> PressReply:
        """A button of a card. Returns at once with the reply; the cards are closed in the background."""
        found = await self._store.approvals.by_token(press.token)
        if found is None:
            return PressReply(
                "This button belongs to a request this bot no longer knows. Nothing was run.", ok=False
            )
        record, decision = found
        await self._remember(record, press)
        if record.kind == "question":
            return self._settled(
                await self._decider.answer(record.approval_id, decision, press.presser, text=press.text)
            )
        choice = Choice(decision)
        if choice is Choice.ASK_AGAIN:
            return await self._again(record, press.presser)
        return await self.decide(record.approval_id, choice, press.presser, reason=press.text)

    async def decide(self, ref: str, choice: Choice, by: Identity, *, reason: str = "") -> PressReply:
        return self._settled(await self._decider.decide(ref, choice, by, reason=reason))

    async def answer(self, approval_id: ApprovalId, by: Identity, text: str) -> PressReply:
        """Answer a question in words."""
        return self._settled(await self._decider.answer(approval_id, "", by, text=text))

    async def cancel_turn(self, turn_id: TurnId, why: str) -> None:
        """Close every open question of a turn that was stopped."""
        for record in await self._store.approvals.pending():
            if record.turn_id == turn_id:
                await self._end(record, ApprovalStatus.CANCELLED, why)

    async def pending_for(self, viewer: Identity) -> tuple[ApprovalRecord, ...]:
        """The open questions that `viewer` may decide, oldest first."""
        rows = await self._store.approvals.pending()
        return tuple([row for row in rows if await self._may_see(viewer, row)])

    def card(self, record: ApprovalRecord) -> Card:
        is_open = record.status is ApprovalStatus.PENDING
        return self._faces.open(record) if is_open else self._faces.closed(record)

    async def catch_up(self) -> None:
        """Act on decisions that another process wrote since the last look."""
        for record in await self._store.approvals.decided_after(self._seen_seq):
            self._seen_seq = max(self._seen_seq, record.decision_seq)
            future = self._futures.get(record.approval_id)
            if future is not None and not future.done():
                await self._close_cards(record)

    async def _may_see(self, viewer: Identity, record: ApprovalRecord) -> bool:
        if record.kind == "question":
            return str(viewer) == record.requester
        return await self._router.may_decide(viewer, record)

    async def _open(self, record: ApprovalRecord) -> bool:
        """Send the card everywhere it belongs. True if at least one chat has it; then the clock starts."""
        routes = await self._router.routes(record)
        card = self._faces.open(record)
        if record.copies:
            return await self._start_clock(record, routes)
        try:
            async with asyncio.timeout(self._delivery_timeout):
                sent = await asyncio.gather(*(self._send_copy(record, a, card) for a in routes.cards))
        except TimeoutError:
            sent = [bool((await self._fresh(record)).copies)]
        if not any(sent):
            return False
        return await self._start_clock(record, routes)

    async def _start_clock(self, record: ApprovalRecord, routes: Routes) -> bool:
        deadline = self._clock() + timedelta(seconds=record.timeout_seconds)
        await self._store.approvals.set_deadline(record.approval_id, deadline)
        if routes.notice:
            await self._notice(record, "Waiting for approval.")
        await self._cards.boards_changed()
        return True

    async def _send_copy(self, record: ApprovalRecord, address: Address, card: Card) -> bool:
        try:
            ref = await self._cards.send(address, card)
        except ChannelError as error:
            log.warning(
                "card_not_delivered", address=str(address), approval=record.approval_id, error=str(error)
            )
            return False
        await self._store.approvals.add_copy(record.approval_id, ref)
        return True

    async def _reopen(self, record: ApprovalRecord) -> None:
        """After a restart: its cards still stand; give people a minute unless it is long over."""
        assert record.deadline is not None
        now = self._clock()
        if record.deadline < now - self._backlog:
            return
        if record.deadline < now + _GRACE_AFTER_RESTART:
            await self._store.approvals.set_deadline(record.approval_id, now + _GRACE_AFTER_RESTART)
        await self._cards.boards_changed()

    async def _wait(self, approval_id: ApprovalId, future: asyncio.Future[ApprovalRecord]) -> Answer:
        while True:
            record = await self._store.approvals.get(approval_id)
            if record is None or record.deadline is None:
                return Answer(False, "Not executed: the request is gone from the store. Nobody consented.")
            if record.status is not ApprovalStatus.PENDING:
                return answer_of(record)
            left = (record.deadline - self._clock()).total_seconds()
            if left <= 0:
                return await self._end(record, ApprovalStatus.EXPIRED, _TIMED_OUT)
            done, _ = await asyncio.wait({future}, timeout=min(left, _MAX_WAIT_STEP_SECONDS))
            if done:
                return answer_of(future.result())

    async def _end(self, record: ApprovalRecord, status: ApprovalStatus, why: str) -> Answer:
        closed = await self._decider.close(record, status, why) or await self._fresh(record)
        await self._close_cards(closed)
        return answer_of(closed)

    def _settled(self, decided: Decided) -> PressReply:
        if decided.record is not None:
            self._in_background(self._close_cards(decided.record))
        return decided.reply

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work, name="close cards")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _close_cards(self, record: ApprovalRecord) -> None:
        future = self._futures.get(record.approval_id)
        if future is not None and not future.done():
            future.set_result(record)
        fresh = await self._fresh(record)
        card = self._faces.closed(fresh)
        await asyncio.gather(*(self._cards.edit(ref, card) for ref in fresh.copies))
        if fresh.copies and all(ref.address != fresh.address for ref in fresh.copies):
            await self._notice(fresh, card.title)
        await self._cards.boards_changed()

    async def _again(self, record: ApprovalRecord, by: Identity) -> PressReply:
        if record.status not in (ApprovalStatus.EXPIRED, ApprovalStatus.CANCELLED):
            return PressReply("This request was decided; there is nothing to ask again.", ok=False)
        if str(by) != record.requester and not await self._router.may_decide(by, record):
            return PressReply("Only the requester or an approver can ask again.", ok=False)
        return await self._ask_again(record, by)

    async def _remember(self, record: ApprovalRecord, press: ButtonPress) -> None:
        """A crash between sending a card and storing where it stands is mended by the first press on it."""
        where = MessageRef(press.address, press.message_id)
        if press.message_id and where not in record.copies:
            await self._store.approvals.add_copy(record.approval_id, where)

    async def _fresh(self, record: ApprovalRecord) -> ApprovalRecord:
        return await self._store.approvals.get(record.approval_id) or record


def answer_of(record: ApprovalRecord) -> Answer:
    """The answer that a closed record holds. The one place where a human decision becomes an approval source."""
    by = record.decided_by
    match record.status:
        case ApprovalStatus.APPROVED | ApprovalStatus.USED if by:
            sentence = f"Approved by {by}."
            return Answer(True, sentence, ApprovalSource.HUMAN, by, record.answer, record.decision)
        case ApprovalStatus.DENIED:
            reason = f" Reason: {record.answer}" if record.answer else ""
            return Answer(False, f"Not executed: {by} denied it.{reason}", None, by, record.answer)
        case ApprovalStatus.EXPIRED:
            return Answer(False, f"Not executed, and nobody consented: {_TIMED_OUT}.")
        case _:
            why = record.answer or "the request was cancelled"
            return Answer(False, f"Not executed, and nobody consented: {why}.")
