"""Documents are indexed by content and found by whoever may read them, with the lines to cite."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from echo_bot.files import FileDoor, real_rules
from echo_bot.policy.guards.paths import PathRules
from echo_bot.storage.knowledge import IndexedFile, KnowledgeIndex
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.waiting import eventually
from echo_bot.tools.knowledge import Documents, IndexRun, Stopped

DOCS = {"knowledge.paths": ["docs"]}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace" / "docs"
    folder.mkdir(parents=True)
    (folder / "install.md").write_text(
        "# Install\n\nRun make.\n\n# Restart\n\nThe server restarts by itself.\n"
    )
    (folder / "backup.txt").write_text("数据库每天凌晨自动备份到远程存储。\n")
    (folder / "page.html").write_text("<html>\n<body><p>Coffee costs three francs</p></body></html>\n")
    (folder / "code.py").write_text("restart = 'not a document'\n")
    (folder / "broken.md").write_bytes(b"restart \0 binary")
    return tmp_path / "workspace"


async def told(bot: RunningBot, tool: str, args: dict[str, Any], **where: Any) -> str:
    before = len(bot.channel.messages)
    await bot.channel.say(f"/tool {tool} {json.dumps(args, ensure_ascii=False)}", **where)
    await eventually(lambda: len(bot.channel.messages) > before, "the answer", timeout=20)
    return bot.channel.messages[before].body


async def search(bot: RunningBot, query: str, **where: Any) -> str:
    return await told(bot, "knowledge_search", {"query": query}, **where)


async def rebuild(bot: RunningBot, *paths: str) -> str:
    return await told(bot, "knowledge_index", {"action": "rebuild", **({"paths": paths} if paths else {})})


async def test_the_first_search_makes_the_index_and_cites_file_and_lines(
    tmp_path: Path, workspace: Path
) -> None:
    async with running_bot(tmp_path, DOCS) as bot:
        found = await search(bot, "when do servers restart")
        assert "docs/install.md:5-7" in found
        assert "The server restarts by itself" in found
        assert "code.py" not in found
        assert "docs/backup.txt:1-1" in await search(bot, "备份")
        assert "docs/page.html:2-2\nCoffee costs three francs" in await search(bot, "coffee cost")
        assert "say nothing like that" in await search(bot, "whales")
        status = await told(bot, "knowledge_index", {"action": "status"})
        assert "3 documents" in status
        assert "docs" in status
        assert "never" not in status


async def test_only_what_changed_is_indexed_again_and_what_is_gone_is_forgotten(
    tmp_path: Path, workspace: Path
) -> None:
    async with running_bot(tmp_path, DOCS) as bot:
        assert "3 indexed, 0 unchanged, 0 removed, 1 binary" in await rebuild(bot)
        os.utime(workspace / "docs" / "install.md", (0, 0))
        assert "0 indexed, 3 unchanged, 0 removed" in await rebuild(bot)
        (workspace / "docs" / "install.md").write_text("Ask the porter.\n")
        (workspace / "docs" / "backup.txt").unlink()
        assert "1 indexed, 1 unchanged, 1 removed" in await rebuild(bot)
        assert "docs/install.md:1-1" in await search(bot, "porter")
        assert "say nothing" in await search(bot, "restart 备份")


async def test_another_piece_size_indexes_all_again(tmp_path: Path, workspace: Path) -> None:
    async with running_bot(tmp_path, DOCS) as bot:
        await rebuild(bot)
    for document in (workspace / "docs").iterdir():
        document.touch()
    run = IndexRun(
        KnowledgeIndex(tmp_path / "state" / "knowledge.db"),
        Documents(str(workspace), (".md", ".txt", ".html"), 50),
    )
    run.add(FileDoor(real_rules(PathRules(workspace=str(workspace)))), ["docs"])
    assert run.report.changed == 3


async def test_places_named_by_a_call_are_kept_and_kept_up_to_date(tmp_path: Path, workspace: Path) -> None:
    (workspace / "notes").mkdir()
    (workspace / "notes" / "a.md").write_text("walnut cake")
    async with running_bot(tmp_path) as bot:
        assert "knowledge.paths" in await search(bot, "walnut")
        assert "knowledge.paths" in await rebuild(bot)
        assert "1 indexed" in await rebuild(bot, "notes")
        assert "notes/a.md:1-1" in await search(bot, "walnut")
        (workspace / "notes" / "b.md").write_text("hazelnut cake")
        await rebuild(bot)
        assert "notes/b.md:1-1" in await search(bot, "hazelnut")
        assert "does not exist" in await rebuild(bot, "nowhere")


async def test_a_place_that_is_configured_no_more_is_forgotten(tmp_path: Path, workspace: Path) -> None:
    async with running_bot(tmp_path, DOCS) as bot:
        await rebuild(bot)
    (workspace / "other").mkdir()
    async with running_bot(tmp_path, {"knowledge.paths": ["other"]}) as bot:
        await bot.channel.say("x")
        assert "3 removed" in await rebuild(bot)


async def test_nothing_that_the_path_policy_keeps_back_is_indexed(tmp_path: Path, workspace: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("walnut")
    (workspace / "docs" / ".env").write_text("walnut=1")
    (workspace / "docs" / "link.md").symlink_to(tmp_path / "state" / "knowledge.db")
    config = {**DOCS, "knowledge.extensions": [".md", ".env", ".db"], "tools.restrict_to_workspace": True}
    async with running_bot(tmp_path, config) as bot:
        assert "outside the workspace" in await rebuild(bot, "../outside")
        assert "bot" in await rebuild(bot, "../state")
        await rebuild(bot)
        assert "say nothing" in await search(bot, "walnut")


async def test_whoever_is_kept_to_the_workspace_finds_only_what_lies_there(
    tmp_path: Path, workspace: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "handbook.md").write_text("the walnut is in the safe")
    config = {"knowledge.paths": ["docs", str(outside)], "channels.telegram.allow_from": ["1", "*"]}
    async with running_bot(tmp_path, config) as bot:
        assert "handbook.md:1-1" in await search(bot, "walnut")
        kept_back = await search(bot, "walnut", sender_id="9", chat_id="9")
        assert "safe" not in kept_back
        assert "1 left out" in kept_back


async def test_a_damaged_index_is_made_anew_by_the_next_search(tmp_path: Path, workspace: Path) -> None:
    async with running_bot(tmp_path, DOCS) as bot:
        await search(bot, "restart")
        (tmp_path / "state" / "knowledge.db").write_bytes(os.urandom(9000))
        assert "made anew" in await told(bot, "knowledge_index", {"action": "status"})
        (tmp_path / "state" / "knowledge.db").write_bytes(os.urandom(9000))
        assert "docs/install.md:5-7" in await search(bot, "restarts")


async def test_a_gateway_for_everybody_searches_and_never_indexes(tmp_path: Path, workspace: Path) -> None:
    config = {**DOCS, "security.profile": "public_gateway", "channels.telegram.allow_from": ["*"]}
    async with running_bot(tmp_path, config) as bot:
        assert "docs/install.md" in await search(bot, "restart")
        assert "security.profile" in await rebuild(bot)


async def test_stop_ends_a_run_and_keeps_what_was_indexed(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(300):
        (workspace / "docs" / f"{number:03}.md").write_text(f"walnut {number}\n")
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    put = KnowledgeIndex.put

    def slow_put(index: KnowledgeIndex, files: list[IndexedFile]) -> None:
        put(index, files)
        loop.call_soon_threadsafe(begun.set)
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0.05), loop).result()

    monkeypatch.setattr(KnowledgeIndex, "put", slow_put)
    async with running_bot(tmp_path, DOCS) as bot:
        await bot.channel.say('/tool knowledge_index {"action": "rebuild"}')
        await asyncio.wait_for(begun.wait(), 10)
        assert "a run is under way" in await bot_status(bot)
        await bot.channel.say("/stop")
        await eventually(lambda: bot.parts.queues.total() == (0, 0), "the end of the turn")
        indexed = KnowledgeIndex(tmp_path / "state" / "knowledge.db").state().files
        assert 0 < indexed < 303


async def bot_status(bot: RunningBot) -> str:
    """The status from another chat, since the first one waits."""
    return await told(bot, "knowledge_index", {"action": "status"}, chat_id="other")


async def test_progress_is_told_in_lines(tmp_path: Path, workspace: Path) -> None:
    for number in range(520):
        (workspace / "docs" / f"{number:03}.md").write_text(f"walnut {number}\n")
    lines: list[str] = []
    run = IndexRun(
        KnowledgeIndex(tmp_path / "knowledge.db"),
        Documents(str(workspace), (".md",), 1500),
        progress=lines.append,
    )
    run.add(FileDoor(real_rules(PathRules(workspace=str(workspace)))), ["docs"])
    assert [line.split(",")[0] for line in lines] == ["250 documents read", "500 documents read"]


def test_a_stopped_run_keeps_what_it_finished(tmp_path: Path, workspace: Path) -> None:
    index = KnowledgeIndex(tmp_path / "knowledge.db")
    asked: list[int] = []

    def is_stopped() -> bool:
        asked.append(1)
        return len(asked) > 2

    run = IndexRun(index, Documents(str(workspace), (".md", ".txt", ".html"), 1500), is_stopped=is_stopped)
    door = FileDoor(real_rules(PathRules(workspace=str(workspace))))
    with pytest.raises(Stopped):
        run.add(door, ["docs"])
    assert index.state().files == run.report.changed > 0
