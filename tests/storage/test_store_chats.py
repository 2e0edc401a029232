from __future__ import annotations

from datetime import UTC, datetime, timedelta

from echo_bot.events import Address, TurnId
from echo_bot.storage.records import OutboxRow, TranscriptRow
from echo_bot.storage.store import SqlStore

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
MINE, THREAD, THEIRS = Address("api", "ci"), Address("api", "ci", "main"), Address("api", "ops")
ELSEWHERE = Address("telegram", "ci")


async def test_chats_are_listed_by_their_last_line(store: SqlStore) -> None:
    said = ((MINE, 1), (THREAD, 2), (THEIRS, 3), (ELSEWHERE, 4), (MINE, 5))
    for address, minutes in said:
        at = NOW + timedelta(minutes=minutes)
        await store.sessions.put_transcript(TranscriptRow(str(minutes), address, "user", "x", at))
    assert await store.sessions.chats("api", "ci", 9) == (
        (MINE, NOW + timedelta(minutes=5)),
        (THREAD, NOW + timedelta(minutes=2)),
    )
    assert [address for address, _ in await store.sessions.chats(None, None, 9)] == [
        MINE,
        ELSEWHERE,
        THEIRS,
        THREAD,
    ]
    assert len(await store.sessions.chats(None, None, 2)) == 2


async def test_what_a_turn_said_is_what_it_stored_and_no_other_turns(store: SqlStore) -> None:
    for source, part in (("t1:reply", 0), ("t1:reply", 1), ("t1:0:message", 0), ("t10:reply", 0), ("t:x", 0)):
        await store.outbox.put((OutboxRow(source, part, MINE, "{}", NOW),))
    rows = await store.outbox.of_turn(TurnId("t1"))
    assert [(row.source, row.part) for row in rows] == [("t1:reply", 0), ("t1:reply", 1), ("t1:0:message", 0)]
