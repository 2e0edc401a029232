"""`kill -9` before any write of a turn with workers: it ends all the same, and nothing is done twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from echo_bot.approval.request import Choice
from echo_bot.events import BlockType, ContentBlock, EventId, EventType, Identity, InboundEvent, TurnId
from echo_bot.session import turn_id_of
from echo_bot.storage.records import TurnState
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.cast import Cast
from echo_bot.testing.scripted_model import CallTool, Say
from echo_bot.testing.waiting import PATIENCE_SECONDS

pytestmark = [
    pytest.mark.timeout(600),
    # The child uses none of the threads that other tests may have left behind.
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

EVERY = int(os.environ.get("ECHO_BOT_KILL_EVERY", "13"))
"""Each so manieth write is a point where the bot is killed; 1 tries them all."""

ENDED = {TurnState.DONE, TurnState.FAILED, TurnState.UNKNOWN}
NAMES = frozenset({"first", "second", "below", "behind"})
WRITES = {
    "events": ("claim",),
    "turns": ("begin", "set_state", "append"),
    "approvals": ("attach", "decide", "use"),
    "sessions": ("add_history",),
    "outbox": ("put",),
    "audit": ("append",),
}


MARK_TOOL = """
from pathlib import Path
from echo_bot.tools import Tool, ToolResult

class MarkTool(Tool):
    name = "mark"
    description = "Leave a line for each time it ran."
    parameters = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}

    async def execute(self, params, ctx=None):
        with Path("MARKS").open("a") as file:
            file.write(params["name"] + "\\n")
        return ToolResult(success=True, output="marked")
"""
"""The effect that is counted. The write that follows it is that of its result."""


EVENT = InboundEvent(
    event_id=EventId("e1"),
    event_type=EventType.MESSAGE,
    channel="telegram",
    chat_id="1",
    sender_id="1",
    timestamp=datetime(2026, 1, 1, tzinfo=UTC),
    content=(ContentBlock(BlockType.TEXT, "go"),),
)
UNKNOWN = "Outcome unknown"


def cast() -> Cast:
    return Cast(
        {
            "go": [
                CallTool(
                    "delegate_task",
                    {"tasks": ["first", "second"]},
                    also=(CallTool("spawn_task", {"task": "behind"}),),
                ),
                Say("all done"),
            ],
            "first": [CallTool("mark", {"name": "first"}), Say("first is done")],
            "second": [
                CallTool("mark", {"name": "second"}),
                CallTool("delegate_task", {"goal": "below"}),
                Say("second is done"),
            ],
            "below": [CallTool("mark", {"name": "below"}), Say("below is done")],
            "behind": [CallTool("mark", {"name": "behind"}), Say("behind is done")],
        }
    )


class Killer:
    """Kills this process before the write number `at`; 0 lets it live."""

    def __init__(self, at: int) -> None:
        self._at, self.writes = at, 0

    def reached(self) -> None:
        self.writes += 1
        if self.writes == self._at:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, bot: RunningBot) -> None:
        for part, names in WRITES.items():
            owner = getattr(bot.store, part)
            for name in names:
                setattr(owner, name, self._watched(getattr(owner, name)))

    def _watched(self, write: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def watched(*args: Any, **more: Any) -> Any:
            self.reached()
            return await write(*args, **more)

        return watched


async def approve_all(bot: RunningBot) -> None:
    """A person who says yes to whatever is asked."""
    ada = Identity("telegram", "1")
    while True:
        for record in await bot.store.approvals.pending():
            await bot.parts.broker.decide(record.approval_id, Choice.ONCE, ada)
        await asyncio.sleep(0.01)


async def run(folder: Path, at: int, asked: bool) -> int:
    """Have the turn run, or go on, until nothing is unfinished; how many writes it took."""
    killer = Killer(at)
    tool = folder / "mark_tool.py"
    tool.write_text(MARK_TOOL.replace("MARKS", str(folder / "marks")))
    mode = "manual" if asked else "off"
    config = {"permissions.approval.mode": mode, "workers.max_parallel": 2, "tools.paths": [str(tool)]}
    config["permissions.admin_users"] = ["telegram:1"]
    async with running_bot(folder, config, model=cast().model) as bot:
        killer.watch(bot)
        await bot.parts.inbox.submit(replace(EVENT, timestamp=datetime.now(UTC)))
        yes = asyncio.create_task(approve_all(bot))
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await bot.store.turns.unfinished() or await bot.store.outbox.list("queued", 1):
                await asyncio.sleep(0.01)
        yes.cancel()
        await asyncio.wait({yes})
        if not at:
            await check(bot, folder, NAMES - {"below"} if asked else NAMES)
    return killer.writes


async def check(bot: RunningBot, folder: Path, names: frozenset[str]) -> None:
    """A worker cannot be asked about `below`, so that it is there only where nobody is asked."""
    marks = (folder / "marks").read_text().split()
    assert sorted(marks) == sorted(set(marks)), f"done twice: {marks}"
    rows = [json.loads(row.body_json) for row in await bot.store.audit.of_kind("worker_started")]
    turns = {row["turn"]: await bot.store.turns.get(row["turn"]) for row in rows}
    assert {turn.state for turn in turns.values() if turn} <= ENDED
    journals = [await bot.store.turns.journal(TurnId(each)) for each in (*turns, turn_id_of(EVENT))]
    unknown = [e for journal in journals for e in journal if e.kind == "result" and UNKNOWN in e.payload]
    said = [row.body_json for row in await bot.store.outbox.list("sent", 20)]
    assert sum("all done" in each for each in said) == 1
    if not unknown:
        assert set(marks) == names
        assert len(turns) == len(names)
        assert sum("behind is done" in each for each in said) == 1


def in_a_child(work: Coroutine[None, None, int], folder: Path) -> int:
    """Run it in a forked process; returns the wait status. What it raised lies in `folder`/error."""
    if child := os.fork():
        work.close()
        return os.waitpid(child, 0)[1]
    code = 1
    try:
        (folder / "writes").write_text(str(asyncio.run(work)))
        code = 0
    except BaseException:  # noqa: BLE001 - the process ends here, and says why
        (folder / "error").write_text(traceback.format_exc())
    os._exit(code)


@pytest.mark.parametrize("asked", [False, True], ids=["nobody is asked", "a person is asked"])
def test_killed_before_any_write_all_ends_and_no_mark_is_made_twice(tmp_path: Path, asked: bool) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    assert in_a_child(run(whole, 0, asked), whole) == 0, (whole / "error").read_text()
    writes = int((whole / "writes").read_text())
    assert writes > 40
    for at in range(1, writes, EVERY):
        folder = tmp_path / str(at)
        folder.mkdir()
        status = in_a_child(run(folder, at, asked), folder)
        assert status == signal.SIGKILL or not (folder / "error").exists(), (folder / "error").read_text()
        status = in_a_child(run(folder, 0, asked), folder)
        assert status == 0, f"after a kill before write {at}: {(folder / 'error').read_text()}"
