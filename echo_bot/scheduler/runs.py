"""The runs of jobs that go on in this process, and stopping one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from echo_bot.events import Address, Identity
from echo_bot.storage.job_record import JobRecord


@dataclass(slots=True)
class Run:
    """A run in this process, with the job as it was claimed here or, `is_old`, by an earlier process."""

    job: JobRecord
    task: asyncio.Task[None]
    is_old: bool
    is_stopped: bool = False


class Runs:
    """By job. `now` gives a chat's address under its present id."""

    def __init__(self, now: Callable[[Address], Address]) -> None:
        self._now = now
        self.by_job: dict[str, Run] = {}

    def stop(self, job_id: str) -> bool:
        """A run that has not begun its turn begins none; whoever stops one that has ends the turn too.

        False when none goes on here, or it is stopped already.
        """
        run = self.by_job.get(job_id)
        if run is None or run.is_stopped:
            return False
        run.is_stopped = True
        return True

    def may_be_stopped(self, job: JobRecord, chat: Address, person: Identity, *, is_admin: bool) -> bool:
        """May this person stop it from this chat? Its owner and admins may, where it answers."""
        return self.answers_in(job, chat) and (is_admin or job.owner == str(person))

    def answers_in(self, job: JobRecord, chat: Address) -> bool:
        return self._now(job.target) == chat
