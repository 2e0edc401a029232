"""Checkpoints belong to the turn of the conversation that began it; a turn run again leaves the history."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from echo_bot.events import EventId, SessionKey, TurnId
from echo_bot.storage.checkpoint_record import Checkpoint
from echo_bot.storage.records import ChatMove, HistoryEntry, TurnKind, TurnRecord, TurnState
from echo_bot.storage.store import SqlStore

NOW = datetime(2026, 1, 2, tzinfo=UTC)
CHAT, OTHER = SessionKey("telegram:1"), SessionKey("telegram:2")


def turn(name: str, key: SessionKey = CHAT, *, parent: str = "") -> TurnRecord:
    kind: TurnKind = "worker" if parent else "message"
    return TurnRecord(TurnId(name), key, EventId(name), "{}", TurnState.QUEUED, NOW, kind=kind, parent=parent)


def checkpoint(name: str, path: str, key: SessionKey = CHAT) -> Checkpoint:
    return Checkpoint(key, TurnId(name), path, "a" * 64, "", NOW, 3, 0o640, ("/w/new", "/w/new/er"))


async def begin(store: SqlStore, *records: TurnRecord) -> None:
    for record in records:
        assert await store.events.claim((record.turn_id,), record, NOW)


async def test_the_turn_that_wrote_last_in_the_session_comes_whole_and_in_order(store: SqlStore) -> None:
    await begin(store, turn("t1"), turn("t2"), turn("t3", OTHER))
    [first] = await store.checkpoints.add((checkpoint("t1", "/w/a"),))
    ids = await store.checkpoints.add((checkpoint("t2", "/w/b"), checkpoint("t2", "/w/a")))
    await store.checkpoints.add((checkpoint("t3", "/w/c", OTHER),))
    found = await store.checkpoints.last(CHAT)
    assert found == tuple(
        replace(checkpoint("t2", path), id=each) for path, each in zip(("/w/b", "/w/a"), ids, strict=True)
    )
    assert await store.checkpoints.drop(ids) == 2
    assert [each.id for each in await store.checkpoints.last(CHAT)] == [first]
    assert await store.checkpoints.last(SessionKey("telegram:9")) == ()


async def test_what_workers_write_belongs_to_the_turn_that_it_all_goes_back_to(store: SqlStore) -> None:
    worker, below = SessionKey("worker:t2"), SessionKey("worker:t3")
    await begin(store, turn("t1"), turn("t2", worker, parent="t1"), turn("t3", below, parent="t2"))
    await store.checkpoints.add((checkpoint("t3", "/w/a", below),))
    [found] = await store.checkpoints.last(CHAT)
    assert (found.turn_id, found.session_key) == ("t1", CHAT)


async def test_a_chat_that_moves_takes_its_checkpoints_along(store: SqlStore) -> None:
    await begin(store, turn("t1"))
    await store.checkpoints.add((checkpoint("t1", "/w/a"),))
    moved = SessionKey("telegram:-5")
    await store.moves.move(ChatMove("telegram", "", "1", "-5", CHAT, moved))
    assert [each.path for each in await store.checkpoints.last(moved)] == ["/w/a"]


async def test_a_turn_run_again_leaves_the_history_together_with_the_claim(store: SqlStore) -> None:
    await begin(store, turn("t1"))
    await store.sessions.add_history(CHAT, HistoryEntry(TurnId("t1"), "[]", NOW))
    again = turn("t2")
    assert not await store.events.claim(("t1", "new"), again, NOW, instead_of=TurnId("t1"))
    assert len(await store.sessions.history(CHAT, 10, NOW.replace(year=2020))) == 1
    assert await store.events.claim(("t2",), again, NOW, instead_of=TurnId("t1"))
    assert await store.sessions.history(CHAT, 10, NOW.replace(year=2020)) == ()


async def test_the_last_message_of_a_session_is_no_workers_turn(store: SqlStore) -> None:
    await begin(store, turn("t1"), turn("t2"), turn("t3", parent="t2"), turn("t4", OTHER))
    found = await store.turns.last_message(CHAT)
    assert found is not None
    assert found.turn_id == "t2"
    assert await store.turns.last_message(SessionKey("telegram:9")) is None
