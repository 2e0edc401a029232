from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from echo_bot.approval.request import ApprovalRequest, Choice
from echo_bot.approval.stored import request_to_json
from echo_bot.bus.process import ProcessId
from echo_bot.bus.protocol import DECISIONS_TOPIC
from echo_bot.bus.sqlite import SqliteBus
from echo_bot.events import Address, ApprovalId, SessionKey, TurnId
from echo_bot.policy.call import Executor
from echo_bot.policy.risk import RiskLevel
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus
from echo_bot.storage.store import SqlStore
from echo_bot.testing.command_line import CommandLine

NOW = datetime.now(UTC)
FULL_ID = "approval-0000-abc123"
OFFERED = (Choice.ONCE, Choice.SESSION, Choice.HOUR, Choice.ALWAYS, Choice.DENY)


def record(approval_id: str = FULL_ID, offered: tuple[Choice, ...] = OFFERED) -> ApprovalRecord:
    request = ApprovalRequest(
        approval_id=ApprovalId(approval_id),
        tool="exec",
        args={"command": "rm -r build"},
        risk=RiskLevel.EXEC,
        cwd="/home/anna",
        executor=Executor.SANDBOX,
        requester="cli:local",
        offered=offered,
        summary="exec rm -r build\u202e\nfake",
    )
    return ApprovalRecord(
        approval_id=ApprovalId(approval_id),
        turn_id=TurnId("t1"),
        session_key=SessionKey("cli:local"),
        kind="approval",
        requester="cli:local",
        address=Address("cli", "local"),
        tool="exec",
        digest="d",
        risk="exec",
        request_json=request_to_json(request),
        offered=tuple(choice.value for choice in offered),
        tokens=tuple(f"{approval_id}-{choice.value}" for choice in offered),
        status=ApprovalStatus.PENDING,
        created_at=NOW,
        timeout_seconds=120,
        deadline=NOW + timedelta(hours=9),
    )


@pytest.fixture
def asked(command_line: CommandLine) -> CommandLine:
    """A data folder with one open request."""
    command_line.with_store(lambda store: store.approvals.attach(record()))
    return command_line


def stored(command_line: CommandLine) -> ApprovalRecord:
    found = command_line.with_store(lambda store: store.approvals.get(ApprovalId(FULL_ID)))
    assert found is not None
    return found


def test_nothing_open_is_said_on_stderr_and_makes_no_database(command_line: CommandLine) -> None:
    answer = command_line("approvals", "list")
    assert (answer.code, answer.out, answer.err) == (0, "", "no open approvals\n")
    assert command_line("approvals", "list", "--json").out == "[]\n"
    assert command_line("approvals", "approve", "abc123").code == 1
    assert not command_line.database.exists()


def test_open_requests_are_one_plain_line_each(asked: CommandLine) -> None:
    (line,) = asked("approvals", "list").out.splitlines()
    short_id, risk, _age, _left, requester, summary = line.split("\t")
    assert (short_id, risk, requester) == ("abc123", "exec", "cli:local")
    assert summary.startswith("exec rm -r build")
    assert "\u202e" not in summary


def test_the_listing_as_json(asked: CommandLine) -> None:
    (row,) = json.loads(asked("approvals", "list", "--json").out)
    assert row["id"] == FULL_ID
    assert row["short_id"] == "abc123"
    assert row["deadline"] == (NOW + timedelta(hours=9)).isoformat()
    assert row["offered"] == [choice.value for choice in OFFERED]


@pytest.mark.parametrize("reference", [FULL_ID, "abc123"], ids=["the whole id", "the short id"])
def test_approving_decides_as_the_local_person_by(asked: CommandLine, reference: str) -> None:
    answer = asked("approvals", "approve", reference)
    assert (answer.code, answer.out) == (0, "Approved once.\n")
    decided = stored(asked)
    assert (decided.status, decided.decision, decided.decided_by) == (
        ApprovalStatus.APPROVED,
        "once",
        "cli:local",
    )


@pytest.mark.parametrize("scope", ["session", "1h", "always"])
def test_a_scope_leaves_a_grant(asked: CommandLine, scope: str) -> None:
    assert asked("approvals", "approve", "abc123", scope).code == 0
    (grant,) = json.loads(asked("grants", "list", "--json").out)
    assert (grant["scope"], grant["owner"], grant["created_by"]) == (scope, "cli:local", "cli:local")


def test_an_unknown_scope_decides_nothing(asked: CommandLine) -> None:
    answer = asked("approvals", "approve", "abc123", "forever")
    assert answer.code == 2
    assert "forever" in answer.err
    assert stored(asked).status is ApprovalStatus.PENDING


def test_denying_keeps_the_reason(asked: CommandLine) -> None:
    assert asked("approvals", "deny", "abc123", "not", "today").code == 0
    decided = stored(asked)
    assert (decided.status, decided.answer) == (ApprovalStatus.DENIED, "not today")


@pytest.mark.parametrize("reference", [FULL_ID, "abc123"], ids=["by the whole id", "by the short id"])
def test_a_second_decision_hears_of_the_first(asked: CommandLine, reference: str) -> None:
    asked("approvals", "deny", FULL_ID)
    answer = asked("approvals", "approve", reference)
    assert answer.code == 1
    assert "denied by cli:local" in answer.err
    assert stored(asked).status is ApprovalStatus.DENIED


def test_a_choice_that_is_not_offered_is_refused(command_line: CommandLine) -> None:
    only = (Choice.ONCE, Choice.DENY)
    command_line.with_store(lambda store: store.approvals.attach(record(offered=only)))
    answer = command_line("approvals", "approve", "abc123", "always")
    assert answer.code == 1
    assert "not offered" in answer.err
    assert stored(command_line).status is ApprovalStatus.PENDING


def test_a_decision_is_audited_and_the_chain_is_sound(asked: CommandLine) -> None:
    asked("approvals", "approve", "abc123")
    rows = [json.loads(line) for line in asked("audit", "tail", "--json").out.splitlines()]
    assert [row["kind"] for row in rows] == ["audit_opened", "decision"]
    assert rows[1]["fields"]["by"] == "cli:local"
    assert asked("audit", "verify").code == 0


def test_only_approvers_may_decide(asked: CommandLine) -> None:
    asked.environ["ECHO_BOT_PERMISSIONS__APPROVAL__APPROVERS"] = '["telegram:7"]'
    answer = asked("approvals", "approve", "abc123")
    assert answer.code == 1
    assert stored(asked).status is ApprovalStatus.PENDING


def test_the_running_bot_hears_of_the_decision(asked: CommandLine) -> None:
    async def listen() -> str:
        bus = SqliteBus(asked.database, lambda: datetime.now(UTC), poll_seconds=0.02)
        await bus.open()
        heard = bus.subscribe(DECISIONS_TOPIC)
        deciding = asyncio.create_task(asyncio.to_thread(asked, "approvals", "approve", "abc123"))
        async with asyncio.timeout(30):
            signal = await anext(aiter(heard))
        await deciding
        await bus.close()
        return signal.payload

    assert asyncio.run(listen()) == FULL_ID


def hold_folder(command_line: CommandLine, holder: ProcessId) -> None:
    async def hold(store: SqlStore) -> None:
        bus = SqliteBus(store.path, lambda: datetime.now(UTC))
        await bus.open()
        await bus.lease("bot", str(holder), 3600)
        await bus.close()

    command_line.with_store(hold)


VERBS = {
    "approvals list": ("approvals", "list"),
    "approvals approve": ("approvals", "approve", "abc123"),
    "approvals deny": ("approvals", "deny", "abc123"),
    "grants list": ("grants", "list"),
    "grants revoke": ("grants", "revoke", "g"),
    "credentials set": ("credentials", "set", "models.api_key"),
    "credentials list": ("credentials", "list"),
    "credentials delete": ("credentials", "delete", "models.api_key"),
    "credentials rotate": ("credentials", "rotate"),
    "pair": ("pair", "--admin"),
    "pause": ("pause",),
    "resume": ("resume",),
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_what_the_bot_started_may_not_use(asked: CommandLine, verb: tuple[str, ...]) -> None:
    parent = replace(ProcessId.current(), pid=os.getppid(), started="")
    hold_folder(asked, parent)
    answer = asked(*verb, stdin="value")
    assert answer.code == 2
    assert "a person has to" in answer.err
    assert stored(asked).status is ApprovalStatus.PENDING


def test_a_bot_whose_processes_cannot_be_seen_refuses_too(asked: CommandLine) -> None:
    hold_folder(asked, replace(ProcessId.current(), place="elsewhere 1 pid:[1]"))
    answer = asked("approvals", "approve", "abc123")
    assert answer.code == 2
    assert "cannot see whether" in answer.err


def test_a_bot_that_is_no_parent_does_not_stand_in_the_way(asked: CommandLine) -> None:
    hold_folder(asked, replace(ProcessId.current(), started="1"))
    assert asked("approvals", "approve", "abc123").code == 0


def test_an_approval_that_is_one_of_several_is_kept_and_listed(command_line: CommandLine) -> None:
    several = replace(record(offered=(Choice.ONCE, Choice.DENY)), quorum=2)
    command_line.with_store(lambda store: store.approvals.attach(several))
    answer = command_line("approvals", "approve", "abc123")
    assert (answer.code, answer.out) == (0, "Your approval counts; 1 more needed before it runs.\n")
    assert stored(command_line).status is ApprovalStatus.PENDING
    [row] = json.loads(command_line("approvals", "list", "--json").out)
    assert (row["quorum"], row["approved_by"]) == (2, ["cli:local"])
    assert "(1 of 2 approved: cli:local)" in command_line("approvals", "list").out
    again = command_line("approvals", "approve", "abc123")
    assert (again.code, again.err) == (1, "You already approved this; 1 more needed.\n")
    assert command_line("approvals", "deny", "abc123").code == 0
    assert stored(command_line).status is ApprovalStatus.DENIED
