"""cronjob by itself: an authorisation comes from a person's approval of this very call, nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot.approval.asking import Unworkable
from echo_bot.approval.request import ApprovalRequest
from echo_bot.approval.stored import request_to_json
from echo_bot.events import (
    Address,
    ApprovalId,
    EventId,
    EventType,
    Identity,
    InboundEvent,
    SessionKey,
    TurnId,
)
from echo_bot.policy.call import BoundFile, Executor
from echo_bot.policy.risk import RiskLevel
from echo_bot.scheduler.job import is_authorised
from echo_bot.scheduler.making import MOST_JOBS
from echo_bot.storage.job_record import JobRecord, JobState
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus
from echo_bot.storage.store import SqlStore, open_store, sqlite_url
from echo_bot.tools.base import ToolExecutionContext, ToolResult
from echo_bot.tools.builtin.cronjob import CronjobTool, JobDesk
from echo_bot.tools.sites import CallSite, CallSites

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HERE = Address("telegram", "100")
CREATE = {"action": "create", "name": "n", "schedule": "@daily", "instruction": "say hi", "timezone": "UTC"}


class Desk:
    """The tool over a real store; `call` runs one call as a person passed it, or as nobody did."""

    def __init__(self, store: SqlStore) -> None:
        self.store, self.sites = store, CallSites()
        self.written: list[dict[str, object]] = []
        self.woken = 0
        self.files: tuple[BoundFile, ...] = ()
        self.now = NOW
        self.tool = CronjobTool(
            JobDesk(
                jobs=store.jobs,
                approvals=store.approvals,
                sites=self.sites,
                audit=self,
                is_admin=self.is_admin,
                targets={"ops": "telegram:-100"},
                channels=lambda address: address.channel == "telegram",
                default_zone="Europe/Berlin",
                files_of=self.files_of,
                wake=self.wake,
                clock=lambda: self.now,
            )
        )

    async def record(self, kind: str, **fields: object) -> None:
        self.written.append({"kind": kind, **fields})

    async def files_of(self, instruction: str, owner: Identity) -> tuple[BoundFile, ...]:
        return self.files

    async def is_admin(self, sender: Identity) -> bool:
        return sender.sender_id == "admin"

    def wake(self) -> None:
        self.woken += 1

    async def call(
        self,
        args: Mapping[str, object],
        *,
        person: str = "1",
        source: str = "human",
        shown: Mapping[str, object] | None = None,
        **trust: object,
    ) -> ToolResult:
        """`shown`: the arguments on the card that was approved, if they are others; None for no card."""
        event = InboundEvent(
            EventId("e"), EventType.MESSAGE, HERE.channel, HERE.chat_id, person, NOW, memory_scope="scope"
        )
        approval_id = None
        if source == "human":
            approval_id = await self.approve(shown or args, event)
        site = CallSite(
            execution_id="x",
            turn_id=TurnId("t"),
            session_key=SessionKey("s"),
            call_key="0",
            requester=event.sender,
            address=HERE,
            executor=Executor.NONE,
            restricted=False,
            network=False,
            approval_id=approval_id,
            decided_by="telegram:boss" if approval_id else "",
        )
        self.sites.enter(site)
        return await self.tool.execute(dict(args), replace(context(person, source), **trust))  # type: ignore[arg-type]

    async def approve(self, args: Mapping[str, object], event: InboundEvent) -> ApprovalId:
        approval_id = ApprovalId(f"approval{len(self.written)}{self.woken}")
        plan = await self.tool.plan(args, event)  # type: ignore[arg-type]
        request = ApprovalRequest(
            approval_id=approval_id,
            tool="cronjob",
            args=args,  # type: ignore[arg-type]
            risk=RiskLevel.DANGEROUS,
            cwd="/",
            executor=Executor.NONE,
            requester=str(event.sender),
            offered=(),
            plan=plan.lines,
        )
        await self.store.approvals.attach(
            ApprovalRecord(
                approval_id=approval_id,
                turn_id=TurnId("t"),
                session_key=SessionKey("s"),
                kind="approval",
                requester=str(event.sender),
                address=HERE,
                tool="cronjob",
                digest="d",
                risk="dangerous",
                request_json=request_to_json(request),
                offered=(),
                tokens=(),
                status=ApprovalStatus.USED,
                created_at=self.now,
                timeout_seconds=60,
            )
        )
        return approval_id

    async def only(self) -> JobRecord:
        [job] = await self.store.jobs.list()
        return job


def context(person: str, source: str) -> ToolExecutionContext:
    return ToolExecutionContext(
        execution_id="x",
        trace_id="t",
        session_key="s",
        memory_scope="scope",
        user_id=f"telegram:{person}",
        agent_id="main",
        attempt_index=0,
        idempotency_key="k",
        is_replay=False,
        parent_execution_id=None,
        credentials={},
        approved_actions=frozenset(),
        approval_source=source,
        allowed_tools=frozenset(),
        channel=HERE.channel,
        chat_id=HERE.chat_id,
        reply_to_id="",
        unattended=False,
        cron_authorized=False,
        inbound_event_id="e",
    )


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    store = await open_store(sqlite_url(tmp_path / "state" / "echo-bot.db"))
    yield Desk(store)
    await store.close()


async def test_a_person_who_approves_the_call_authorises_the_job(desk: Desk) -> None:
    result = await desk.call(CREATE)
    job = await desk.only()
    assert result.success
    assert is_authorised(job)
    assert job.authority is not None
    assert (job.authority.by, job.authority.at) == ("telegram:boss", NOW)
    assert (job.owner, job.origin, job.target, job.memory_scope) == ("telegram:1", HERE, HERE, "scope")
    assert job.next_at == datetime(2026, 12, 1, tzinfo=UTC)
    assert desk.woken == 1
    assert [row["kind"] for row in desk.written] == ["job_created"]


@pytest.mark.parametrize(
    "trust",
    [
        pytest.param({"source": "auto"}, id="a policy, a grant or a trusted channel"),
        pytest.param({"unattended": True}, id="a call of an unattended turn"),
        pytest.param({"unattended": True, "cron_authorized": True}, id="a call of an authorised job"),
        pytest.param({"parent_execution_id": "p"}, id="a worker's call"),
    ],
)
async def test_whatever_passed_without_a_person_there_authorises_nothing(
    desk: Desk, trust: dict[str, object]
) -> None:
    assert (await desk.call(CREATE, **trust)).success  # type: ignore[arg-type]
    assert not is_authorised(await desk.only())
    refused = await desk.call({"action": "authorize", "name": "n"}, **trust)  # type: ignore[arg-type]
    assert not refused.success
    assert "only a person can authorise" in refused.error
    assert not is_authorised(await desk.only())


async def test_another_job_than_the_one_on_the_card_is_not_authorised(desk: Desk) -> None:
    await desk.call(CREATE, shown={**CREATE, "instruction": "something harmless"})
    assert not is_authorised(await desk.only())


@pytest.mark.parametrize(
    "change",
    [
        {"instruction": "say ho"},
        {"schedule": "@hourly"},
        {"timezone": "Asia/Tokyo"},
        {"target": "ops"},
        {"instruction": "say hi"},
    ],
)
async def test_any_change_takes_the_authorisation_away(desk: Desk, change: dict[str, object]) -> None:
    await desk.call(CREATE)
    assert (await desk.call({"action": "update", "name": "n", **change})).success
    assert not is_authorised(await desk.only())
    assert (await desk.call({"action": "authorize", "name": "n"})).success
    assert is_authorised(await desk.only())
    assert (await desk.call({"action": "revoke", "name": "n"})).success
    assert not is_authorised(await desk.only())


@pytest.mark.parametrize(
    "change",
    [
        {"instruction": "rm -rf"},
        {"schedule": "@hourly"},
        {"zone": "Asia/Tokyo"},
        {"target": Address("telegram", "666")},
        {"set_at": NOW + timedelta(days=1)},
        {"owner": "telegram:admin"},
        {"kind": "inspection"},
        {"job_id": "other"},
    ],
)
async def test_the_authorisation_binds_each_part_of_the_job(desk: Desk, change: dict[str, object]) -> None:
    await desk.call(CREATE)
    job = await desk.only()
    assert is_authorised(job)
    assert not is_authorised(replace(job, **change))  # type: ignore[arg-type]


async def test_pausing_and_going_on_keep_the_authorisation(desk: Desk) -> None:
    await desk.call(CREATE)
    await desk.call({"action": "pause", "name": "n"})
    paused = await desk.only()
    assert (paused.state, paused.next_at) == (JobState.PAUSED, None)
    desk.now += timedelta(days=9)
    await desk.call({"action": "resume", "name": "n"})
    job = await desk.only()
    assert is_authorised(job)
    assert job.next_at == datetime(2026, 12, 10, tzinfo=UTC)


async def test_a_moment_that_passed_while_somebody_was_asked_is_told(desk: Desk) -> None:
    words = {**CREATE, "schedule": "in 5 minutes"}
    event = InboundEvent(EventId("e"), EventType.MESSAGE, "telegram", "100", "1", NOW)
    approval_id = await desk.approve(words, event)
    desk.now += timedelta(minutes=6)
    desk.sites.enter(
        CallSite(
            "x",
            TurnId("t"),
            SessionKey("s"),
            "0",
            event.sender,
            HERE,
            Executor.NONE,
            False,
            False,
            approval_id,
        )
    )
    result = await desk.tool.execute(dict(words), context("1", "human"))
    assert "passed while somebody was being asked" in result.error


async def test_a_name_is_free_again_once_its_job_is_over(desk: Desk) -> None:
    await desk.call({**CREATE, "schedule": "in 5 minutes"})
    with pytest.raises(Unworkable, match="there is a job named n already"):
        await desk.call(CREATE)
    assert "there is a job named n already" in (await desk.call(CREATE, source="auto")).error
    over = replace(await desk.only(), state=JobState.DONE, next_at=None)
    await desk.store.jobs.change(over)
    assert (await desk.call(CREATE)).success
    assert (await desk.only()).schedule == "@daily"


async def test_one_person_has_so_many_jobs_and_no_more(desk: Desk) -> None:
    for number in range(MOST_JOBS):
        await desk.call({**CREATE, "name": f"n{number}"}, source="auto")
    refused = await desk.call(CREATE, source="auto")
    assert f"at most {MOST_JOBS} jobs" in refused.error
    assert (await desk.call(CREATE, source="auto", person="2")).success


async def test_others_find_no_job_and_an_admin_names_one_by_its_id_where_a_name_means_two(desk: Desk) -> None:
    await desk.call(CREATE)
    await desk.call(CREATE, person="2")
    mine, other = sorted(await desk.store.jobs.list(), key=lambda job: job.owner)
    assert (
        "there is no job"
        in (await desk.call({"action": "delete", "name": "n"}, person="3", source="auto")).error
    )
    assert "- n (" in (await desk.call({"action": "list"}, source="auto")).output
    assert other.job_id not in (await desk.call({"action": "list"}, source="auto")).output
    both = await desk.call({"action": "delete", "name": "n"}, person="admin", source="auto")
    assert "name one by its id" in both.error
    assert (
        await desk.call({"action": "delete", "name": other.job_id}, person="admin", source="auto")
    ).success
    assert await desk.only() == mine


async def test_the_inspection_is_nobodys_to_change(desk: Desk) -> None:
    await desk.call(CREATE)
    await desk.store.jobs.add(replace(await desk.only(), job_id="inspection", name="look", kind="inspection"))
    refused = await desk.call({"action": "authorize", "name": "look"}, person="admin", source="auto")
    assert "there is no job" in refused.error
