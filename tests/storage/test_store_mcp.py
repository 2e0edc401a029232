from __future__ import annotations

from datetime import UTC, datetime, timedelta

from echo_bot.storage.mcp_records import SeenDefinition
from echo_bot.storage.store import SqlStore

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)

ADD = SeenDefinition("add", "d1", '["add"]')
ECHO = SeenDefinition("echo", "d2", '["echo"]')


async def test_what_is_seen_is_pinned_only_by_its_own_digest(store: SqlStore) -> None:
    await store.mcp.see("git", [ADD, ECHO], NOW)
    assert not await store.mcp.pin("git", "add", "other", "first connection", NOW)
    assert not await store.mcp.pin("hub", "add", "d1", "first connection", NOW)
    assert await store.mcp.pin("git", "add", "d1", "first connection", NOW)
    add, echo = await store.mcp.list("git")
    assert (add.tool, add.is_pinned, add.pinned, add.pinned_by, add.pinned_at) == (
        "add",
        True,
        '["add"]',
        "first connection",
        NOW,
    )
    assert (echo.tool, echo.is_pinned, echo.pinned_digest, echo.pinned_at) == ("echo", False, "", None)


async def test_a_changed_definition_stands_beside_the_pinned_one(store: SqlStore) -> None:
    await store.mcp.see("git", [ADD], NOW)
    await store.mcp.pin("git", "add", "d1", "cli:local", NOW)
    await store.mcp.see("git", [SeenDefinition("add", "d9", '["add", "x"]')], LATER)
    (add,) = await store.mcp.list()
    assert (add.seen, add.pinned, add.is_pinned, add.seen_at) == ('["add", "x"]', '["add"]', False, LATER)


async def test_a_tool_that_is_gone_is_kept_only_with_its_pin(store: SqlStore) -> None:
    await store.mcp.see("git", [ADD, ECHO], NOW)
    await store.mcp.see("hub", [ECHO], NOW)
    await store.mcp.pin("git", "add", "d1", "cli:local", NOW)
    await store.mcp.see("git", [], LATER)
    assert [(each.server, each.tool) for each in await store.mcp.list()] == [("git", "add"), ("hub", "echo")]


async def test_pins_are_taken_away_one_or_all(store: SqlStore) -> None:
    await store.mcp.see("git", [ADD, ECHO], NOW)
    for each in (ADD, ECHO):
        await store.mcp.pin("git", each.tool, each.digest, "cli:local", NOW)
    assert await store.mcp.unpin("git", "echo") == 1
    assert await store.mcp.unpin("git", None) == 1
    assert await store.mcp.unpin("git", None) == 0
    assert [each.is_pinned for each in await store.mcp.list("git")] == [False, False]
