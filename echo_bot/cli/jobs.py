"""`echo-bot jobs`: list scheduled jobs, look at one, hold it, run it now, delete it."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from echo_bot.called import command
from echo_bot.cli.guarded import refuse_inside_bot
from echo_bot.cli.state import State, config_option, find_place, is_empty, json_option, run_with, utc_now
from echo_bot.cli.table import print_table

if TYPE_CHECKING:
    from echo_bot.storage.job_record import JobRecord

T = TypeVar("T")

NEGATIVE = 1
_BY = "cli:local"


class _Negative(Exception):
    """The answer is no; the sentence says why."""


@click.group()
def jobs() -> None:
    """List scheduled jobs, look at one, hold it, run it now, delete it.

    A job is made in a chat, where a person approves what it may do.
    """


@jobs.command("list")
@config_option
@json_option
@click.option("--owner", help="Only those of one person, as channel:id.")
def list_(config_path: Path | None, as_json: bool, owner: str | None) -> None:
    """All jobs, oldest first."""
    place = find_place(config_path)
    refuse_inside_bot(place.database)

    async def read(state: State) -> list[dict[str, object]]:
        return [_row(job, state.mask.mask) for job in await state.store.jobs.list(owner)]

    rows = [] if is_empty(place) else run_with(place, read)
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False))
    elif rows:
        headings = ("id", "name", "owner", "state", "when", "next", "authorised", "last")
        print_table(headings, [_cells(row) for row in rows])
    else:
        click.echo("no jobs", err=True)


@jobs.command()
@config_option
@json_option
@click.argument("job_id", metavar="ID")
def show(config_path: Path | None, as_json: bool, job_id: str) -> None:
    """Everything about one job."""

    async def read(state: State, job: JobRecord) -> dict[str, object]:
        return _row(job, state.mask.mask)

    row = _with_job(config_path, job_id, read)
    if as_json:
        click.echo(json.dumps(row, ensure_ascii=False))
        return
    for name, value in row.items():
        click.echo(f"{name.replace('_', ' ')}: {_shown(value)}")


@jobs.command()
@config_option
@click.argument("job_id", metavar="ID")
def delete(config_path: Path | None, job_id: str) -> None:
    """Delete a job; a run of it that goes on is stopped."""

    async def remove(state: State, job: JobRecord) -> str:
        if job.kind == "inspection":
            raise _Negative("the inspection follows the configuration: set inspection.enabled to false")
        if not await state.store.jobs.delete(job.job_id):
            raise _Negative(f"{job.job_id} is gone already")
        await _noted(state, "job_deleted", job)
        return f"deleted {job.name}"

    click.echo(_with_job(config_path, job_id, remove))


@jobs.command()
@config_option
@click.argument("job_id", metavar="ID")
def pause(config_path: Path | None, job_id: str) -> None:
    """Hold a job until it is resumed; a run that goes on comes to its end."""

    async def hold(state: State, job: JobRecord) -> str:
        from echo_bot.storage.job_record import JobState

        if job.state is not JobState.ACTIVE:
            raise _Negative(f"{job.name} is {job.state.value}")
        await _changed(state, replace(job, state=JobState.PAUSED, next_at=None))
        await _noted(state, "job_paused", job)
        return f"paused {job.name}"

    click.echo(_with_job(config_path, job_id, hold))


@jobs.command()
@config_option
@click.argument("job_id", metavar="ID")
def resume(config_path: Path | None, job_id: str) -> None:
    """Let a job go on that was paused or switched off. It keeps the authorisation that it has."""

    async def go_on(state: State, job: JobRecord) -> str:
        from echo_bot.scheduler.making import resumed_job
        from echo_bot.scheduler.telling import when

        try:
            resumed = resumed_job(job, utc_now())
        except ValueError as error:
            raise _Negative(str(error)) from error
        await _changed(state, resumed)
        await _noted(state, "job_resumed", job)
        return f"{job.name} goes on: {when(resumed)}"

    click.echo(_with_job(config_path, job_id, go_on))


@jobs.command()
@config_option
@click.argument("job_id", metavar="ID")
def run(config_path: Path | None, job_id: str) -> None:
    """Run a job now, with the authority that it has; while no bot runs, at its next start."""

    async def ask(state: State, job: JobRecord) -> str:
        from echo_bot.storage.job_record import JobState

        if job.state is JobState.DISABLED:
            raise _Negative(f"{job.name} is switched off: {job.note}")
        if not await state.store.jobs.ask(job.job_id, utc_now()):
            raise _Negative(f"{job.name} runs already")
        await _noted(state, "job_triggered", job)
        return f"{job.name} runs as soon as a bot does; its answer goes to {job.target}"

    click.echo(_with_job(config_path, job_id, ask))


def _with_job(config_path: Path | None, job_id: str, work: Callable[[State, JobRecord], Awaitable[T]]) -> T:
    """Do something with one job. Exits with 1 where the answer is no."""
    place = find_place(config_path)
    refuse_inside_bot(place.database)

    async def find(state: State) -> T:
        return await work(state, await _found(state, job_id))

    try:
        if is_empty(place):
            raise _Negative(f"there is no job {job_id}")
        return run_with(place, find)
    except _Negative as answer:
        click.echo(f"{answer}; `{command('jobs list')}` shows the jobs", err=True)
        sys.exit(NEGATIVE)


async def _found(state: State, wanted: str) -> JobRecord:
    """By id, or by a name that only one job has."""
    everything = await state.store.jobs.list()
    found = [job for job in everything if job.job_id == wanted]
    found = found or [job for job in everything if job.name == wanted]
    if not found:
        raise _Negative(f"there is no job {wanted}")
    if len(found) > 1:
        raise _Negative(f"several people have a job {wanted}, so name it by its id")
    return found[0]


async def _changed(state: State, job: JobRecord) -> None:
    if not await state.store.jobs.change(job):
        raise _Negative(f"{job.name} was changed at the same time, so try again")


async def _noted(state: State, kind: str, job: JobRecord) -> None:
    from echo_bot.bus.protocol import JOBS_TOPIC

    await state.bus.notify(JOBS_TOPIC, job.job_id)
    await state.audit.record(kind, job=job.job_id, name=job.name, owner=job.owner, by=_BY)


def _row(job: JobRecord, mask: Callable[[str], str]) -> dict[str, object]:
    from echo_bot.approval.escape import escape_line
    from echo_bot.scheduler.job import is_authorised
    from echo_bot.scheduler.telling import when

    authority = job.authority if is_authorised(job) else None
    return {
        "id": job.job_id,
        "kind": job.kind,
        "name": escape_line(job.name),
        "owner": job.owner,
        "state": job.state.value,
        "note": escape_line(mask(job.note)),
        "when": when(job),
        "schedule": escape_line(job.schedule),
        "zone": job.zone,
        "next_at": job.next_at.isoformat() if job.next_at else None,
        "instruction": escape_line(mask(job.instruction)),
        "target": str(job.target),
        "authorised": authority is not None,
        "authorised_by": authority.by if authority else None,
        "authorised_at": authority.at.isoformat() if authority else None,
        "last_state": job.last.state,
        "last_due": job.last.due.isoformat() if job.last.due else None,
        "last_ended_at": job.last.ended_at.isoformat() if job.last.ended_at else None,
        "last_error": escape_line(mask(job.last.error)),
        "last_note": job.last.note,
        "failures": job.failures,
        "created_at": job.created_at.isoformat(),
    }


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value in (None, "") else str(value)


def _cells(row: dict[str, object]) -> tuple[str, ...]:
    following = str(row["next_at"] or "-")[:16].replace("T", " ")
    values = (row["id"], row["name"], row["owner"], row["state"], row["when"], following)
    return (*map(str, values), _shown(row["authorised"]), _shown(row["last_state"]))
