"""cronjob: make, list and change scheduled jobs. What a job may do unattended is a person's to allow."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, Protocol
from uuid import uuid4

from echo_bot.approval.asking import Plan, Unworkable
from echo_bot.approval.request import ApprovalRequest
from echo_bot.approval.stored import request_from_json
from echo_bot.events import Address, Identity, InboundEvent
from echo_bot.policy.call import Arguments, BoundFile
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.risk import RiskLevel
from echo_bot.scheduler.job import authorised, is_authorised
from echo_bot.scheduler.making import MOST_JOBS, Maker, changed_job, new_job, resumed_job
from echo_bot.scheduler.telling import AUTHORISES, INSTRUCTION, Lines, is_as_shown, job_line, plan_of, when
from echo_bot.storage.job_record import JobRecord, JobState
from echo_bot.storage.protocol import Approvals, Jobs
from echo_bot.text.language import N_, Say, _, english
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.sites import CallSite, CallSites

_LOSES = N_("The job loses its authorisation by this; action authorize gives a new one.")
_RUNS_NOW = N_("It runs now, with nobody there, with the same authority as at its times.")


class Recorder(Protocol):
    async def record(self, kind: str, **fields: object) -> None: ...


FilesOf = Callable[[str, Identity], Awaitable[tuple[BoundFile, ...]]]
"""The scripts that an instruction names, as they are now, for a person; none for a task in words."""


@dataclass(frozen=True, slots=True)
class JobDesk:
    """What the tool works with. `channels`: can answers go to this address? `wake` wakes the scheduler."""

    jobs: Jobs
    approvals: Approvals
    sites: CallSites
    audit: Recorder
    is_admin: Callable[[Identity], Awaitable[bool]]
    targets: Mapping[str, str]
    channels: Callable[[Address], bool]
    default_zone: str
    files_of: FilesOf
    wake: Callable[[], None]
    clock: Callable[[], datetime]


class Refused(Exception):
    """What was asked for cannot be done; the sentence says why."""


class CronjobTool(Tool):
    """One method for each action. An authorisation comes from a person's press on this very call alone."""

    name = "cronjob"
    description = (
        "Make and change scheduled jobs, which run unattended. create (name, schedule, instruction; target, "
        "timezone), update (name and what changes; ends its authorisation), authorize (let it write and run "
        "code unattended), revoke, trigger (run now), pause, resume, delete, list. A person decides every "
        "time, except to list."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["cronjob"].parameters
    capabilities = ("scheduler.write",)
    risk_level = RiskLevel.DANGEROUS.value

    def __init__(self, desk: JobDesk) -> None:
        self._desk = desk
        self._actions: Mapping[str, Callable[[_Call], Awaitable[str]]] = {
            "create": self._create,
            "list": self._list,
            "delete": self._delete,
            "trigger": self._trigger,
            "authorize": self._authorize,
            "revoke": self._revoke,
            "update": self._update,
            "pause": self._pause,
            "resume": self._resume,
        }

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        if ctx is None:
            return ToolResult(False, error="a job needs the call it comes from", error_kind="internal")
        site = self._desk.sites.get(ctx.execution_id)
        record = await self._desk.approvals.get(site.approval_id) if site.approval_id else None
        request = request_from_json(record.request_json) if record else None
        call = _Call(params, ctx, site, request, record.created_at if record else self._desk.clock())
        try:
            said = await self._actions[str(params["action"])](call)
        except (Refused, ValueError) as error:
            return ToolResult(False, error=f"cronjob: {error}", error_kind="business")
        if params["action"] != "list":
            self._desk.wake()
        return ToolResult(True, output=said)

    async def plan(self, args: Arguments, event: InboundEvent) -> Plan:
        """For the card: the job as it would be, with its next runs, and what approving it means."""
        now = self._desk.clock()
        try:
            return await self._plan(args, event, now)
        except (Refused, ValueError) as error:
            raise Unworkable(str(error)) from error

    async def _plan(self, args: Arguments, event: InboundEvent, now: datetime) -> Plan:
        action = args.get("action")
        if action == "create":
            # The memory scope is no part of what is shown.
            maker = self._maker(event.sender, event.answered_at, "", now)
            job = new_job("new", args, maker)
            await self._check_new(job)
            files = await self._files(job)
            beside_arguments = tuple(line for line in plan_of(job, now, files) if line[0] not in args)
            return Plan(beside_arguments, (_(AUTHORISES),))
        job = await self._find(event.sender, args)
        match action:
            case "authorize":
                return Plan(plan_of(job, now, await self._files(job)), (_(AUTHORISES),))
            case "update":
                maker = self._maker(event.sender, event.answered_at, "", now)
                return Plan(plan_of(changed_job(job, args, maker), now), (_(_LOSES),))
            case "trigger":
                return Plan(plan_of(job, now), (_(_RUNS_NOW), _may(job, _)))
            case _:
                return Plan(plan_of(job, now), (_may(job, _),))

    async def _create(self, call: _Call) -> str:
        maker = self._maker(call.site.requester, call.site.address, call.ctx.memory_scope, call.asked_at)
        job = new_job(uuid4().hex[:8], call.args, maker)
        shown, files = (*call.shown, (INSTRUCTION, job.instruction)), await self._files(job)
        if call.is_by_person and is_as_shown(job, shown, call.asked_at, files):
            job = self._authorised(job, call, files)
        over = await self._check_new(job)
        if over is not None:
            await self._desk.jobs.delete(over.job_id)
        if not await self._desk.jobs.add(job):
            raise Refused(f"there is a job named {job.name} already")
        await self._write_down("job_created", job, call)
        return f"Made: {job_line(job)}." + ("" if is_authorised(job) else f" {_may(job)}")

    async def _list(self, call: _Call) -> str:
        sees_all = not call.ctx.unattended and await self._desk.is_admin(call.site.requester)
        found = await self._desk.jobs.list(None if sees_all else str(call.site.requester))
        named = str(call.args.get("name") or "")
        lines = [
            f"- {job_line(job)}" + (f", of {job.owner}" if job.owner != str(call.site.requester) else "")
            for job in found
            if not named or named in (job.name, job.job_id)
        ]
        return "\n".join(lines) or "There are no jobs."

    async def _delete(self, call: _Call) -> str:
        job = await self._find_own(call)
        if not await self._desk.jobs.delete(job.job_id):
            raise Refused(f"{job.name} is gone already")
        await self._write_down("job_deleted", job, call)
        return f"Deleted {job.name}. A run of it that was going on is stopped."

    async def _trigger(self, call: _Call) -> str:
        job = await self._find_own(call)
        if job.state is JobState.DISABLED:
            raise Refused(f"{job.name} is switched off: {job.note}. Action resume switches it on again")
        if not await self._desk.jobs.ask(job.job_id, self._desk.clock()):
            raise Refused(f"{job.name} runs already")
        await self._write_down("job_triggered", job, call)
        return f"{job.name} runs now; its answer goes to {job.target}. {_may(job)}"

    async def _authorize(self, call: _Call) -> str:
        job = await self._find_own(call)
        if not call.is_by_person:
            raise Refused("only a person can authorise a job, by approving this very call")
        files = await self._files(job)
        if not is_as_shown(job, call.shown, call.asked_at, files):
            raise Refused(f"{job.name} was changed while somebody was being asked; ask again")
        await self._change(self._authorised(job, call, files))
        await self._write_down("job_authorised", job, call)
        return f"{job.name} is authorised: {when(job)}, answers to {job.target}."

    async def _revoke(self, call: _Call) -> str:
        job = await self._find_own(call)
        if job.authority is None:
            raise Refused(f"{job.name} has no authorisation")
        await self._change(replace(job, authority=None))
        await self._write_down("job_revoked", job, call)
        return f"{job.name} is not authorised any more. A run of it that was going on is stopped."

    async def _update(self, call: _Call) -> str:
        job = await self._find_own(call)
        maker = self._maker(call.site.requester, call.site.address, call.ctx.memory_scope, call.asked_at)
        changed = changed_job(job, call.args, maker)
        await self._change(changed)
        await self._write_down("job_changed", changed, call)
        return f"Changed: {job_line(changed)}. {_may(changed)}"

    async def _pause(self, call: _Call) -> str:
        job = await self._find_own(call)
        if job.state is not JobState.ACTIVE:
            raise Refused(f"{job.name} is {job.state.value}")
        await self._change(replace(job, state=JobState.PAUSED, next_at=None))
        await self._write_down("job_paused", job, call)
        return f"{job.name} is paused."

    async def _resume(self, call: _Call) -> str:
        job = await self._find_own(call)
        resumed = resumed_job(job, self._desk.clock())
        await self._change(resumed)
        await self._write_down("job_resumed", job, call)
        return f"{job.name} goes on: {when(resumed)}."

    async def _files(self, job: JobRecord) -> tuple[BoundFile, ...]:
        return await self._desk.files_of(job.instruction, Identity.parse(job.owner))

    def _authorised(self, job: JobRecord, call: _Call, files: tuple[BoundFile, ...]) -> JobRecord:
        return authorised(
            job,
            by=call.site.decided_by,
            at=self._desk.clock(),
            approval_id=str(call.site.approval_id),
            files=files,
        )

    def _maker(self, owner: Identity, origin: Address, scope: str, asked_at: datetime) -> Maker:
        desk = self._desk
        return Maker(
            owner=owner,
            origin=origin,
            memory_scope=scope,
            targets=desk.targets,
            channels=desk.channels,
            default_zone=desk.default_zone,
            asked_at=asked_at,
            now=desk.clock(),
        )

    async def _check_new(self, job: JobRecord) -> JobRecord | None:
        """Returns the job of that name that is over, whose place it takes."""
        own = await self._desk.jobs.list(job.owner)
        same = next((each for each in own if each.name == job.name), None)
        if same is not None and (same.state is not JobState.DONE or same.is_running):
            raise Refused(f"there is a job named {job.name} already; update it or choose another name")
        if sum(each.state is not JobState.DONE for each in own) >= MOST_JOBS:
            raise Refused(f"one person has at most {MOST_JOBS} jobs; delete one first")
        return same

    async def _find_own(self, call: _Call) -> JobRecord:
        return await self._find(call.site.requester, call.args)

    async def _find(self, person: Identity, args: Arguments) -> JobRecord:
        """By name or id: the person's own, for an admin also somebody else's. Others are as if not there."""
        named = str(args.get("name") or "").strip()
        if not named:
            raise Refused("name is missing; action list shows the jobs")
        jobs = [job for job in await self._desk.jobs.list() if job.kind == "job"]
        found = [job for job in jobs if job.owner == str(person) and named in (job.name, job.job_id)]
        if not found and await self._desk.is_admin(person):
            found = [job for job in jobs if named in (job.name, job.job_id)]
        if not found:
            raise Refused(f"there is no job {named!r}; action list shows the jobs")
        if len(found) > 1:
            ids = ", ".join(f"{job.job_id} of {job.owner}" for job in found)
            raise Refused(f"several people have a job {named!r}; name one by its id: {ids}")
        return found[0]

    async def _change(self, job: JobRecord) -> None:
        if not await self._desk.jobs.change(job):
            raise Refused(f"{job.name} was changed at the same time; look at it and try again")

    async def _write_down(self, kind: str, job: JobRecord, call: _Call) -> None:
        await self._desk.audit.record(
            kind,
            job=job.job_id,
            name=job.name,
            owner=job.owner,
            by=call.ctx.user_id,
            turn=call.site.turn_id,
            authorised=is_authorised(job),
            approval=str(call.site.approval_id or ""),
        )


@dataclass(frozen=True, slots=True)
class _Call:
    """One call, and what a person was asked who passed it, if one did; times count from then."""

    args: Arguments
    ctx: ToolExecutionContext
    site: CallSite
    request: ApprovalRequest | None
    asked_at: datetime

    @property
    def is_by_person(self) -> bool:
        """Did a person approve this very call, made with somebody there and by no worker?"""
        ctx = self.ctx
        if ctx.approval_source != "human" or ctx.unattended or ctx.parent_execution_id is not None:
            return False
        return self.request is not None and dict(self.request.args) == dict(self.args)

    @property
    def shown(self) -> Lines:
        """What the person saw of the job beside the arguments."""
        return self.request.plan if self.request else ()


def _may(job: JobRecord, say: Say = english) -> str:
    if is_authorised(job):
        return say(N_("It is authorised to write and run code unattended."))
    return say(N_("It is not authorised: it does what permissions.approval.unattended_policy lets pass."))
