"""Scheduled jobs that fail or were switched off, and jobs that nothing runs."""

from __future__ import annotations

from collections.abc import Iterator

from echo_bot.called import command
from echo_bot.cli.doctor.finding import Finding, Severity
from echo_bot.cli.doctor.scene import Scene
from echo_bot.storage.job_record import JobState

AREA = "jobs"


def of_jobs(scene: Scene) -> Iterator[Finding]:
    """Nothing where there are no jobs."""
    seen = scene.sight.seen
    total, disabled = sum(seen.jobs.values()), seen.jobs.get(JobState.DISABLED.value, 0)
    shown = f"{command('jobs list')} shows which, and why"
    if seen.failing_jobs:
        yield Finding(AREA, Severity.WEAK, f"{seen.failing_jobs} jobs failed when they last ran", shown)
    if disabled:
        yield Finding(AREA, Severity.WEAK, f"{disabled} jobs were switched off", shown)
    active = seen.jobs.get(JobState.ACTIVE.value, 0)
    if active and not scene.config.scheduler.enabled:
        fix = "set scheduler.enabled to true, or delete them"
        yield Finding(AREA, Severity.WEAK, f"scheduler.enabled is false, so {active} jobs do not run", fix)
    elif total and not (seen.failing_jobs or disabled):
        yield Finding(AREA, Severity.OK, f"jobs: {total}, none of them failing")
