"""Open a question to a person, wait for the one decision, and close its cards."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal, Protocol

import structlog

from echo_bot.approval.answers import TIMED_OUT, UNREACHABLE, Answer, answer_of
from echo_bot.approval.deciding import Decided, Decider
from echo_bot.approval.request import Choice
from echo_bot.approval.routing import Routes
from echo_bot.channel import Prompt
from echo_bot.errors import ChannelError, FormatRejected, StorageError
from echo_bot.events import (
    Address,
    ApprovalId,
    ButtonPress,
    Card,
    Identity,
    MessageRef,
    Paragraph,
    PressReply,
    TurnId,
)
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus

log = structlog.get_logger(__name__)

_GRACE_AFTER_RESTART = timedelta(seconds=60)
_MAX_WAIT_STEP_SECONDS = 30.0
_RETRY_READ_SECONDS = 1.0
_LAST_EDITS_SECONDS = 0.5

_NOT_STORED = "The decision could not be stored, so it does not count. Try again; /status says what is wrong."


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


Notice = Callable[[ApprovalRecord, Literal["waiting", "outcome"], str], Awaitable[None]]
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
        self._store, self._decider, self._cards = store, decider, cards
        self._router, self._faces = router, faces
        self._notice, self._ask_again, self._clock = notice, ask_again, clock
        self._delivery_timeout, self._backlog = delivery_timeout_seconds, backlog
        self._futures: dict[ApprovalId, asyncio.Future[ApprovalRecord]] = {}
        self._open: dict[ApprovalId, ApprovalRecord] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._seen_seq = 0

    async def start(self) -> None:
        """Before any channel is heard: take up what is open, and close what no turn waits for any more."""
        self._seen_seq = await self._store.approvals.last_decision()
        alive = {turn.turn_id for turn in await self._store.turns.unfinished()}
        for record in await self._store.approvals.pending():
            if record.turn_id in alive:
                self._open[record.approval_id] = record
                await self._give_grace(record)
            else:
                await self._end(record, ApprovalStatus.CANCELLED, "its turn is over")

    async def close(self) -> None:
        """Let the last edits out, for a moment."""
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=_LAST_EDITS_SECONDS)
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(tuple(self._tasks))

    async def ask(self, record: ApprovalRecord) -> Answer:
        """Attach to the question (opening it if new) and wait for its end. Idempotent by approval id."""
        stored = await self._store.approvals.attach(record)
        if stored.status is not ApprovalStatus.PENDING:
            self._ended(stored)
            return answer_of(stored)
        future = self._futures.setdefault(stored.approval_id, asyncio.get_running_loop().create_future())
        self._open[stored.approval_id] = stored
        try:
            if self._is_long_over(stored):
                return await self._end(stored, ApprovalStatus.EXPIRED, TIMED_OUT)
            problem = await self._open_or_reopen(stored)
            if problem:
                return await self._end(stored, ApprovalStatus.CANCELLED, problem)
            return await self._wait(stored, future)
        except Exception:
            await self._decider.close(stored, ApprovalStatus.CANCELLED, "it could not be shown or awaited")
            raise
        finally:
            self._futures.pop(stored.approval_id, None)
            self._open.pop(stored.approval_id, None)

    async def press(self, press: ButtonPress) -> PressReply:
        """A button of a card. Returns at once with the reply; the cards are closed in the background."""
        try:
            return await self._press(press)
        except StorageError as error:
            log.error("press_not_stored", press=press.press_id, error=str(error))
            return PressReply(_NOT_STORED, ok=False)

    async def prompt(self, press: ButtonPress) -> Prompt | PressReply:
        """What to ask whoever pressed a button that needs words."""
        raise NotImplementedError

    async def decide(self, ref: str, choice: Choice, by: Identity, *, reason: str = "") -> PressReply:
        return self._settled(await self._decider.decide(ref, choice, by, reason=reason))

    async def answer(self, approval_id: ApprovalId, by: Identity, text: str) -> PressReply:
        """Answer a question in words."""
        return self._settled(await self._decider.answer(approval_id, "", by, text=text))

    async def withdraw(self, record: ApprovalRecord, why: str) -> None:
        """Close a question that must not be answered any more."""
        await self._end(record, ApprovalStatus.CANCELLED, why)

    async def cancel_turns(self, turn_ids: Iterable[TurnId], why: str) -> None:
        """Close every open question of turns that were stopped."""
        stopped = frozenset(turn_ids)
        for record in await self._store.approvals.pending():
            if record.turn_id in stopped:
                await self._end(record, ApprovalStatus.CANCELLED, why)

    async def pending_for(self, viewer: Identity) -> tuple[ApprovalRecord, ...]:
        """The open questions that `viewer` may decide, oldest first."""
        rows = await self._store.approvals.pending()
        return tuple([row for row in rows if await self._may_see(viewer, row)])

    def question_to(self, person: Identity, address: Address) -> ApprovalRecord | None:
        """The oldest question that this person was asked in this chat and has not answered."""
        asked = (r for r in self._open.values() if r.kind == "question" and r.address == address)
        return next((record for record in asked if record.requester == str(person)), None)

    def is_asking(self, turn_id: TurnId) -> bool:
        """Does this turn wait for a person?"""
        return any(record.turn_id == turn_id for record in self._open.values())

    def card(self, record: ApprovalRecord) -> Card:
        is_open = record.status is ApprovalStatus.PENDING
        return self._faces.open(record) if is_open else self._faces.closed(record)

    async def catch_up(self) -> None:
        """Act on decisions that another process wrote since the last look."""
        for record in await self._store.approvals.decided_after(self._seen_seq):
            self._seen_seq = max(self._seen_seq, record.decision_seq)
            if record.approval_id in self._open:
                self._ended(record)

    async def _press(self, press: ButtonPress) -> PressReply:
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

    async def _may_see(self, viewer: Identity, record: ApprovalRecord) -> bool:
        if record.kind == "question":
            return str(viewer) == record.requester
        return await self._router.may_decide(viewer, record)

    async def _open_or_reopen(self, record: ApprovalRecord) -> str:
        """Returns why nobody can see the question, "" when somebody can; then its clock runs."""
        if record.deadline is not None:
            await self._give_grace(record)
            await self._cards.boards_changed()
            return ""
        routes = await self._router.routes(record)
        problem = "" if record.copies else await self._send_copies(record, routes)
        if not problem:
            await self._start_clock(record, routes)
        return problem

    async def _send_copies(self, record: ApprovalRecord, routes: Routes) -> str:
        """Send the card everywhere it belongs; one chat that has it is enough."""
        until = self._clock() + timedelta(seconds=record.timeout_seconds)
        card = self._faces.open(replace(record, deadline=until))
        try:
            async with asyncio.timeout(self._delivery_timeout):
                problems = await asyncio.gather(*(self._send_copy(record, a, card) for a in routes.cards))
        except TimeoutError:
            return "" if (await self._fresh(record)).copies else UNREACHABLE
        if "" in problems:
            return ""
        return next((problem for problem in problems if problem != UNREACHABLE), UNREACHABLE)

    async def _send_copy(self, record: ApprovalRecord, address: Address, card: Card) -> str:
        try:
            ref = await self._cards.send(address, card)
        except ChannelError as error:
            log.warning(
                "card_not_delivered", address=str(address), approval=record.approval_id, error=str(error)
            )
            return str(error) if isinstance(error, FormatRejected) else UNREACHABLE
        await self._store.approvals.add_copy(record.approval_id, ref)
        return ""

    async def _start_clock(self, record: ApprovalRecord, routes: Routes) -> None:
        deadline = self._clock() + timedelta(seconds=record.timeout_seconds)
        await self._store.approvals.set_deadline(record.approval_id, deadline)
        fresh, _ = await self._reread(record)
        if fresh.status is not ApprovalStatus.PENDING:
            # Decided on the first copy while others were on their way: those are closed as well.
            self._ended(fresh)
            return
        if routes.notice:
            await self._notice(record, "waiting", "Waiting for approval.")
        await self._cards.boards_changed()

    async def _give_grace(self, record: ApprovalRecord) -> None:
        """After a restart its cards still stand; people have a minute unless it is long over."""
        until = self._clock() + _GRACE_AFTER_RESTART
        if record.deadline is not None and record.deadline < until and not self._is_long_over(record):
            await self._store.approvals.set_deadline(record.approval_id, until)

    def _is_long_over(self, record: ApprovalRecord) -> bool:
        """Did its time end before the backlog limit? Without a deadline it counts from its making."""
        end = record.deadline or record.created_at + timedelta(seconds=record.timeout_seconds)
        return end < self._clock() - self._backlog

    async def _wait(self, record: ApprovalRecord, future: asyncio.Future[ApprovalRecord]) -> Answer:
        while True:
            record, is_fresh = await self._reread(record)
            if record.status is not ApprovalStatus.PENDING:
                return answer_of(record)
            if record.deadline is None and is_fresh:
                return Answer(False, "Not executed: the request is gone from the store. Nobody consented.")
            left = _RETRY_READ_SECONDS
            if record.deadline is not None:
                left = (record.deadline - self._clock()).total_seconds()
            if left <= 0:
                return await self._end(record, ApprovalStatus.EXPIRED, TIMED_OUT)
            step = _MAX_WAIT_STEP_SECONDS if is_fresh else _RETRY_READ_SECONDS
            done, _ = await asyncio.wait({future}, timeout=min(left, step))
            if done:
                return answer_of(future.result())

    async def _reread(self, record: ApprovalRecord) -> tuple[ApprovalRecord, bool]:
        """The row as it is now; while the database refuses, the one known before."""
        try:
            fresh = await self._store.approvals.get(record.approval_id)
        except StorageError as error:
            log.warning("approval_unread", approval=record.approval_id, error=str(error))
            return record, False
        return fresh or replace(record, deadline=None), True

    async def _end(self, record: ApprovalRecord, status: ApprovalStatus, why: str) -> Answer:
        closed = await self._decider.close(record, status, why) or await self._fresh(record)
        self._ended(closed)
        return answer_of(closed)

    def _settled(self, decided: Decided) -> PressReply:
        if decided.record is not None:
            self._ended(decided.record)
        return decided.reply

    def _ended(self, record: ApprovalRecord) -> None:
        """Wake whoever waits, now; show the end on the cards in the background, at the platforms' pace."""
        self._open.pop(record.approval_id, None)
        future = self._futures.get(record.approval_id)
        if future is not None and not future.done():
            future.set_result(record)
        self._in_background(self._show_end(record))

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work, name="close cards")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _show_end(self, record: ApprovalRecord) -> None:
        try:
            fresh = await self._fresh(record)
            card = self._faces.closed(fresh)
            await asyncio.gather(*(self._cards.edit(ref, card) for ref in fresh.copies))
            if fresh.copies and all(ref.address != fresh.address for ref in fresh.copies):
                await self._notice(fresh, "outcome", _outcome(card))
            await self._cards.boards_changed()
        except Exception:  # the outer edge of this task: the decision stands, only its display failed
            log.exception("card_not_closed", approval=record.approval_id)

    async def _again(self, record: ApprovalRecord, by: Identity) -> PressReply:
        if str(by) != record.requester and not await self._router.may_decide(by, record):
            return PressReply("Only the requester or an approver can ask again.", ok=False)
        if record.status not in (ApprovalStatus.EXPIRED, ApprovalStatus.CANCELLED):
            return PressReply("This request was decided; there is nothing to ask again.", ok=False)
        return await self._ask_again(record, by)

    async def _remember(self, record: ApprovalRecord, press: ButtonPress) -> None:
        """A crash between sending a card and storing where it stands is mended by the first press on it."""
        known = {_place(ref) for ref in record.copies}
        where = MessageRef(press.address, press.message_id)
        if press.message_id and _place(where) not in known:
            await self._store.approvals.add_copy(record.approval_id, where)

    async def _fresh(self, record: ApprovalRecord) -> ApprovalRecord:
        return await self._store.approvals.get(record.approval_id) or record


def _place(ref: MessageRef) -> tuple[str, str, str, str]:
    """Where a message stands, without the thread: platforms leave that out now and then."""
    return ref.address.channel, ref.address.account, ref.address.chat_id, ref.message_id


def _outcome(card: Card) -> str:
    verdict = next((block.text for block in card.blocks if isinstance(block, Paragraph)), "Closed")
    return f"{verdict} ({card.title.rstrip()}, {card.short_id})"
