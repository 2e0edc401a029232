from __future__ import annotations

import json
from datetime import UTC, datetime

from echo_bot.delivery.body import Body
from echo_bot.events import Address
from echo_bot.storage.records import OutboxRow
from echo_bot.storage.store import SqlStore
from echo_bot.testing.command_line import CommandLine

NOW = datetime.now(UTC)


async def two_dead_and_one_queued(store: SqlStore) -> None:
    for index, text in enumerate(["first\u202e", "second " + "x" * 100, "third"]):
        body = Body("text", text).to_json()
        [row] = await store.outbox.put((OutboxRow(f"s{index}", 0, Address("telegram", "7"), body, NOW),))
        if index < 2:
            await store.outbox.mark(row.row_id, "dead", error="the chat is gone", count_try=True)


def test_undeliverable_messages_are_listed_with_their_reason(command_line: CommandLine) -> None:
    assert command_line("outbox").err == "no undeliverable messages\n"
    assert not command_line.database.exists()
    command_line.with_store(two_dead_and_one_queued)
    lines = command_line("outbox", "list").out.splitlines()
    cells = [line.split("\t") for line in lines]
    assert [(each[1], each[2], each[4], each[5]) for each in cells] == [
        ("telegram:7", "dead", "1", "the chat is gone")
    ] * 2
    assert "\u202e" not in lines[0]
    assert cells[1][6].endswith("…")
    rows = json.loads(command_line("outbox", "list", "--all", "--json").out)
    assert [row["state"] for row in rows] == ["dead", "dead", "queued"]


def test_one_is_queued_again_and_one_dropped_and_both_are_audited(command_line: CommandLine) -> None:
    command_line.with_store(two_dead_and_one_queued)
    first, second = [line.split("\t")[0] for line in command_line("outbox", "list").out.splitlines()]
    assert command_line("outbox", "retry", first).out == f"queued again: {first}\n"
    assert command_line("outbox", "drop", second).out == f"dropped: {second}\n"
    assert command_line("outbox", "drop", second).code == 1
    assert command_line("outbox", "retry", "nonsense").code == 1
    rows = json.loads(command_line("outbox", "list", "--all", "--json").out)
    assert [(row["id"], row["state"], row["tries"]) for row in rows] == [
        (int(first), "queued", 0),
        (3, "queued", 0),
    ]
    tail = command_line("audit", "tail").out
    assert "outbox_retry" in tail
    assert "outbox_drop" in tail


def test_all_of_them_at_once(command_line: CommandLine) -> None:
    command_line.with_store(two_dead_and_one_queued)
    assert len(command_line("outbox", "retry", "all").out.splitlines()) == 2
    again = command_line("outbox", "retry", "all")
    assert (again.code, again.err) == (1, "no undeliverable messages\n")
