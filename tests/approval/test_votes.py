"""Quorum × who × what: what a sequence of decisions comes to, with the real store and the real rules."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from echo_bot.approval.approvers import Approvers
from echo_bot.approval.deciding import Decider
from echo_bot.approval.request import ApprovalRequest, Choice
from echo_bot.approval.stored import request_to_json
from echo_bot.audit import Audit
from echo_bot.events import Address, ApprovalId, Identity, SessionKey, TurnId
from echo_bot.policy.call import Executor
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import ApprovalSettings, PolicySettings
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus
from echo_bot.storage.store import SqlStore, open_store, sqlite_url

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
PEOPLE = {
    "ann": "telegram:1",
    "bob": "telegram:2",
    "cat": "telegram:3",
    "me": "cli:local",
    "page": "web:local",
}
STRANGER = "telegram:666"
OFFERED = (Choice.ONCE, Choice.DENY)
P, A, D = ApprovalStatus.PENDING, ApprovalStatus.APPROVED, ApprovalStatus.DENIED


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    store = await open_store(sqlite_url(tmp_path / "votes.db"))
    yield store
    await store.close()


def record(quorum: int) -> ApprovalRecord:
    request = ApprovalRequest(
        approval_id=ApprovalId("approval-abc123"),
        tool="exec",
        args={"command": "ls"},
        risk=RiskLevel.EXEC,
        cwd="/w",
        executor=Executor.SANDBOX,
        requester="telegram:1",
        offered=OFFERED,
    )
    return ApprovalRecord(
        approval_id=request.approval_id,
        turn_id=TurnId("t"),
        session_key=SessionKey("s"),
        kind="approval",
        requester="telegram:1",
        address=Address("telegram", "1"),
        tool="exec",
        digest="d",
        risk="exec",
        request_json=request_to_json(request),
        offered=tuple(choice.value for choice in OFFERED),
        tokens=("yes", "no"),
        status=P,
        created_at=NOW,
        timeout_seconds=120,
        quorum=quorum,
    )


def decider(store: SqlStore, *, four_eyes: bool) -> Decider:
    approval = ApprovalSettings(
        approvers=tuple(PEOPLE.values()),
        requester_may_approve={RiskLevel.EXEC: not four_eyes},
    )
    approvers = Approvers(
        PolicySettings(approval=approval), store.people, store.sessions, running=frozenset, clock=lambda: NOW
    )
    return Decider(store, approvers, Audit(store.audit, "test", None, lambda: NOW, mask=str), lambda: NOW)


@pytest.mark.parametrize(
    ("quorum", "four_eyes", "steps", "expected"),
    [
        (1, False, "ann+", A),
        (1, True, "ann+", P),
        (1, True, "ann+ bob+", A),
        (1, True, "ann-", P),
        (1, False, "stranger+ stranger-", P),
        (2, False, "ann+", P),
        (2, False, "ann+ ann+", P),
        (2, False, "ann+ bob+", A),
        (2, True, "ann+ bob+", P),
        (2, True, "ann+ bob+ cat+", A),
        (2, False, "me+ page+", P),
        (2, False, "me+ page+ bob+", A),
        (2, False, "ann+ bob-", D),
        (2, False, "ann+ ann-", D),
        (2, False, "bob- ann+ cat+", D),
        (2, False, "ann+ stranger+", P),
        (3, False, "ann+ bob+", P),
        (3, False, "ann+ bob+ bob+ cat+", A),
        (3, True, "ann+ bob+ cat+ page+", A),
        (3, True, "ann+ bob+ cat+ ann+", P),
    ],
)
async def test_a_sequence_of_decisions(
    store: SqlStore, quorum: int, four_eyes: bool, steps: str, expected: ApprovalStatus
) -> None:
    await store.approvals.attach(record(quorum))
    decides = decider(store, four_eyes=four_eyes)
    for step in steps.split():
        who = Identity.parse(PEOPLE.get(step[:-1], STRANGER))
        await decides.decide("abc123", Choice.ONCE if step.endswith("+") else Choice.DENY, who)
    found = await store.approvals.get(ApprovalId("approval-abc123"))
    assert found is not None
    assert found.status is expected


async def test_a_decision_that_is_not_offered_is_none(store: SqlStore) -> None:
    await store.approvals.attach(replace(record(2), offered=("once", "deny")))
    decided = await decider(store, four_eyes=False).decide(
        "abc123", Choice.ALWAYS, Identity.parse("telegram:1")
    )
    assert (decided.reply.ok, "not offered" in decided.reply.text) == (False, True)
