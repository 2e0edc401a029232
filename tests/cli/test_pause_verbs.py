from __future__ import annotations

import json

from echo_bot.storage.store import SqlStore
from echo_bot.testing.command_line import CommandLine


def test_pause_and_resume_change_what_is_stored_and_status_says_so(command_line: CommandLine) -> None:
    command_line.with_store(_nothing)
    assert command_line("resume").code == 1
    paused = command_line("pause")
    assert (paused.code, "everything is paused" in paused.out) == (0, True)
    assert "already" in command_line("pause").out
    assert "Paused everywhere since" in command_line("status").out
    told = json.loads(command_line("status", "--json").out)["paused"]
    assert (told["everywhere"], told["by"], told["chats"]) == (True, "cli:local", 0)
    assert command_line("resume").out.strip() == "everything goes on"
    assert "Paused" not in command_line("status").out
    assert command_line("resume").err.strip() == "nothing is paused"


def test_chats_that_are_paused_by_themselves_are_counted_and_stay_so(command_line: CommandLine) -> None:
    async def hold(store: SqlStore) -> None:
        await store.values.put(
            "paused", "telegram:1", '{"by": "telegram:1", "at": "2026-01-02T00:00:00+00:00"}'
        )

    command_line.with_store(hold)
    assert "Chats paused by themselves: 1" in command_line("status").out
    assert command_line("resume").code == 1
    assert "Chats paused by themselves: 1" in command_line("status").out


async def _nothing(store: SqlStore) -> None:
    """Makes the database."""
