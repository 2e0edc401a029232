"""What the doctor says of scheduled jobs and of the inspection."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from echo_bot.events import Address
from echo_bot.storage.job_record import JobRecord, JobState
from echo_bot.storage.store import SqlStore
from echo_bot.testing.command_line import CommandLine

NOW = datetime.now(UTC)
JOB = JobRecord(
    job_id="a1",
    name="backup",
    owner="telegram:1",
    origin=Address("telegram", "1"),
    memory_scope="",
    schedule="@daily",
    zone="UTC",
    set_at=NOW,
    instruction="/run true",
    target=Address("telegram", "1"),
    created_at=NOW,
)


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    line = CommandLine(tmp_path)
    line.environ |= {"ECHO_BOT_GATEWAY__PORT": "0", "ECHO_BOT_TOOLS__EXEC__HOST": "local"}
    return line


def findings(line: CommandLine, *jobs: JobRecord) -> list[tuple[str, str]]:
    async def add(store: SqlStore) -> None:
        for each in jobs:
            await store.jobs.add(each)

    line.with_store(add)
    rows = json.loads(line("doctor", "--json").out)["findings"]
    return [(row["severity"], row["what"]) for row in rows if row["area"] == "jobs"]


def test_without_jobs_nothing_is_said(line: CommandLine) -> None:
    assert findings(line) == []


def test_sound_jobs_are_sound(line: CommandLine) -> None:
    assert findings(line, JOB) == [("ok", "jobs: 1, none of them failing")]


def test_failing_and_disabled_jobs_are_named(line: CommandLine) -> None:
    off = replace(JOB, job_id="b2", name="off", state=JobState.DISABLED)
    assert findings(line, replace(JOB, failures=3), off) == [
        ("weak", "1 jobs failed when they last ran"),
        ("weak", "1 jobs were switched off"),
    ]


def test_jobs_that_nothing_runs_are_told(line: CommandLine) -> None:
    line.environ["ECHO_BOT_SCHEDULER__ENABLED"] = "false"
    assert findings(line, JOB) == [("weak", "scheduler.enabled is false, so 1 jobs do not run")]


def test_a_checklist_that_is_not_there_is_a_warning(line: CommandLine, tmp_path: Path) -> None:
    line.environ |= {
        "ECHO_BOT_WORKSPACE": str(tmp_path),
        "ECHO_BOT_INSPECTION__ENABLED": "true",
        "ECHO_BOT_INSPECTION__FILE": "look.md",
    }

    def warned() -> bool:
        rows = json.loads(line("doctor", "--json").out)["findings"]
        return any("inspection.file is look.md, which is not there" in row["what"] for row in rows)

    assert warned()
    (tmp_path / "look.md").write_text("look")
    assert not warned()
