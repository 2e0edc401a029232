"""The scheduler and everything it works with, made from the configuration."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from echo_bot.agent.directive import DirectCall, read_directive
from echo_bot.agent.turn import schemas_of
from echo_bot.app.remembering import Witnesses
from echo_bot.app.skills import bound_content
from echo_bot.approval.approvers import read_paired
from echo_bot.approval.gather import Asked, Surroundings, gather
from echo_bot.approval.looks import starts_code
from echo_bot.approval.routing import direct_chat
from echo_bot.config.model import Config
from echo_bot.delivery import Delivery
from echo_bot.errors import StartError
from echo_bot.events import Identity, InboundEvent
from echo_bot.files import FileDoor
from echo_bot.policy.access import is_admin
from echo_bot.policy.call import BoundFile
from echo_bot.policy.facts import Caller
from echo_bot.policy.settings import PolicySettings
from echo_bot.scheduler.firing import Firing, FiringParts
from echo_bot.scheduler.inspection import (
    Checklist,
    bring_in_line,
    checklist_reader,
    inspection_job,
    inspector,
)
from echo_bot.scheduler.job import INSPECTION, session_of, still_holds
from echo_bot.scheduler.runner import Scheduler, SchedulerSettings
from echo_bot.scheduler.runs import Runs
from echo_bot.scheduler.zones import default_zone
from echo_bot.session import TurnStarter
from echo_bot.session.pausing import Pausing
from echo_bot.storage.job_record import JobRecord
from echo_bot.storage.protocol import Jobs, Store
from echo_bot.storage.records import TurnRecord
from echo_bot.tools.builtin.cronjob import CronjobTool, FilesOf, JobDesk
from echo_bot.tools.registry import Registry
from echo_bot.tools.sites import CallSites


@dataclass(frozen=True, slots=True)
class Scheduling:
    """`start` brings the inspection in line with the configuration, then begins to run what is due.

    `runs_jobs`: those that people made; without `runs` nothing comes at all.
    """

    scheduler: Scheduler
    firing: Firing
    store: Store
    inspection: JobRecord | None
    clock: Callable[[], datetime]
    runs: bool
    runs_jobs: bool

    async def start(self) -> None:
        await bring_in_line(self.store.jobs, self.inspection, self.clock())
        if self.runs:
            await self.scheduler.start()

    async def close(self) -> None:
        await self.scheduler.close()

    async def why_over(self, turn: TurnRecord) -> str:
        """Why a turn of an earlier run of the bot may not go on, as far as jobs are concerned."""
        if turn.kind == "job" and turn.session_key != session_of(INSPECTION) and not self.runs_jobs:
            return "scheduler.enabled is false"
        return await self.firing.why_over(turn)


def build_scheduling(
    config: Config,
    settings: PolicySettings,
    store: Store,
    delivery: Delivery,
    starter: TurnStarter,
    pausing: Pausing,
    witnesses: Witnesses,
    alarm: asyncio.Event,
    runs: Runs,
    *,
    admits: Callable[[Identity], Awaitable[bool]],
    door_of: Callable[[Identity], Awaitable[FileDoor]],
    stop_processes: Callable[[str], Awaitable[int]],
) -> Scheduling:
    """Raises StartError for an inspection that cannot be."""
    inspection = config.inspection
    owner = inspector(settings.access)
    wanted = _inspection_job(config, settings, owner, witnesses.clock()) if inspection.enabled else None
    parts = FiringParts(
        jobs=store.jobs,
        turns=store.turns,
        starter=starter,
        delivery=delivery,
        settings=settings,
        audit=witnesses.audit,
        admits=admits,
        checklist=checklist_reader(inspection.file, settings.places.workspace, owner, door_of),
        end_session=stop_processes,
        identity_of=lambda path: bound_content(path).identity,
        clock=witnesses.clock,
    )
    firing = Firing(parts)
    scheduler = Scheduler(
        SchedulerSettings(
            missed_runs=config.scheduler.missed_runs,
            max_parallel=config.scheduler.max_parallel,
            runs_jobs=config.scheduler.enabled,
        ),
        store.jobs,
        firing,
        pausing,
        alarm,
        witnesses.clock,
        runs,
    )
    has_any = config.scheduler.enabled or inspection.enabled
    return Scheduling(scheduler, firing, store, wanted, witnesses.clock, has_any, config.scheduler.enabled)


def still_authorised(jobs: Jobs) -> Callable[[InboundEvent], Awaitable[bool]]:
    """For the gate: does what an event's authority rests on hold now?"""

    async def holds(event: InboundEvent) -> bool:
        authority = event.authority
        return authority is not None and still_holds(authority, await jobs.get(authority.job_id))

    return holds


def cronjob_tool(
    config: Config,
    settings: PolicySettings,
    store: Store,
    delivery: Delivery,
    sites: CallSites,
    witnesses: Witnesses,
    files_of: FilesOf,
    alarm: asyncio.Event,
) -> CronjobTool:
    async def asks_as_admin(sender: Identity) -> bool:
        return is_admin(sender, settings.access, await read_paired(witnesses.people))

    return CronjobTool(
        JobDesk(
            jobs=store.jobs,
            approvals=store.approvals,
            sites=sites,
            audit=witnesses.audit,
            is_admin=asks_as_admin,
            targets=settings.targets,
            channels=lambda address: delivery.channel(address) is not None,
            default_zone=default_zone(config.timezone),
            files_of=files_of,
            wake=alarm.set,
            clock=witnesses.clock,
        )
    )


async def scripts_of(
    instruction: str,
    owner: Identity,
    registry: Registry,
    settings: PolicySettings,
    surroundings: Surroundings,
) -> tuple[BoundFile, ...]:
    """The scripts that a direct call would run, which an approval of that call would cover too."""
    directive = read_directive(instruction, schemas_of(registry))
    if not isinstance(directive, DirectCall):
        return ()
    caller = Caller(sender=owner, address=direct_chat(owner), unattended=True)
    asked = Asked(directive.tool, directive.args)
    call = (await asyncio.to_thread(gather, asked, caller, settings, surroundings)).call
    return call.bound_files if starts_code(call) else ()


def inspection_warning(config: Config, settings: PolicySettings) -> str:
    """Why nothing will be inspected although the configuration wants it; "" else."""
    inspection = config.inspection
    if not inspection.enabled:
        return ""
    path = os.path.join(settings.places.workspace, os.path.expanduser(inspection.file))
    if os.path.isfile(path):
        return ""
    return f"inspection.file is {inspection.file}, which is not there: nothing is inspected until it is"


def _inspection_job(config: Config, settings: PolicySettings, owner: Identity, now: datetime) -> JobRecord:
    inspection = config.inspection
    checklist = Checklist(inspection.every, inspection.file, inspection.target)
    try:
        return inspection_job(checklist, owner, settings.targets, default_zone(config.timezone), now)
    except ValueError as error:
        raise StartError(f"inspection: {error}") from error
