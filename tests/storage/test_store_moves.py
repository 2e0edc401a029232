"""A chat's rows under its new id: all of them, once, and none lost where the new chat has the same."""

from __future__ import annotations

from datetime import UTC, datetime

from echo_bot.channel import inbound_event
from echo_bot.events import Address, EventId, SessionKey, TurnId
from echo_bot.session import event_from_json, event_to_json
from echo_bot.storage.records import (
    ChatMove,
    GrantRecord,
    HistoryEntry,
    OutboxRow,
    TranscriptRow,
    TurnRecord,
    TurnState,
)
from echo_bot.storage.store import SqlStore

NOW = datetime(2026, 1, 2, tzinfo=UTC)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
OLD, NEW = Address("telegram", "-1"), Address("telegram", "-2")
MOVE = ChatMove("telegram", "", "-1", "-2", SessionKey("telegram:-1"), SessionKey("telegram:-2"))


def said(address: Address, entry_id: str, text: str) -> TranscriptRow:
    return TranscriptRow(entry_id, address, "user", text, NOW, sender="telegram:7")


async def test_everything_under_the_old_id_is_under_the_new_one(store: SqlStore) -> None:
    event = inbound_event(
        event_id="e1", channel="telegram", chat_id="-1", sender_id="7", timestamp=NOW, content=()
    )
    turn = TurnRecord(
        TurnId("t1"), SessionKey("telegram:-1:7"), EventId("e1"), event_to_json(event), TurnState.QUEUED, NOW
    )
    await store.events.claim(("e1",), turn, NOW, said(OLD, "m1", "hello"))
    await store.sessions.add_history(SessionKey("telegram:-1:7"), HistoryEntry(TurnId("t1"), "[]", NOW))
    await store.outbox.put((OutboxRow("s", 0, OLD, "{}", NOW),))
    await store.grants.add(
        GrantRecord("g", "telegram:7", "d", "exec", "ls", "session", NOW, "x", "telegram:-1:7", None)
    )
    await store.values.put("todo:telegram:-1:7", "items", "[]")
    assert await store.moves.move(MOVE) == 6
    assert await store.moves.move(MOVE) == 0
    [moved] = await store.turns.unfinished()
    assert moved.session_key == "telegram:-2:7"
    assert event_from_json(moved.event_json).chat_id == "-2"
    assert [row.address for row in await store.outbox.due(NOW, 5)] == [NEW]
    assert len(await store.sessions.history(SessionKey("telegram:-2:7"), 5, LONG_AGO)) == 1
    assert await store.grants.match("telegram:7", "d", "telegram:-2:7", NOW)
    assert await store.values.list("todo:telegram:-2:7") == {"items": "[]"}
    assert [row.text for row in await store.sessions.transcript(NEW, 5)] == ["hello"]
    assert await store.moves.list() == ((OLD, "-2"),)


async def test_message_ids_that_begin_anew_lose_no_line(store: SqlStore) -> None:
    await store.sessions.put_transcript(said(OLD, "1", "before"))
    await store.sessions.put_transcript(said(NEW, "1", "after"))
    await store.moves.move(MOVE)
    rows = await store.sessions.transcript(NEW, 5)
    assert [(row.entry_id, row.text) for row in rows] == [("-1/1", "before"), ("1", "after")]


async def test_what_the_new_session_has_already_is_kept(store: SqlStore) -> None:
    await store.values.put("todo:telegram:-1", "items", "old")
    await store.values.put("todo:telegram:-2", "items", "new")
    await store.sessions.reset(SessionKey("telegram:-2"), NOW)
    await store.sessions.add_history(SessionKey("telegram:-1"), HistoryEntry(TurnId("t1"), "[]", NOW))
    await store.sessions.reset(SessionKey("telegram:-1"), NOW)
    await store.moves.move(MOVE)
    assert await store.sessions.history(SessionKey("telegram:-2"), 5, LONG_AGO) == ()
    assert await store.values.get("todo:telegram:-2", "items") == "new"


async def test_chats_that_only_begin_alike_and_other_accounts_stay(store: SqlStore) -> None:
    other = Address("telegram", "-1", account="work")
    for address in (Address("telegram", "-10"), other, Address("slack", "-1")):
        await store.sessions.put_transcript(said(address, "1", "x"))
    await store.values.put("todo:telegram:-10", "items", "x")
    assert await store.moves.move(MOVE) == 0


async def test_a_chat_that_goes_back_to_an_old_id_has_moved_nowhere(store: SqlStore) -> None:
    await store.moves.move(MOVE)
    back = ChatMove("telegram", "", "-2", "-1", SessionKey("telegram:-2"), SessionKey("telegram:-1"))
    await store.moves.move(back)
    assert await store.moves.list() == ((NEW, "-1"),)
