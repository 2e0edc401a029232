from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from echo_bot.events import Address, Identity, SessionKey, TurnId
from echo_bot.storage.records import HistoryEntry, TranscriptRow
from echo_bot.storage.store import SqlStore

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=900)
KEY = SessionKey("web:1")
CHAT = Address("web", "1")


def at(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


def entry(number: int) -> HistoryEntry:
    return HistoryEntry(TurnId(f"t{number}"), f"[{number}]", at(number))


def line(entry_id: str, text: str, *, minutes: float = 0, sender: str = "web:1") -> TranscriptRow:
    return TranscriptRow(entry_id, CHAT, "user", text, at(minutes), sender=sender)


async def test_history_is_the_last_entries_oldest_first(store: SqlStore) -> None:
    for number in range(5):
        await store.sessions.add_history(KEY, entry(number))
    assert await store.sessions.history(KEY, 2, LONG_AGO) == (entry(3), entry(4))
    assert await store.sessions.history(KEY, 9, at(2)) == (entry(3), entry(4))
    assert await store.sessions.history(SessionKey("web:2"), 9, LONG_AGO) == ()


async def test_a_turn_adds_to_history_once(store: SqlStore) -> None:
    await store.sessions.add_history(KEY, entry(1))
    await store.sessions.add_history(KEY, replace(entry(1), messages_json="again"))
    assert await store.sessions.history(KEY, 9, LONG_AGO) == (entry(1),)


async def test_a_reset_hides_what_was_before_and_only_in_its_session(store: SqlStore) -> None:
    other = SessionKey("web:2")
    await store.sessions.add_history(KEY, entry(1))
    await store.sessions.add_history(other, entry(2))
    await store.sessions.reset(KEY, at(3))
    assert await store.sessions.history(KEY, 9, LONG_AGO) == ()
    assert await store.sessions.history(other, 9, LONG_AGO) == (entry(2),)
    await store.sessions.add_history(KEY, entry(4))
    await store.sessions.reset(KEY, at(5))
    await store.sessions.add_history(KEY, entry(6))
    assert await store.sessions.history(KEY, 9, LONG_AGO) == (entry(6),)


async def test_a_clock_set_back_hides_nothing_that_is_said_after_a_reset(store: SqlStore) -> None:
    await store.sessions.reset(KEY, at(60))
    await store.sessions.add_history(KEY, entry(1))
    assert await store.sessions.history(KEY, 9, LONG_AGO) == (entry(1),)


async def test_a_replaced_transcript_row_keeps_its_place(store: SqlStore) -> None:
    card = TranscriptRow("card", CHAT, "card", "open", at(1), card_json="{}")
    for row in (line("a", "one"), card, line("b", "two", minutes=2)):
        await store.sessions.put_transcript(row)
    closed = replace(card, text="approved", at=at(3), card_json='{"state": "approved"}')
    await store.sessions.put_transcript(closed)
    assert await store.sessions.transcript(CHAT, 9) == (line("a", "one"), closed, line("b", "two", minutes=2))
    assert await store.sessions.transcript(CHAT, 1) == (line("b", "two", minutes=2),)


async def test_threads_accounts_and_channels_are_different_chats(store: SqlStore) -> None:
    places = (CHAT, replace(CHAT, thread_id="7"), replace(CHAT, account="b"), replace(CHAT, channel="cli"))
    for place in places:
        await store.sessions.put_transcript(replace(line("a", str(place)), address=place))
    for place in places:
        assert [row.text for row in await store.sessions.transcript(place, 9)] == [str(place)]


async def test_the_chats_of_an_account_come_newest_first_and_bounded(store: SqlStore) -> None:
    thread, other = replace(CHAT, thread_id="7"), replace(CHAT, account="b")
    for minutes, place in enumerate((thread, CHAT, other)):
        await store.sessions.put_transcript(replace(line("a", "hi", minutes=minutes), address=place))
    assert await store.sessions.chats(CHAT.channel, None, 9, account="") == ((CHAT, at(1)), (thread, at(0)))
    assert await store.sessions.chats(CHAT.channel, None, 1) == ((other, at(2)),)


async def test_where_somebody_last_spoke(store: SqlStore) -> None:
    anna = Identity("web", "anna")
    elsewhere = Address("web", "2")
    await store.sessions.put_transcript(line("a", "hi", sender=str(anna)))
    await store.sessions.put_transcript(
        replace(line("b", "there", minutes=5, sender=str(anna)), address=elsewhere)
    )
    await store.sessions.put_transcript(line("c", "me too", minutes=9, sender="web:bob"))
    assert await store.sessions.last_spoke(anna) == (elsewhere, at(5))
    assert await store.sessions.last_spoke(Identity("web", "nobody")) is None
