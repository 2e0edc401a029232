"""One run of a job, from its claim to its end: may it still, the turn, what is told of a failure."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

import structlog

from echo_bot.approval.escape import escape_line
from echo_bot.approval.routing import direct_chat
from echo_bot.called import command
from echo_bot.delivery import Delivery
from echo_bot.events import Address, Identity, InboundEvent, SessionKey, TurnId
from echo_bot.policy.settings import PolicySettings
from echo_bot.scheduler.job import (
    event_of,
    is_authorised,
    job_id_of,
    session_of,
    still_holds,
    target_problem,
)
from echo_bot.session import TurnStarter, event_from_json, turn_id_of
from echo_bot.storage.job_record import JobRecord, JobState, RunState
from echo_bot.storage.protocol import Jobs, Turns
from echo_bot.storage.records import TurnRecord, TurnState
from echo_bot.text.language import _

log = structlog.get_logger(__name__)

_MOST_ERROR_CHARS = 1000
_LOOK_AGAIN_SECONDS = 1.0


class Recorder(Protocol):
    async def record(self, kind: str, **fields: object) -> None: ...


@dataclass(frozen=True, slots=True)
class FiringParts:
    """`admits`: may this person still use the bot? `checklist` reads what the inspection looks at.

    `checklist` raises ValueError with a sentence where it cannot be read. `end_session` ends the processes of
    a session. `identity_of` says, by path, what a
    file holds; it blocks.
    """

    jobs: Jobs
    turns: Turns
    starter: TurnStarter
    delivery: Delivery
    settings: PolicySettings
    audit: Recorder
    admits: Callable[[Identity], Awaitable[bool]]
    checklist: Callable[[], Awaitable[str]]
    end_session: Callable[[SessionKey], Awaitable[object]]
    identity_of: Callable[[str], str]
    clock: Callable[[], datetime]


class Firing:
    """Runs what the scheduler claimed. All methods raise StorageError."""

    def __init__(self, parts: FiringParts) -> None:
        self._parts = parts

    async def run(self, job: JobRecord, is_stopped: Callable[[], bool] = lambda: False) -> None:
        """Start the turn of the job's last run, or find it again, and write down how it ends.

        A turn that is started although `is_stopped` says by then that it is not to be is stopped at once.
        """
        refusal = await self.refusal(job)
        if refusal:
            await self.stop(job)
            await self._disable(job, refusal)
            return
        changed = await self._changed_scripts(job)
        if changed:
            await self._revoke(job, changed)
            return
        try:
            event = await self._event(job)
        except ValueError as error:
            await self._ended(job, "failed", str(error))
            return
        turn = await self._parts.starter.start(event, kind="job")
        began_with = event_from_json(turn.event_json)
        if is_stopped() or (began_with.cron_authorized and not event.cron_authorized):
            await self._parts.starter.stop(turn.turn_id)
        await self._parts.audit.record(
            "job_run",
            job=job.job_id,
            owner=job.owner,
            turn=turn.turn_id,
            due=str(job.last.due),
            authorised=event.cron_authorized,
            target=str(event.answered_at),
        )
        await self._note_end(job, await self._end_of(turn.turn_id))

    async def stop(self, job: JobRecord) -> None:
        """End the job's turn, if one runs."""
        await self._parts.starter.stop(self._turn_id(job))

    async def end_left_behind(self, job_id: str) -> None:
        """Stop what works in the background for this job: turns that began with it, and its processes."""
        for turn in await self._parts.turns.unfinished():
            if _job_behind(turn) == job_id or await self._root_session(turn) == session_of(job_id):
                await self._parts.starter.stop(turn.turn_id)
        await self._parts.end_session(session_of(job_id))

    async def _root_session(self, turn: TurnRecord) -> SessionKey:
        """Of the turn that began it all: workers and workflows have sessions of their own."""
        while turn.parent and (parent := await self._parts.turns.get(TurnId(turn.parent))) is not None:
            turn = parent
        return turn.session_key

    async def why_over(self, turn: TurnRecord) -> str:
        """Why a job's turn of an earlier run of the bot may not go on; "" when it may, or is no job's."""
        if turn.kind != "job":
            return ""
        event = event_from_json(turn.event_json)
        job = await self._parts.jobs.get(job_id_of(turn.session_key))
        if job is None:
            return "the job was deleted"
        if event.cron_authorized and not still_holds(event.authority, job):
            return "the job is not authorised any more"
        return await self.refusal(job)

    async def has_begun(self, job: JobRecord) -> bool:
        """Is there a turn for the job's last run, of this process or of an earlier one?"""
        return await self._parts.turns.get(self._turn_id(job)) is not None

    async def give_up(self, job: JobRecord, state: RunState, error: str = "") -> None:
        """Write down a run that came to nothing."""
        await self._ended(job, state, error)

    def _turn_id(self, job: JobRecord) -> TurnId:
        return turn_id_of(event_of(job, "", self._parts.delivery.now))

    async def _event(self, job: JobRecord) -> InboundEvent:
        instruction = await self._parts.checklist() if job.kind == "inspection" else job.instruction
        return event_of(job, instruction, self._parts.delivery.now)

    async def refusal(self, job: JobRecord) -> str:
        """Why it may not run at all any more; "" when it may."""
        if not await self._parts.admits(Identity.parse(job.owner)):
            return f"its owner {job.owner} may not use this bot any more"
        problem = target_problem(job, self._parts.settings, self._parts.delivery.now)
        return f"its answers may not go to {job.target} any more: {problem}" if problem else ""

    async def _changed_scripts(self, job: JobRecord) -> tuple[str, ...]:
        """Those that are no longer what its authorisation was for, before its turn has begun."""
        files = job.authority.files if job.authority and is_authorised(job) else ()
        if not files or await self.has_begun(job):
            return ()
        identities = await asyncio.to_thread(lambda: [self._parts.identity_of(path) for path, _ in files])
        return tuple(path for (path, bound), now in zip(files, identities, strict=True) if now != bound)

    async def _revoke(self, job: JobRecord, changed: tuple[str, ...]) -> None:
        stored = await self._parts.jobs.get(job.job_id)
        if stored is not None:
            await self._parts.jobs.change(replace(stored, authority=None))
        names = ", ".join(changed)
        await self._parts.audit.record("job_revoked", job=job.job_id, owner=job.owner, by="", changed=names)
        why = (
            f"{names} changed since the job was authorised, so it was not run and is not authorised now; "
            f"look at the change, then authorise it again: /tool cronjob action=authorize name={job.job_id}"
        )
        await self._ended(job, "failed", why)

    async def _disable(self, job: JobRecord, why: str) -> None:
        await self._parts.jobs.end(
            job.job_id,
            job.last.event_id,
            "stopped",
            self._parts.clock(),
            error=why,
            failures=job.failures,
            told=job.told,
        )
        stored = await self._parts.jobs.get(job.job_id)
        if stored is None or stored.revision != job.revision:
            return
        await self._parts.jobs.change(replace(stored, state=JobState.DISABLED, next_at=None, note=why))
        await self._parts.audit.record("job_disabled", job=job.job_id, owner=job.owner, reason=why)
        log.warning("job_disabled", job=job.job_id, name=job.name, reason=why)
        await self._tell(
            direct_chat(Identity.parse(job.owner)),
            _("The job “{name}” was switched off: {reason}.").format(name=escape_line(job.name), reason=why),
            f"{job.last.event_id}:disabled",
        )

    async def _end_of(self, turn_id: TurnId) -> TurnRecord:
        """Wait for it; a turn of an earlier run of the bot is taken up by whoever revives turns."""
        while True:
            turn = await self._parts.starter.ended(turn_id)
            if turn.state.is_final:
                return turn
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)

    async def _note_end(self, job: JobRecord, turn: TurnRecord) -> None:
        match turn.state:
            case TurnState.DONE:
                await self._ended(job, "done", "")
            case TurnState.STOPPED:
                await self._ended(job, "stopped", turn.error)
            case _:
                await self._ended(job, "failed", turn.error)

    async def _ended(self, job: JobRecord, state: RunState, error: str) -> None:
        """A failure is told once until a run succeeds again; the notice, idempotent, goes first."""
        error = error[:_MOST_ERROR_CHARS]
        failures, told = {"done": (0, False), "failed": (job.failures + 1, True)}.get(
            state, (job.failures, job.told)
        )
        if state == "failed" and not job.told:
            log.warning("job_failed", job=job.job_id, name=job.name)
            await self._tell(
                self._parts.delivery.now(job.target),
                _(
                    "The job “{name}” failed: {error}\n\n"
                    "This is said once, until it works again; `{command}` shows how it goes."
                ).format(
                    name=escape_line(job.name),
                    error=error or _("without a reason"),
                    command=command("jobs list"),
                ),
                f"{job.last.event_id}:failed",
            )
        await self._parts.jobs.end(
            job.job_id,
            job.last.event_id,
            state,
            self._parts.clock(),
            error=error,
            failures=failures,
            told=told,
        )

    async def _tell(self, address: Address, text: str, source: str) -> None:
        await self._parts.delivery.send(address, text, source=source)


def _job_behind(turn: TurnRecord) -> str:
    """The job by whose authority a turn may write and execute; "" for none, or one that cannot be read."""
    try:
        authority = event_from_json(turn.event_json).authority
    except ValueError:
        return ""
    return authority.job_id if authority is not None else ""
