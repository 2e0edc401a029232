from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot.errors import StorageError
from echo_bot.events import Address, ApprovalId, MessageRef, SessionKey, TurnId
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus, Ruling, Vote
from echo_bot.storage.store import SqlStore, open_store, sqlite_url

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
A1 = ApprovalId("a1")


def request(approval_id: str = "a1", *, minutes: int = 0) -> ApprovalRecord:
    return ApprovalRecord(
        approval_id=ApprovalId(approval_id),
        turn_id=TurnId("t1"),
        session_key=SessionKey("web:1"),
        kind="approval",
        requester="web:1",
        address=Address("web", "1"),
        tool="exec",
        digest="d" * 64,
        risk="exec",
        request_json='{"command": "rm -r build"}',
        offered=("once", "deny"),
        tokens=(f"{approval_id}-yes", f"{approval_id}-no"),
        status=ApprovalStatus.PENDING,
        created_at=NOW + timedelta(minutes=minutes),
        timeout_seconds=120,
    )


def approve(by: str = "web:1") -> Ruling:
    return Ruling(ApprovalStatus.APPROVED, by, "once", NOW, "fine")


async def test_attaching_twice_returns_the_stored_request_unchanged(store: SqlStore) -> None:
    assert await store.approvals.attach(request()) == request()
    again = replace(request(), digest="other", tokens=("x", "y"))
    assert await store.approvals.attach(again) == request()
    assert await store.approvals.get(A1) == request()
    assert await store.approvals.by_token("x") is None


async def test_a_token_names_its_request_and_its_decision(store: SqlStore) -> None:
    await store.approvals.attach(request())
    assert await store.approvals.by_token("a1-yes") == (request(), "once")
    assert await store.approvals.by_token("a1-no") == (request(), "deny")
    assert await store.approvals.by_token("") is None


async def test_a_token_is_never_given_to_two_requests(store: SqlStore) -> None:
    await store.approvals.attach(request())
    with pytest.raises(StorageError):
        await store.approvals.attach(replace(request("a2"), tokens=("a1-yes", "new")))
    assert await store.approvals.get(ApprovalId("a2")) is None


async def test_every_decision_on_offer_needs_its_token(store: SqlStore) -> None:
    with pytest.raises(StorageError, match="one token for each"):
        await store.approvals.attach(replace(request(), tokens=("only-one",)))


async def test_pending_requests_come_oldest_first(store: SqlStore) -> None:
    for approval_id, minutes in (("late", 5), ("early", 1), ("done", 0)):
        await store.approvals.attach(request(approval_id, minutes=minutes))
    await store.approvals.decide(ApprovalId("done"), approve())
    assert [record.approval_id for record in await store.approvals.pending()] == ["early", "late"]


async def test_a_short_id_finds_requests_of_any_status(store: SqlStore) -> None:
    for number, approval_id in enumerate(("x-abc123", "y-abc123", "z-abc123", "abc124", "abc_23")):
        await store.approvals.attach(request(approval_id, minutes=number))
    await store.approvals.decide(ApprovalId("z-abc123"), approve())
    assert [each.approval_id for each in await store.approvals.ending("abc123")] == ["z-abc123", "y-abc123"]
    assert [each.approval_id for each in await store.approvals.ending("c_23")] == ["abc_23"]
    assert await store.approvals.ending("abc999") == ()


async def test_copies_and_deadline_are_kept(store: SqlStore) -> None:
    ref = MessageRef(Address("telegram", "5", "2", "second"), "77")
    await store.approvals.attach(request())
    await store.approvals.add_copy(A1, ref)
    await store.approvals.add_copy(A1, ref)
    await store.approvals.set_deadline(A1, NOW + timedelta(minutes=2))
    expected = replace(request(), copies=(ref,), deadline=NOW + timedelta(minutes=2))
    assert await store.approvals.get(A1) == expected


async def test_a_decision_is_written_whole_and_only_once(store: SqlStore) -> None:
    await store.approvals.attach(request())
    expected = replace(
        request(),
        status=ApprovalStatus.APPROVED,
        decided_at=NOW,
        decided_by="web:1",
        decision="once",
        answer="fine",
        decision_seq=1,
    )
    assert await store.approvals.decide(A1, approve()) == expected
    assert await store.approvals.decide(A1, replace(approve("web:2"), status=ApprovalStatus.DENIED)) is None
    await store.approvals.set_deadline(A1, NOW)
    assert await store.approvals.get(A1) == expected


async def test_a_request_that_is_not_there_cannot_be_decided(store: SqlStore) -> None:
    assert await store.approvals.decide(A1, approve()) is None


@pytest.mark.parametrize("status", [ApprovalStatus.PENDING, ApprovalStatus.USED])
async def test_what_is_not_a_decision_is_refused(store: SqlStore, status: ApprovalStatus) -> None:
    await store.approvals.attach(request())
    with pytest.raises(StorageError, match="not a decision"):
        await store.approvals.decide(A1, replace(approve(), status=status))


@pytest.mark.parametrize("status", list(ApprovalStatus))
async def test_only_an_approved_call_is_used_and_only_once(store: SqlStore, status: ApprovalStatus) -> None:
    await store.approvals.attach(request())
    if status not in (ApprovalStatus.PENDING, ApprovalStatus.USED):
        await store.approvals.decide(A1, replace(approve(), status=status))
    if status is ApprovalStatus.USED:
        await store.approvals.decide(A1, approve())
        await store.approvals.use(A1)
    assert await store.approvals.use(A1) is (status is ApprovalStatus.APPROVED)
    assert not await store.approvals.use(A1)


async def test_decisions_are_heard_in_the_order_in_which_they_fell(store: SqlStore) -> None:
    for approval_id in ("a1", "a2", "a3"):
        await store.approvals.attach(request(approval_id))
    for approval_id in ("a3", "a1"):
        await store.approvals.decide(ApprovalId(approval_id), approve())
    await store.approvals.use(ApprovalId("a3"))
    heard = await store.approvals.decided_after(0)
    assert [(record.approval_id, record.decision_seq) for record in heard] == [("a3", 1), ("a1", 2)]
    assert [record.approval_id for record in await store.approvals.decided_after(1)] == ["a1"]
    assert await store.approvals.decided_after(2) == ()


async def test_of_fifty_decisions_at_once_exactly_one_wins(store: SqlStore) -> None:
    await store.approvals.attach(request())
    answers = await asyncio.gather(*(store.approvals.decide(A1, approve(f"web:{n}")) for n in range(50)))
    winners = [answer for answer in answers if answer is not None]
    assert len(winners) == 1
    assert await store.approvals.get(A1) == winners[0]


PROCESS = """
import asyncio, sys
from datetime import UTC, datetime
from echo_bot.events import ApprovalId
from echo_bot.storage.records import ApprovalStatus, Ruling
from echo_bot.storage.store import open_store

async def main(url: str, name: str) -> None:
    store = await open_store(url)
    print("ready", flush=True)
    sys.stdin.readline()
    won = []
    for n in range(30):
        ruling = Ruling(ApprovalStatus.APPROVED, name, "once", datetime.now(UTC))
        if await store.approvals.decide(ApprovalId(f"a{n}"), ruling):
            won.append(n)
    print(",".join(map(str, won)), flush=True)
    await store.close()

asyncio.run(main(*sys.argv[1:]))
"""


async def test_two_processes_never_both_decide(database: Path) -> None:
    url = sqlite_url(database)
    store = await open_store(url)
    for number in range(30):
        await store.approvals.attach(request(f"a{number}"))
    processes = [_start(url, name) for name in ("one", "two")]
    won = await asyncio.gather(*(asyncio.to_thread(_race, process) for process in processes))
    heard = await store.approvals.decided_after(0)
    await store.close()
    assert sorted([*won[0], *won[1]]) == list(range(30))
    assert [record.decision_seq for record in heard] == list(range(1, 31))


def _start(url: str, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROCESS, url, name]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _race(process: subprocess.Popen[str]) -> list[int]:
    with process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "ready\n"
        process.stdin.write("go\n")
        process.stdin.flush()
        return [int(number) for number in process.stdout.readline().strip().split(",") if number]


def vote(person: str, digest: str = "d" * 64) -> Vote:
    return Vote(person, person, digest, NOW)


async def test_votes_count_each_person_once_and_the_last_one_decides(store: SqlStore) -> None:
    await store.approvals.attach(replace(request(), quorum=2))
    first = await store.approvals.vote(A1, vote("telegram:1"), approve("telegram:1"))
    assert (first.outcome, first.record and first.record.status) == ("counted", ApprovalStatus.PENDING)
    again = await store.approvals.vote(A1, vote("telegram:1"), approve("telegram:1"))
    assert again.outcome == "repeated"
    last = await store.approvals.vote(A1, vote("telegram:2"), approve("telegram:2"))
    assert last.record is not None
    assert (last.outcome, last.record.status) == ("decided", ApprovalStatus.APPROVED)
    assert [each.voter for each in last.record.votes] == ["telegram:1", "telegram:2"]
    late = await store.approvals.vote(A1, vote("telegram:3"), approve("telegram:3"))
    assert late.outcome == "closed"


async def test_a_vote_for_another_digest_does_not_count(store: SqlStore) -> None:
    await store.approvals.attach(replace(request(), quorum=2))
    assert (await store.approvals.vote(A1, vote("telegram:1", "other"), approve())).outcome == "closed"
    record = await store.approvals.get(A1)
    assert record is not None
    assert record.votes == ()


async def test_of_many_votes_at_once_exactly_one_is_the_last(store: SqlStore) -> None:
    await store.approvals.attach(replace(request(), quorum=3))
    voted = await asyncio.gather(
        *(store.approvals.vote(A1, vote(f"telegram:{n}"), approve(f"telegram:{n}")) for n in range(8))
    )
    outcomes = [each.outcome for each in voted]
    assert (outcomes.count("counted"), outcomes.count("decided"), outcomes.count("closed")) == (2, 1, 5)


async def test_votes_are_withdrawn_only_while_the_request_is_open(store: SqlStore) -> None:
    await store.approvals.attach(replace(request(), quorum=2))
    await store.approvals.vote(A1, vote("telegram:1"), approve())
    await store.approvals.withdraw_votes(A1, frozenset({"telegram:1"}))
    record = await store.approvals.get(A1)
    assert record is not None
    assert record.votes == ()
    for number in (1, 2):
        await store.approvals.vote(A1, vote(f"telegram:{number}"), approve())
    await store.approvals.withdraw_votes(A1, frozenset({"telegram:1"}))
    decided = await store.approvals.get(A1)
    assert decided is not None
    assert len(decided.votes) == 2


async def test_a_vote_is_heard_by_another_process_like_a_decision(store: SqlStore) -> None:
    await store.approvals.attach(replace(request(), quorum=2))
    seen = await store.approvals.last_decision()
    await store.approvals.vote(A1, vote("telegram:1"), approve())
    assert [record.status for record in await store.approvals.decided_after(seen)] == [ApprovalStatus.PENDING]


async def test_an_edit_keeps_the_changed_arguments(store: SqlStore) -> None:
    await store.approvals.attach(request())
    ruling = Ruling(ApprovalStatus.EDITED, "web:1", "edit", NOW, edited_json='{"command":"ls"}')
    decided = await store.approvals.decide(A1, ruling)
    assert decided is not None
    assert (decided.status, decided.edited_json) == (ApprovalStatus.EDITED, '{"command":"ls"}')
    assert not await store.approvals.use(A1)


async def test_a_copy_on_its_way_is_known_until_it_is_placed(store: SqlStore) -> None:
    here, there = Address("telegram", "5"), Address("telegram", "6")
    await store.approvals.attach(request())
    for address in (here, there):
        await store.approvals.plan_copy(A1, address)
    record = await store.approvals.get(A1)
    assert record is not None
    assert (record.copies, record.unplaced) == ((), (here, there))
    ref = MessageRef(Address("telegram", "5", "2"), "77")
    await store.approvals.place_copy(A1, here, ref)
    await store.approvals.place_copy(A1, there, None)
    placed = await store.approvals.get(A1)
    assert placed is not None
    assert (placed.copies, placed.unplaced) == ((ref,), ())


async def test_alarms_are_kept(store: SqlStore) -> None:
    await store.approvals.attach(request())
    await store.approvals.set_alarms(A1, NOW, NOW + timedelta(minutes=1))
    record = await store.approvals.get(A1)
    assert record is not None
    assert (record.remind_at, record.escalate_at) == (NOW, NOW + timedelta(minutes=1))


async def test_a_closed_request_is_known_until_each_of_its_cards_shows_the_end(store: SqlStore) -> None:
    here, there = MessageRef(Address("telegram", "5"), "77"), MessageRef(Address("slack", "6"), "78")
    before = NOW - timedelta(days=1)
    await store.approvals.attach(request())
    for ref in (here, there):
        await store.approvals.add_copy(A1, ref)
    assert await store.approvals.unended(before) == ()
    await store.approvals.decide(A1, Ruling(ApprovalStatus.EDITED, "web:1", "edit", NOW))
    await store.approvals.copy_ended(A1, here)
    [record] = await store.approvals.unended(before)
    assert (record.copies, record.ended) == ((here, there), (here,))
    assert await store.approvals.unended(NOW) == ()
    await store.approvals.copy_ended(A1, there)
    assert await store.approvals.unended(before) == ()
    await store.approvals.explain(A1, "the new call was refused")
    assert [each.ended for each in await store.approvals.unended(before)] == [()]
