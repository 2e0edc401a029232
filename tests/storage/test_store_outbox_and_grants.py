from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from echo_bot.errors import StorageError
from echo_bot.events import Address
from echo_bot.storage.records import GrantRecord, OutboxRow, TranscriptRow
from echo_bot.storage.store import SqlStore

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
CHAT, OTHER = Address("web", "1"), Address("web", "1", thread_id="9")


def part(number: int, address: Address = CHAT, source: str = "t1") -> OutboxRow:
    return OutboxRow(source, number, address, f'{{"part": {number}}}', NOW)


def grant(grant_id: str = "g1") -> GrantRecord:
    return GrantRecord(grant_id, "web:1", "digest", "exec", "ls -la", "always", NOW, "web:1")


async def test_parts_are_stored_once_and_returned_in_order(store: SqlStore) -> None:
    first = await store.outbox.put((part(0), part(1)))
    assert first == (replace(part(0), row_id=1), replace(part(1), row_id=2))
    again = await store.outbox.put((part(1), part(2), replace(part(0), body_json="other")))
    assert [(row.part, row.row_id, row.body_json) for row in again] == [
        (1, 2, '{"part": 1}'),
        (2, again[1].row_id, '{"part": 2}'),
        (0, 1, '{"part": 0}'),
    ]
    assert await store.outbox.put(()) == ()


async def test_the_first_of_new_parts_is_taken_at_once_where_nothing_is_unsent(store: SqlStore) -> None:
    rows, is_taken = await store.outbox.put_to_send((part(0), part(1)))
    assert ([row.state for row in rows], is_taken) == (["sending", "queued"], True)
    behind, is_taken = await store.outbox.put_to_send((part(2),))
    assert (behind[0].state, is_taken) == ("queued", False)
    elsewhere, is_taken = await store.outbox.put_to_send((part(3, OTHER),))
    assert (elsewhere[0].state, is_taken) == ("sending", True)
    again, is_taken = await store.outbox.put_to_send((part(0, Address("web", "2")),))
    assert (again[0], is_taken) == (rows[0], False)


@pytest.mark.parametrize("due_in", [None, -HOUR, HOUR])
async def test_the_next_part_is_taken_along_if_it_is_due(store: SqlStore, due_in: timedelta | None) -> None:
    a, b, _ = await store.outbox.put((part(0), part(1), part(2)))
    if due_in is not None:
        await store.outbox.mark(b.row_id, "queued", next_try_at=NOW + due_in)
    line = TranscriptRow("m1", CHAT, "bot", "hello", NOW)
    taken = await store.outbox.sent(a.row_id, "m1", line, take_next=True)
    if due_in == HOUR:
        assert taken is None
    else:
        assert taken is not None
        assert (taken.row_id, taken.state) == (b.row_id, "sending")
        assert await store.outbox.due(NOW + HOUR, 9) == ()
    assert await store.outbox.sent(b.row_id, "m2", line) is None


async def test_each_chat_gets_its_oldest_unsent_part(store: SqlStore) -> None:
    a, b, other = await store.outbox.put((part(0), part(1), part(2, OTHER)))
    assert [row.row_id for row in await store.outbox.due(NOW, 9)] == [a.row_id, other.row_id]
    assert [row.row_id for row in await store.outbox.due(NOW, 1)] == [a.row_id]
    await store.outbox.mark(a.row_id, "sent", message_id="m1")
    assert [row.row_id for row in await store.outbox.due(NOW, 9)] == [b.row_id, other.row_id]


@pytest.mark.parametrize("waiting", [True, False], ids=["waits for its next try", "is being sent"])
async def test_nothing_overtakes_a_part_that(store: SqlStore, waiting: bool) -> None:
    a, b = await store.outbox.put((part(0), part(1)))
    if waiting:
        await store.outbox.mark(a.row_id, "queued", next_try_at=NOW + HOUR, count_try=True, error="later")
    else:
        await store.outbox.mark(a.row_id, "sending")
    assert await store.outbox.due(NOW, 9) == ()
    due = await store.outbox.due(NOW + HOUR, 9)
    assert [row.row_id for row in due] == ([a.row_id] if waiting else [])
    await store.outbox.mark(a.row_id, "dead", error="gone")
    assert [row.row_id for row in await store.outbox.due(NOW, 9)] == [b.row_id]


async def test_marks_are_kept(store: SqlStore) -> None:
    (a,) = await store.outbox.put((part(0),))
    await store.outbox.mark(a.row_id, "sending", message_id="m1", count_try=True)
    await store.outbox.mark(a.row_id, "dead", error="blocked", count_try=True)
    expected = replace(a, state="dead", tries=2, message_id="m1", error="blocked")
    assert await store.outbox.list("dead", 9) == (expected,)
    assert await store.outbox.list("queued", 9) == ()


async def test_a_crash_while_sending_leaves_an_unknown_delivery_that_blocks_nobody(store: SqlStore) -> None:
    a, b = await store.outbox.put((part(0), part(1)))
    await store.outbox.mark(a.row_id, "sending")
    assert await store.outbox.recover() == (replace(a, state="unknown"),)
    assert await store.outbox.recover() == ()
    assert [row.row_id for row in await store.outbox.due(NOW, 9)] == [b.row_id]


MATCHES = {
    "its owner and digest": (grant(), "web:1", "digest", "s", True),
    "another owner": (grant(), "web:2", "digest", "s", False),
    "another digest": (grant(), "web:1", "other", "s", False),
    "its own session": (replace(grant(), scope="session", session_key="s"), "web:1", "digest", "s", True),
    "another session": (replace(grant(), scope="session", session_key="s"), "web:1", "digest", "x", False),
    "a session grant without a session": (replace(grant(), scope="session"), "web:1", "digest", "", False),
    "an hour that runs": (replace(grant(), scope="1h", expires_at=NOW + HOUR), "web:1", "digest", "s", True),
    "an hour that ended just now": (
        replace(grant(), scope="1h", expires_at=NOW),
        "web:1",
        "digest",
        "s",
        False,
    ),
    "an hour without an end": (replace(grant(), scope="1h"), "web:1", "digest", "s", False),
}


@pytest.mark.parametrize("case", MATCHES.values(), ids=MATCHES)
async def test_a_grant_matches(store: SqlStore, case: tuple[GrantRecord, str, str, str, bool]) -> None:
    record, owner, digest, session_key, matches = case
    await store.grants.add(record)
    assert await store.grants.match(owner, digest, session_key, NOW) == (record if matches else None)


async def test_uses_are_counted_and_live_grants_listed(store: SqlStore) -> None:
    await store.grants.add(grant("g1"))
    await store.grants.add(replace(grant("g2"), owner="web:2", created_at=NOW + HOUR))
    await store.grants.add(replace(grant("g3"), scope="1h", expires_at=NOW - HOUR))
    await store.grants.count_use("g1", NOW)
    used = replace(grant("g1"), uses=1, last_used_at=NOW)
    assert [found.grant_id for found in await store.grants.list(None, NOW)] == ["g1", "g2"]
    assert await store.grants.list("web:1", NOW) == (used,)


async def test_a_revoked_grant_is_gone(store: SqlStore) -> None:
    await store.grants.add(grant())
    assert await store.grants.revoke("g1")
    assert not await store.grants.revoke("g1")
    assert await store.grants.match("web:1", "digest", "s", NOW) is None


async def test_ending_a_session_drops_its_grants_only(store: SqlStore) -> None:
    await store.grants.add(replace(grant("g1"), scope="session", session_key="s"))
    await store.grants.add(replace(grant("g2"), scope="session", session_key="x"))
    await store.grants.add(replace(grant("g3"), session_key="s"))
    assert await store.grants.end_session("s") == 1
    assert [found.grant_id for found in await store.grants.list(None, NOW)] == ["g2", "g3"]


async def test_a_grant_id_is_taken_once(store: SqlStore) -> None:
    await store.grants.add(grant())
    with pytest.raises(StorageError, match="refused"):
        await store.grants.add(replace(grant(), owner="web:2"))
