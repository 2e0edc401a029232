from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from echo_bot.errors import StorageError
from echo_bot.events import Address, EventId, SessionKey, TurnId
from echo_bot.storage.records import JournalEntry, OutboxRow, TranscriptRow, TurnEnd, TurnRecord, TurnState
from echo_bot.storage.store import SqlStore

HERE = Address("web", "1")
NOW = datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)


def turn(number: int, session: str = "web:1") -> TurnRecord:
    return TurnRecord(
        turn_id=TurnId(f"t{number}"),
        session_key=SessionKey(session),
        event_id=EventId(f"e{number}"),
        event_json=f'{{"text": "{number}"}}',
        state=TurnState.QUEUED,
        created_at=NOW,
    )


async def state_of(store: SqlStore) -> TurnState | None:
    found = await store.turns.get(TurnId("t1"))
    return found.state if found else None


async def test_a_claim_stores_the_queued_turn_exactly(store: SqlStore) -> None:
    assert await store.events.claim(("web:e1", "web:m1"), turn(1), NOW)
    assert await store.turns.get(TurnId("t1")) == replace(turn(1), order=1)


async def test_an_update_seen_under_any_of_its_ids_changes_nothing(store: SqlStore) -> None:
    assert await store.events.claim(("a", "b"), turn(1), NOW)
    assert not await store.events.claim(("new", "b"), turn(2), NOW)
    assert await store.turns.get(TurnId("t2")) is None
    assert await store.events.claim(("new",), None, NOW)


async def test_a_claim_without_ids_or_with_the_same_id_twice_is_fine(store: SqlStore) -> None:
    assert await store.events.claim(("a", "a"), turn(1), NOW)
    assert await store.events.claim((), turn(2), NOW)


async def test_a_turn_that_is_there_is_not_queued_again_after_its_ids_were_forgotten(store: SqlStore) -> None:
    assert await store.events.claim(("a",), turn(1), NOW)
    assert await store.events.forget_before(NOW + timedelta(seconds=1)) == 1
    assert not await store.events.claim(("a",), turn(1), NOW)
    assert len(await store.turns.unfinished()) == 1


async def test_only_older_ids_are_forgotten(store: SqlStore) -> None:
    await store.events.claim(("old",), None, NOW)
    await store.events.claim(("young",), None, NOW + timedelta(hours=1))
    assert await store.events.forget_before(NOW + timedelta(minutes=1)) == 1
    assert not await store.events.claim(("young",), None, NOW)


async def test_only_a_queued_turn_takes_an_edited_event(store: SqlStore) -> None:
    await store.events.claim(("a",), turn(1), NOW)
    key, event = SessionKey("web:1"), EventId("e1")
    assert await store.events.replace_queued(key, event, '{"text": "edited"}')
    assert not await store.events.replace_queued(SessionKey("web:2"), event, "{}")
    await store.turns.set_state(TurnId("t1"), TurnState.RUNNING)
    assert not await store.events.replace_queued(key, event, "{}")
    stored = await store.turns.get(TurnId("t1"))
    assert stored is not None
    assert stored.event_json == '{"text": "edited"}'


async def test_unfinished_turns_come_in_order_of_arrival(store: SqlStore) -> None:
    for number in (3, 1, 2):
        await store.events.claim((f"e{number}",), turn(number), NOW)
    await store.turns.set_state(TurnId("t1"), TurnState.DONE)
    await store.turns.set_state(TurnId("t2"), TurnState.WAITING)
    found = await store.turns.unfinished()
    assert [(record.turn_id, record.state) for record in found] == [
        ("t3", TurnState.QUEUED),
        ("t2", TurnState.WAITING),
    ]


@pytest.mark.parametrize("final", [state for state in TurnState if state.is_final])
async def test_a_final_turn_stays_as_it_is(store: SqlStore, final: TurnState) -> None:
    await store.events.claim(("a",), turn(1), NOW)
    assert await store.turns.set_state(TurnId("t1"), final, "because")
    assert not await store.turns.set_state(TurnId("t1"), TurnState.RUNNING)
    stored = await store.turns.get(TurnId("t1"))
    assert stored is not None
    assert (stored.state, stored.error) == (final, "because")


async def test_a_turn_that_is_not_there_has_no_state(store: SqlStore) -> None:
    assert not await store.turns.set_state(TurnId("nowhere"), TurnState.DONE)
    assert await store.turns.get(TurnId("nowhere")) is None


async def test_a_journal_keeps_the_first_of_each_kind_and_key_in_order(store: SqlStore) -> None:
    await store.events.claim(("a",), turn(1), NOW)
    entries = (
        JournalEntry("response", "0", "{}"),
        JournalEntry("call", "c1", "first"),
        JournalEntry("result", "c1", "r"),
    )
    for entry in entries:
        assert await store.turns.append(TurnId("t1"), entry)
    assert not await store.turns.append(TurnId("t1"), JournalEntry("call", "c1", "second"))
    found = await store.turns.journal(TurnId("t1"))
    assert tuple(replace(entry, seq=0) for entry in found) == entries
    assert [entry.seq for entry in found] == sorted(entry.seq for entry in found)


async def test_a_turn_that_begins_gets_its_journal_unless_it_is_over(store: SqlStore) -> None:
    await store.events.claim(("a",), turn(1), NOW)
    assert await store.turns.begin(TurnId("t1")) == ()
    await store.turns.append(TurnId("t1"), JournalEntry("response", "0", "{}"))
    entries = await store.turns.begin(TurnId("t1"))
    assert entries == await store.turns.journal(TurnId("t1"))
    stored = await store.turns.get(TurnId("t1"))
    assert stored is not None
    assert stored.state is TurnState.RUNNING
    await store.turns.set_state(TurnId("t1"), TurnState.STOPPED)
    assert await store.turns.begin(TurnId("t1")) is None
    assert await store.turns.begin(TurnId("nowhere")) is None


async def test_a_journal_needs_its_turn(store: SqlStore) -> None:
    with pytest.raises(StorageError):
        await store.turns.append(TurnId("nowhere"), JournalEntry("note", "1", ""))


async def test_a_time_without_a_zone_is_refused_and_nothing_is_stored(store: SqlStore) -> None:
    with pytest.raises(StorageError):
        await store.events.claim(("a",), turn(1), datetime(2026, 1, 1))
    assert await store.events.claim(("a",), turn(1), NOW)


async def test_a_further_part_joins_a_queued_turn_together_with_its_ids_and_its_line(store: SqlStore) -> None:
    row = TranscriptRow(entry_id="m1", address=HERE, role="user", text="two parts", at=NOW)
    key, event = turn(1).session_key, turn(1).event_id
    assert await store.events.claim(("a",), turn(1), NOW)
    assert await store.events.join(("b",), key, event, '{"text": "both"}', NOW, row)
    assert not await store.events.join(("b",), key, event, '{"text": "again"}', NOW, row)
    stored = await store.turns.get(TurnId("t1"))
    assert stored is not None
    assert stored.event_json == '{"text": "both"}'
    assert await store.sessions.transcript(HERE, 5) == (row,)
    await store.turns.set_state(TurnId("t1"), TurnState.RUNNING)
    assert not await store.events.join(("c",), key, event, "{}", NOW, row)
    assert await store.events.claim(("c",), None, NOW)


@pytest.mark.parametrize("how", ["put", "put_to_send"])
async def test_a_turn_ends_with_what_is_to_be_said(store: SqlStore, how: str) -> None:
    await store.events.claim(("e1",), turn(1), NOW)
    end = TurnEnd(TurnId("t1"), TurnState.FAILED, "because", "half of it")
    row = OutboxRow("t1:reply", 0, HERE, "{}", NOW)
    await getattr(store.outbox, how)((row,), end)
    ended = await store.turns.get(TurnId("t1"))
    assert ended is not None
    assert (ended.state, ended.error, ended.result) == (TurnState.FAILED, "because", "half of it")
    assert len(await store.outbox.of_turn(TurnId("t1"))) == 1


async def test_a_turn_ends_also_where_nothing_is_to_be_said(store: SqlStore) -> None:
    await store.events.claim(("e1",), turn(1), NOW)
    assert await store.outbox.put((), TurnEnd(TurnId("t1"))) == ()
    assert await state_of(store) is TurnState.DONE


async def test_what_is_said_of_a_stopped_turn_leaves_it_stopped(store: SqlStore) -> None:
    await store.events.claim(("e1",), turn(1), NOW)
    await store.turns.set_state(TurnId("t1"), TurnState.STOPPED)
    row = OutboxRow("t1:reply", 0, HERE, "{}", NOW)
    await store.outbox.put_to_send((row,), TurnEnd(TurnId("t1")))
    assert await state_of(store) is TurnState.STOPPED


async def test_a_turn_does_not_end_without_what_is_to_be_said(store: SqlStore) -> None:
    await store.events.claim(("e1",), turn(1), NOW)
    unfit = OutboxRow("t1:reply", 0, HERE, cast(str, None), NOW)
    with pytest.raises(StorageError):
        await store.outbox.put((unfit,), TurnEnd(TurnId("t1")))
    assert await state_of(store) is TurnState.QUEUED
