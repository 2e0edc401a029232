"""Turns that other turns start: their kind and parent, what they came to, and who is not done yet."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from echo_bot.events import EventId, SessionKey, TurnId
from echo_bot.storage.records import TurnKind, TurnRecord, TurnState
from echo_bot.storage.store import SqlStore

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def turn(name: str, parent: str = "", kind: TurnKind = "worker") -> TurnRecord:
    return TurnRecord(
        turn_id=TurnId(name),
        session_key=SessionKey(f"worker:{name}"),
        event_id=EventId(name),
        event_json="{}",
        state=TurnState.QUEUED,
        created_at=NOW,
        kind=kind,
        parent=parent,
    )


async def claim(store: SqlStore, *turns: TurnRecord) -> None:
    for each in turns:
        assert await store.events.claim((each.turn_id,), each, NOW)


@pytest.mark.parametrize("kind", ["message", "worker", "workflow"])
async def test_kind_and_parent_come_back_as_they_were_stored(store: SqlStore, kind: TurnKind) -> None:
    await claim(store, turn("t", "above", kind))
    stored = await store.turns.get(TurnId("t"))
    assert stored is not None
    assert (stored.kind, stored.parent, stored.result) == (kind, "above", "")
    assert [(each.kind, each.parent) for each in await store.turns.unfinished()] == [(kind, "above")]


@pytest.mark.parametrize("state", [TurnState.DONE, TurnState.FAILED])
async def test_what_a_turn_came_to_is_kept_with_its_end_and_stays(store: SqlStore, state: TurnState) -> None:
    await claim(store, turn("t"))
    await store.turns.begin(TurnId("t"))
    text = "an answer: " + "ä" * 100_000
    assert await store.turns.set_state(TurnId("t"), state, "why", text)
    assert not await store.turns.set_state(TurnId("t"), TurnState.STOPPED, "later", "other")
    stored = await store.turns.get(TurnId("t"))
    assert stored is not None
    assert (stored.state, stored.error, stored.result) == (state, "why", text)


async def test_unfinished_children_are_a_turns_own_alone_in_order(store: SqlStore) -> None:
    await claim(store, turn("main", kind="message"), turn("other", kind="message"))
    await claim(store, turn("b", "main"), turn("a", "main"), turn("of-b", "b"), turn("o", "other"))
    await claim(store, turn("done", "main"), turn("runs", "main"))
    await store.turns.set_state(TurnId("done"), TurnState.DONE)
    await store.turns.set_state(TurnId("runs"), TurnState.RUNNING)
    children = await store.turns.unfinished_children(TurnId("main"))
    assert [each.turn_id for each in children] == ["b", "a", "runs"]
    assert [each.turn_id for each in await store.turns.unfinished_children(TurnId("b"))] == ["of-b"]
    assert await store.turns.unfinished_children(TurnId("nowhere")) == ()


async def test_a_turn_without_a_parent_is_nobodys_child(store: SqlStore) -> None:
    await claim(store, turn("t", kind="message"))
    assert await store.turns.unfinished_children(TurnId("t")) == ()
