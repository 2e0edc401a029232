"""What comes by itself: scheduled tasks start and paused workflows go on when their time has come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

import structlog

from echo_bot.approval.escape import escape_line
from echo_bot.delivery import Delivery
from echo_bot.errors import StorageError
from echo_bot.events import Identity
from echo_bot.flows.events import task_event
from echo_bot.flows.tasks import Tasks
from echo_bot.flows.workflows import Admits, Workflows
from echo_bot.session import Pausing, TurnStarter, event_from_json, turn_id_of
from echo_bot.storage.flow_records import TaskRecord, TaskState, WorkflowState
from echo_bot.storage.protocol import Store
from echo_bot.text.language import _

log = structlog.get_logger(__name__)

_LOOK_AGAIN_SECONDS = 30.0
_NOT_ADMITTED = "its owner may not use this bot any more"


class Timers:
    """Nothing is lost by a stop, and nothing starts twice: a start is claimed, and its turn has its id.

    What became due while the bot was away starts when it is back; while everything is paused, nothing does.
    """

    def __init__(
        self,
        store: Store,
        starter: TurnStarter,
        delivery: Delivery,
        pausing: Pausing,
        *,
        clock: Callable[[], datetime],
    ) -> None:
        self._store, self._starter, self._delivery, self._pausing = store, starter, delivery, pausing
        self._clock = clock
        self._wake, self._tasks = asyncio.Event(), set[asyncio.Task[None]]()
        pausing.subscribe(self._wake.set)

    def wake(self) -> None:
        """Look again: something was scheduled."""
        self._wake.set()

    async def start(self, workflows: Workflows, tasks: Tasks, admits: Admits) -> None:
        """After the turns of an earlier run were queued again. Nothing starts for whom `admits` refuses."""
        for task in await self._store.tasks.under_way():
            self._in_background(self._take_up(tasks, task, admits))
        self._in_background(self._keep_looking(workflows, tasks, admits))

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(tuple(self._tasks))

    async def _keep_looking(self, workflows: Workflows, tasks: Tasks, admits: Admits) -> None:
        while True:
            self._wake.clear()
            seconds = _LOOK_AGAIN_SECONDS
            try:
                if not self._pausing.is_paused():
                    seconds = await self._look(workflows, tasks, admits)
            except (StorageError, ValueError) as error:
                log.error("timers_unread", error=str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._wake.wait()

    async def _look(self, workflows: Workflows, tasks: Tasks, admits: Admits) -> float:
        """Do what is due; returns the seconds until the next look."""
        await workflows.take_up(admits)
        now = self._clock()
        later: list[datetime] = []
        for task in await self._store.tasks.scheduled():
            if task.start_at is not None and task.start_at > now:
                later.append(task.start_at)
            elif await admits(Identity.parse(task.owner)):
                await self._begin(tasks, task)
            else:
                await self._fail(task, _NOT_ADMITTED)
        for record in await self._store.workflows.in_state(WorkflowState.PAUSED):
            if record.resume_at is not None and record.resume_at > now:
                later.append(record.resume_at)
            elif record.resume_at is not None:
                is_admitted = await admits(Identity.parse(record.owner))
                await workflows.resume_by_timer(record, is_admitted=is_admitted)
        seconds = (min(later) - now).total_seconds() if later else _LOOK_AGAIN_SECONDS
        return min(seconds, _LOOK_AGAIN_SECONDS)

    async def _begin(self, tasks: Tasks, task: TaskRecord) -> None:
        """Tell of it first, then claim it: both find again what a crash between them did."""
        try:
            kept = event_from_json(task.event_json)
        except ValueError as error:
            await self._fail(task, f"this version cannot read whom it is for: {error}")
            return
        event = task_event(task, kept)
        started = replace(
            task, state=TaskState.STARTED, start_at=None, starts=task.starts + 1, changed_at=self._clock()
        )
        if task.instruction:
            started = replace(started, turn_id=turn_id_of(event))
            if await self._store.tasks.change(task, started):
                await self._starter.start(event, kind="message")
                self._in_background(self._watch(tasks, started))
            return
        notes = f"\n\n{task.notes}" if task.notes else ""
        await self._delivery.send(
            kept.answered_at,
            _("It is time: {title} (task {id})").format(title=escape_line(task.title), id=task.task_id)
            + notes,
            source=f"{turn_id_of(event)}:due",
            markdown=False,
        )
        await self._store.tasks.change(task, started)

    async def _fail(self, task: TaskRecord, why: str) -> None:
        log.warning("task_not_started", task=task.task_id, error=why)
        failed = replace(task, state=TaskState.FAILED, start_at=None, result=why, changed_at=self._clock())
        await self._store.tasks.change(task, failed)

    async def _take_up(self, tasks: Tasks, task: TaskRecord, admits: Admits) -> None:
        """One that an earlier run of the bot started; a crash may have left its turn unqueued."""
        is_unqueued = await self._store.turns.get(task.turn_id) is None and task.instruction
        if is_unqueued and await admits(Identity.parse(task.owner)):
            again = replace(task, starts=task.starts - 1)
            await self._starter.start(task_event(again, event_from_json(task.event_json)), kind="message")
        await self._watch(tasks, task)

    async def _watch(self, tasks: Tasks, task: TaskRecord) -> None:
        """Until the turn that works at it is over."""
        await self._starter.queues.ended(task.turn_id)
        await tasks.settle(task, task.turn_id)

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work, name="timers")
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("timer_failed", error=f"{type(error).__name__}: {error}")
