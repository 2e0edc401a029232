"""Open a question to a person, wait for the one decision, and let its cards show it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from echo_bot.approval import replies
from echo_bot.approval.answers import TIMED_OUT, Answer, answer_of
from echo_bot.approval.chasing import Chaser
from echo_bot.approval.copies import Copies, Faces, asked_at, end_all, may_be_copy
from echo_bot.approval.deciding import Decided, Decider
from echo_bot.approval.offering import Batches
from echo_bot.approval.request import Choice
from echo_bot.approval.routing import Routes
from echo_bot.channel import Prompt
from echo_bot.errors import StorageError
from echo_bot.events import Address, ApprovalId, ButtonPress, Card, Identity, MessageRef, PressReply, TurnId
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus
from echo_bot.text.language import N_

log = structlog.get_logger(__name__)

_GRACE_AFTER_RESTART = timedelta(seconds=60)
_MAX_WAIT_STEP_SECONDS = 30.0
_RETRY_READ_SECONDS = 1.0
_LAST_EDITS_SECONDS = 0.5
_END_IS_SHOWN_WITHIN = timedelta(seconds=10)


class Router(Protocol):
    """Who decides and where they are; see `echo_bot.approval.approvers`."""

    async def routes(self, record: ApprovalRecord) -> Routes: ...

    async def may_decide(self, by: Identity, record: ApprovalRecord) -> bool: ...

    async def shortage(self, record: ApprovalRecord) -> str: ...

    async def escalations(self, record: ApprovalRecord) -> tuple[Address, ...]: ...

    def alarms(self, record: ApprovalRecord, opened: datetime) -> Alarms: ...


Alarms = tuple[datetime | None, datetime | None]
"""When the chats are reminded and when others get the card; None: not (again)."""

AskAgain = Callable[[ApprovalRecord, Identity], Awaitable[PressReply]]
"""Run an expired call's request anew."""


class Broker:
    """Holds one future per open question. The store decides who was first; this only waits and shows."""

    def __init__(
        self,
        store: Store,
        decider: Decider,
        copies: Copies,
        router: Router,
        faces: Faces,
        *,
        ask_again: AskAgain,
        clock: Callable[[], datetime],
        backlog: timedelta,
    ) -> None:
        self._store, self._decider, self._copies = store, decider, copies
        self._router, self._faces = router, faces
        self._ask_again, self._clock, self._backlog = ask_again, clock, backlog
        self._batches = Batches(store, decider, copies, clock)
        self._chaser = Chaser(store, copies, router.escalations, clock, self._in_background)
        self._futures: dict[ApprovalId, asyncio.Future[ApprovalRecord]] = {}
        self._open: dict[ApprovalId, ApprovalRecord] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._seen_seq = 0

    async def start(self) -> None:
        """Before any channel is heard: take up what is open, and close what no turn waits for any more."""
        self._seen_seq = await self._store.approvals.last_decision()
        await self._copies.start()
        alive = {turn.turn_id for turn in await self._store.turns.unfinished()}
        for record in await self._store.approvals.pending():
            if record.kind == "batch":
                self._in_background(self._take_up(record))
            elif record.turn_id in alive:
                self._open[record.approval_id] = record
                await self._give_grace(record)
            else:
                await self._end(record, ApprovalStatus.CANCELLED, N_("its turn is over"))

    async def close(self) -> None:
        """Let the last edits out, for a moment."""
        await self._copies.close()
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=_LAST_EDITS_SECONDS)
        await end_all(self._tasks)

    async def ask(self, record: ApprovalRecord, on_shown: Callable[[], None] = lambda: None) -> Answer:
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
            on_shown()
            return await self._wait(stored, future)
        except Exception:
            await self._decider.close(
                stored, ApprovalStatus.CANCELLED, N_("it could not be shown or awaited")
            )
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
            return replies.not_stored()

    async def prompt(self, press: ButtonPress) -> Prompt | PressReply:
        """What to ask whoever pressed a button that needs words. Nothing is decided by it."""
        try:
            found = await self._store.approvals.by_token(press.token)
            if found is None:
                return replies.unknown_button()
            record, decision = found
            await self._remember(record, press)
            refusal = await self._decider.refusal(record, decision, press.presser)
        except StorageError as error:
            log.error("prompt_not_read", press=press.press_id, error=str(error))
            return replies.not_stored()
        if refusal:
            return PressReply(refusal, ok=False)
        prompt = self._faces.prompt(record, decision)
        return asked_at(prompt, record, press) if prompt else replies.needs_no_words()

    async def decide(
        self, ref: str, choice: Choice, by: Identity, *, name: str = "", reason: str = ""
    ) -> PressReply:
        return self._settled(await self._decider.decide(ref, choice, by, name=name, reason=reason))

    async def answer(self, approval_id: ApprovalId, by: Identity, text: str, *, name: str = "") -> PressReply:
        """Answer a question in words."""
        return self._settled(await self._decider.answer(approval_id, "", by, name=name, text=text))

    async def withdraw(self, approval_id: ApprovalId, why: str) -> None:
        """Close a question that must not be answered any more, if it is open."""
        if (record := self._open.get(approval_id)) is not None:
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
        return tuple([row for row in rows if row.kind != "batch" and await self.may_decide(viewer, row)])

    async def offer_batch(self, viewer: Identity, address: Address, pending: Iterable[ApprovalRecord]) -> str:
        """One card for all of these that it can hold whole; a sentence about it, "" when there is none."""
        return await self._batches.offer(viewer, address, pending)

    async def tell_edit_refused(self, approval_id: ApprovalId, sentence: str) -> None:
        """The call that a person wrote in place of this one was refused: its closed card says so."""
        await self._store.approvals.explain(approval_id, sentence)
        record = await self._store.approvals.get(approval_id)
        if record is not None:
            self._in_background(self._show(record))

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
            if record.approval_id in self._open or record.kind == "batch":
                self._changed(record)

    async def _press(self, press: ButtonPress) -> PressReply:
        found = await self._store.approvals.by_token(press.token)
        if found is None:
            return replies.unknown_button()
        record, decision = found
        await self._remember(record, press)
        approval_id, by, name = record.approval_id, press.presser, press.presser_name
        if record.kind == "question":
            answered = await self._decider.answer(approval_id, decision, by, name=name, text=press.text)
            return self._settled(answered)
        choice = Choice(decision)
        if choice is Choice.ASK_AGAIN:
            return await self._again(record, by)
        return await self.decide(approval_id, choice, by, name=name, reason=press.text)

    async def may_decide(self, viewer: Identity, record: ApprovalRecord) -> bool:
        """As long as it is open. A question is for whoever was asked."""
        if record.kind == "question":
            return str(viewer) == record.requester
        return await self._router.may_decide(viewer, record)

    async def _open_or_reopen(self, record: ApprovalRecord) -> str:
        """Returns why nobody can decide the question, "" when somebody can; then its clock runs."""
        if record.deadline is None:
            if problem := await self._router.shortage(record):
                return problem
            routes = await self._router.routes(record)
            problem = "" if record.copies else await self._copies.send(record, routes.cards, self._clock())
            if problem:
                return problem
            await self._start_clock(record, routes)
        else:
            await self._give_grace(record)
            await self._copies.boards_changed()
        if record.deadline is not None or record.copies:
            self._in_background(self._take_up(record))
        return ""

    async def _take_up(self, record: ApprovalRecord) -> None:
        """After a restart: a chat that had not got its copy yet gets it meanwhile."""
        try:
            if record.kind == "batch":
                await self._batches.take_up(record)
            else:
                routes = await self._router.routes(record)
                await self._copies.send_more(record, (*record.unplaced, *routes.cards))
        except Exception:  # the outer edge of this task: the question itself goes on waiting
            log.exception("card_not_taken_up", approval=record.approval_id)

    async def _start_clock(self, record: ApprovalRecord, routes: Routes) -> None:
        opened = self._clock()
        deadline = opened + timedelta(seconds=record.timeout_seconds)
        await self._store.approvals.set_alarms(record.approval_id, *self._router.alarms(record, opened))
        await self._store.approvals.set_deadline(record.approval_id, deadline)
        fresh, _ = await self._reread(record)
        if fresh.status is not ApprovalStatus.PENDING or fresh.votes:
            # Decided or voted on at the first copy while others were on their way: those show it as well.
            self._changed(fresh)
        if fresh.status is ApprovalStatus.PENDING:
            if routes.notice:
                await self._copies.tell_waiting(record)
            await self._copies.boards_changed()

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
                if record.approval_id in self._open:
                    # Another process decided, and is heard of here before `catch_up` looks.
                    self._ended(record)
                return answer_of(record)
            if record.deadline is None and is_fresh:
                return Answer(False, "Not executed: the request is gone from the store. Nobody consented.")
            left = _RETRY_READ_SECONDS
            if record.deadline is not None:
                left = (record.deadline - self._clock()).total_seconds()
            if left <= 0:
                return await self._end(record, ApprovalStatus.EXPIRED, TIMED_OUT)
            step = _MAX_WAIT_STEP_SECONDS if is_fresh else _RETRY_READ_SECONDS
            alarm = await self._chaser.chase(record)
            done, _ = await asyncio.wait({future}, timeout=min(left, step, alarm))
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
        closed = await self._decider.close(record, status, why) or await self._copies.fresh(record)
        self._ended(closed)
        return answer_of(closed)

    def _settled(self, decided: Decided) -> PressReply:
        for record in (*decided.members, *([decided.record] if decided.record else [])):
            self._changed(record)
        return decided.reply

    def _changed(self, record: ApprovalRecord) -> None:
        """Decided, or one approval nearer to it."""
        if record.status is ApprovalStatus.PENDING:
            self._in_background(self._show(record))
        else:
            self._ended(record)

    def _ended(self, record: ApprovalRecord) -> None:
        """Wake whoever waits, now; show the end on the cards in the background, at the platforms' pace."""
        self._open.pop(record.approval_id, None)
        future = self._futures.get(record.approval_id)
        if future is not None and not future.done():
            future.set_result(record)
        self._in_background(self._show(record))

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work, name="close cards")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _show(self, record: ApprovalRecord) -> None:
        try:
            if record.kind == "batch":
                await self._batches.ended(record)
                return
            await self._copies.show(record)
            if record.status is not ApprovalStatus.PENDING:
                await self._batches.call_ended(record.approval_id)
        except Exception:  # the outer edge of this task: the decision stands, only its display failed
            log.exception("card_not_shown", approval=record.approval_id)

    async def _again(self, record: ApprovalRecord, by: Identity) -> PressReply:
        if str(by) != record.requester and not await self._router.may_decide(by, record):
            return replies.not_theirs_to_ask_again()
        if record.status not in (ApprovalStatus.EXPIRED, ApprovalStatus.CANCELLED):
            return replies.decided_already()
        return await self._ask_again(record, by)

    async def _remember(self, record: ApprovalRecord, press: ButtonPress) -> None:
        """A crash between sending a card and storing where it stands is mended by the first press on it.

        A changed client may send any token with any message: what is no card of ours is left as it is.
        """
        where = MessageRef(press.address, press.message_id)
        if may_be_copy(record, where, press.presser) and await self.may_decide(press.presser, record):
            await self._store.approvals.add_copy(record.approval_id, where)
            if record.status is not ApprovalStatus.PENDING:
                self._in_background(self._show(record))
            return
        closed_at = record.decided_at if record.kind != "batch" else None
        if closed_at is not None and self._clock() - closed_at > _END_IS_SHOWN_WITHIN:
            self._in_background(self._copies.restate(record, where))
