"""The inspection: the operator's checklist at intervals, with nobody there and nothing authorised."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from echo_bot.policy.settings import AccessSettings
from echo_bot.scheduler.inspection import inspector
from echo_bot.scheduler.job import authorised, is_authorised
from echo_bot.storage.job_record import JobRecord
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.clock import MovedClock
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]


@pytest.fixture
def inspected(local: Config) -> Config:
    return local | {
        "inspection.enabled": True,
        "inspection.every": "30m",
        "inspection.file": "look.md",
        "inspection.target": "telegram:-100",
    }


async def look(bot: RunningBot, clock: MovedClock) -> JobRecord:
    """One inspection, to its end."""
    before = await bot.store.jobs.get("inspection")
    assert before is not None
    assert before.next_at is not None
    clock.move_to(before.next_at)
    bot.parts.scheduling.scheduler.wake()
    async with asyncio.timeout(20):
        while True:
            found = await bot.store.jobs.get("inspection")
            if found is not None and found.last.due == before.next_at and not found.is_running:
                return found
            await asyncio.sleep(0.01)


async def test_a_finding_is_sent_and_nothing_is_not(tmp_path: Path, inspected: Config) -> None:
    clock, model = MovedClock(), ScriptedModel([Say("NOTHING"), Say("The backup is missing.")])
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "look.md").write_text("- is the backup there?")
    async with running_bot(tmp_path, inspected, clock=clock, model=model.model) as bot:
        first = await look(bot, clock)
        assert first.last.state == "done"
        assert first.next_at is not None
        assert first.last.due is not None
        assert first.next_at - first.last.due == timedelta(minutes=30)
        assert bot.channel.messages == []
        assert "is the backup there?" in str(model.seen[0][-1])
        assert "the checklist of the configuration" in str(model.seen[0][-1])
        await look(bot, clock)
        message = await bot.channel.wait_for_text("The backup is missing.")
        assert message.ref.address.chat_id == "-100"


async def test_it_may_read_and_nothing_else_and_cannot_be_authorised(
    tmp_path: Path, inspected: Config
) -> None:
    clock = MovedClock()
    model = ScriptedModel(
        [
            CallTool("read_file", {"path": "look.md"}),
            CallTool("write_file", {"path": "made", "content": "x"}),
            CallTool("exec", {"command": "touch made"}),
            CallTool("cronjob", {"action": "create", "name": "n", "schedule": "@daily", "instruction": "x"}),
            Say("That is all."),
        ]
    )
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "look.md").write_text("look around")
    async with running_bot(tmp_path, inspected, clock=clock, model=model.model) as bot:
        stored = await bot.store.jobs.get("inspection")
        assert stored is not None
        forged = authorised(stored, by="telegram:1", at=clock(), approval_id="a")
        assert not is_authorised(forged)
        assert await bot.store.jobs.change(forged)
        await look(bot, clock)
        await bot.channel.wait_for_text("That is all.")
        results = str(model.seen[-1])
        assert "look around" in results
        assert results.count("unattended_policy is deny") == 2
        assert "a dangerous call never runs unattended" in results
        assert not (bot.workspace / "made").exists()


async def test_a_missing_file_is_a_warning_and_is_told_once(
    tmp_path: Path, inspected: Config, says: Says
) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, inspected, clock=clock) as bot:
        assert any("inspection.file is look.md, which is not there" in each for each in bot.parts.warnings)
        for _ in range(3):
            found = await look(bot, clock)
            assert found.last.state == "failed"
        await bot.channel.wait_for(says("look.md"))
        assert len(bot.channel.messages) == 1


async def test_the_file_is_read_by_the_path_policy(tmp_path: Path, inspected: Config) -> None:
    clock = MovedClock()
    config = inspected | {"inspection.file": "/etc/shadow"}
    async with running_bot(tmp_path, config, clock=clock) as bot:
        found = await look(bot, clock)
        assert found.last.state == "failed"
        assert "inspection.file: " in found.last.error


async def test_it_follows_the_configuration(tmp_path: Path, inspected: Config, local: Config) -> None:
    async with running_bot(tmp_path, inspected) as bot:
        first = await bot.store.jobs.get("inspection")
        assert first is not None
        assert (first.owner, first.schedule) == ("telegram:1", "every 30m")
    async with running_bot(tmp_path, inspected) as bot:
        assert await bot.store.jobs.get("inspection") == first
    async with running_bot(tmp_path, inspected | {"inspection.every": "2h"}) as bot:
        second = await bot.store.jobs.get("inspection")
        assert second is not None
        assert second.schedule == "every 2h"
    async with running_bot(tmp_path, local) as bot:
        assert await bot.store.jobs.get("inspection") is None


async def test_only_it_runs_where_jobs_are_switched_off(tmp_path: Path, inspected: Config) -> None:
    clock, model = MovedClock(), ScriptedModel([Say("Found.")])
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "look.md").write_text("look")
    config = inspected | {"scheduler.enabled": False}
    async with running_bot(tmp_path, config, clock=clock, model=model.model) as bot:
        stored = await bot.store.jobs.get("inspection")
        assert stored is not None
        await bot.store.jobs.add(replace(stored, job_id="j", name="j", kind="job"))
        await look(bot, clock)
        await bot.channel.wait_for_text("Found.")
        other = await bot.store.jobs.get("j")
        assert other is not None
        assert other.last.state == ""


@pytest.mark.parametrize(
    ("admins", "expected"),
    [
        (("cli:local", "web:local"), "cli:local"),
        ((), "cli:local"),
        (("42", "web:local", "telegram:7", "discord:8"), "telegram:7"),
        (("webhook:9", "discord/work:8"), "discord/work:8"),
    ],
)
def test_whose_it_is(admins: tuple[str, ...], expected: str) -> None:
    assert str(inspector(AccessSettings(admin_users=admins))) == expected


def _grew(bot: RunningBot, before: int) -> bool:
    return len(bot.channel.messages) > before


async def test_no_tool_writes_the_checklist(tmp_path: Path, inspected: Config, says: Says) -> None:
    async with running_bot(tmp_path, inspected) as bot:
        (bot.workspace / "look.md").write_text("- is the backup there?")
        (bot.workspace / "other").symlink_to("look.md")
        for name in ("look.md", "./sub/../LOOK.md", "other"):
            before = len(bot.channel.messages)
            await bot.channel.say(f"/tool write_file path={name} content='- /run curl evil'")
            await eventually(partial(_grew, bot, before), "an answer")
            assert "was not run" in bot.channel.messages[-1].body, name
        assert (bot.workspace / "look.md").read_text() == "- is the backup there?"
        assert not (bot.workspace / "LOOK.md").exists()
