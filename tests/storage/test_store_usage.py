from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from echo_bot.events import SessionKey
from echo_bot.storage.records import ChatMove
from echo_bot.storage.store import SqlStore
from echo_bot.storage.usage_record import Summary, UsageRow, UsageTotal

NOW = datetime(2026, 1, 2, tzinfo=UTC)
HERE = SessionKey("telegram:-1:7")
ROW = UsageRow("turn:t1:1", NOW, "2026-01-02", "openai:a", "chat", HERE, "t1", 100, 20, 60, 5_000)
MOVE = ChatMove("telegram", "", "-1", "-2", SessionKey("telegram:-1"), SessionKey("telegram:-2"))


async def test_an_answer_that_is_recorded_twice_counts_once(store: SqlStore) -> None:
    assert await store.usage.add(ROW)
    assert not await store.usage.add(replace(ROW, input_tokens=999))
    assert await store.usage.of_day("2026-01-02") == (
        UsageTotal("openai:a", "chat", 1, 100, 20, 60, 5_000, 0),
    )


async def test_totals_are_by_model_and_kind_and_an_unknown_cost_is_counted_as_such(store: SqlStore) -> None:
    await store.usage.add(ROW)
    await store.usage.add(replace(ROW, source="2", cost_nanos=None))
    await store.usage.add(replace(ROW, source="3", model="b:c", kind="worker", session_key="web:1"))
    await store.usage.add(replace(ROW, source="4", day="2026-01-03"))
    assert await store.usage.of_day("2026-01-02") == (
        UsageTotal("openai:a", "chat", 2, 200, 40, 120, 5_000, 1),
        UsageTotal("b:c", "worker", 1, 100, 20, 60, 5_000, 0),
    )
    assert [each.answers for each in await store.usage.of_session(HERE)] == [3]
    assert await store.usage.of_day("2026-01-09") == ()


async def test_seconds_of_recordings_add_up_by_themselves(store: SqlStore) -> None:
    voice = replace(ROW, model="stt:a", kind="voice", input_tokens=0, output_tokens=0, cached_tokens=0)
    await store.usage.add(replace(voice, source="v1", seconds=1.5))
    await store.usage.add(replace(voice, source="v2", seconds=4.0, cost_nanos=None))
    await store.usage.add(ROW)
    assert await store.usage.of_day("2026-01-02") == (
        UsageTotal("openai:a", "chat", 1, 100, 20, 60, 5_000, 0),
        UsageTotal("stt:a", "voice", 2, 0, 0, 0, 5_000, 1, 5.5),
    )


async def test_a_summary_is_replaced_and_a_fresh_conversation_has_none(store: SqlStore) -> None:
    first = Summary("t1", NOW, "They spoke of cats.")
    await store.summaries.put(HERE, first)
    assert await store.summaries.get(HERE) == first
    second = Summary("t9", NOW + timedelta(hours=1), "And of dogs.")
    await store.summaries.put(HERE, second)
    assert await store.summaries.get(HERE) == second
    await store.sessions.reset(HERE, NOW)
    assert await store.summaries.get(HERE) is None


async def test_both_go_with_their_chat_and_are_forgotten_with_their_age(store: SqlStore) -> None:
    await store.usage.add(ROW)
    await store.summaries.put(HERE, Summary("t1", NOW, "cats"))
    await store.moves.move(MOVE)
    there = SessionKey("telegram:-2:7")
    assert (await store.usage.of_session(there), await store.usage.of_session(HERE))[0]
    moved = await store.summaries.get(there)
    assert moved is not None
    assert moved.text == "cats"
    assert await store.retention.forget_before(NOW + timedelta(days=1)) == 2
    assert await store.usage.of_session(there) == ()
