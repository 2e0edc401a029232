"""Tools of somebody's own that raise, hang, flood, return nonsense: one failed call and nothing more."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

HEAD = """
import asyncio, dataclasses, json
from echo_agent.tools import Tool, ToolResult

class Own(Tool):
    name = "own"
    description = "x"
    parameters = {"type": "object"}
    timeout_seconds = 1
"""


@pytest.fixture
def own(tmp_path: Path, local: Config) -> Callable[[str], Config]:
    """Settings with one tool named `own`, whose class body is given."""

    def config(body: str) -> Config:
        lines = [f"    {line}" if line else "" for line in body.strip("\n").splitlines()]
        (tmp_path / "own.py").write_text(HEAD + "\n".join(lines) + "\n")
        return local | {"tools.paths": [str(tmp_path / "own.py")]}

    return config


Own = Callable[[str], Config]


def execute(*lines: str) -> str:
    return "\n".join(["async def execute(self, params, ctx=None):", *(f"    {line}" for line in lines)])


async def reply_to_own(bot: RunningBot, says: Says, text: str) -> str:
    """Call it directly and hear the reply; the bot still works afterwards."""
    await bot.channel.say("/tool own")
    reply = await bot.channel.wait_for(says(text))
    await eventually(lambda: bot.parts.queues.total() == (0, 0), "the turn to end")
    await bot.channel.say("/tool todo action=list")
    await bot.channel.wait_for(says("The list is empty"))
    return reply.body


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["raise RuntimeError('kaputt')"], "own failed: RuntimeError: kaputt"),
        (["await asyncio.sleep(60)"], "own took longer than 1 s"),
        (["raise TimeoutError('upstream is slow')"], "own failed: TimeoutError: upstream is slow"),
        (["return 'just text'"], "own returned str where a ToolResult belongs"),
        (["return None"], "own returned NoneType where a ToolResult belongs"),
        (["return ToolResult(True, output={'a': 1})"], "{'a': 1}"),
        (["return ToolResult(True, output=None)"], "own: done, no output"),
        (["return ToolResult(False, error=None)"], "own failed and did not say why"),
        (["return ToolResult(True, output='half \\ud800 character')"], "half \ufffd character"),
        (["return ToolResult(True, output='ok', metadata={(1, 2): {3}})"], "ok"),
        (["raise RuntimeError('\\udcff' + 'x' * 100_000)"], "own failed: RuntimeError: \ufffdxxx"),
    ],
    ids=[
        "one that raises",
        "one that hangs beyond its timeout",
        "one whose upstream timed out",
        "one that returns text",
        "one that returns nothing",
        "one whose output is no text",
        "one without output",
        "one that fails without a word",
        "one that outputs half a character",
        "one with metadata that is no JSON",
        "one whose error is endless",
    ],
)
async def test_the_fault_is_one_sentence_and_the_rest_keeps_running(
    tmp_path: Path, own: Own, says: Says, lines: list[str], sentence: str
) -> None:
    async with running_bot(tmp_path, own(execute(*lines))) as bot:
        reply = await reply_to_own(bot, says, sentence)
        assert len(reply) < 5000
        await eventually(lambda: bot.parts.queues.total() == (0, 0), "the turn to end")
        assert not await bot.store.turns.unfinished()


async def test_an_endless_result_is_spilled_and_shown_by_head_and_tail(
    tmp_path: Path, own: Own, says: Says
) -> None:
    config = own(execute("return ToolResult(True, output='a' * 5_000_000 + 'the end')"))
    script = ScriptedModel([CallTool("own"), Say("Done.")])
    async with running_bot(tmp_path, config, model=script.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("Done."))
        seen = str(script.seen[-1])
        assert "the end" in seen
        assert "read_spill path=own-" in seen
        assert len(seen) < 20_000


@pytest.mark.parametrize(
    ("kind", "runs"),
    [("dependency", 3), ("timeout", 3), ("business", 1), ("internal", 1)],
    ids=["a dependency is tried again", "a timeout is tried again", "a refusal is not", "a fault is not"],
)
async def test_only_dependency_and_timeout_are_retried(
    tmp_path: Path, own: Own, says: Says, kind: str, runs: int
) -> None:
    body = "max_retries = 2\nruns = 0\n" + execute(
        "self.runs += 1", f"return ToolResult(False, error=f'failed {{self.runs}}', error_kind='{kind}')"
    )
    async with running_bot(tmp_path, own(body)) as bot:
        await reply_to_own(bot, says, f"failed {runs}")


async def test_a_tool_that_fails_at_being_asked_whether_it_is_ready_is_not_ready(
    tmp_path: Path, own: Own, says: Says
) -> None:
    body = "def readiness_detail(self):\n    raise OSError('no device')\n" + execute(
        "return ToolResult(True)"
    )
    async with running_bot(tmp_path, own(body)) as bot:
        await reply_to_own(bot, says, "own is not ready")
        await bot.channel.say("/tools")
        await bot.channel.wait_for(says("no device"))


async def test_the_context_tells_exactly_how_the_call_was_passed(
    tmp_path: Path, own: Own, is_open: Is, says: Says
) -> None:
    body = "risk_level = 'exec'\n" + execute(
        "known = dataclasses.asdict(ctx)",
        "known['approved_actions'] = sorted(ctx.approved_actions)",
        "known['allowed_tools'] = sorted(ctx.allowed_tools)",
        "return ToolResult(True, output=json.dumps(known))",
    )

    def told(message: FakeMessage) -> dict[str, object]:
        found: dict[str, object] = json.loads(message.body.strip("`\n"))
        return found

    async with running_bot(tmp_path, own(body)) as bot:
        await bot.channel.say("/tool own", event_id="e77")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("For this session")
        first = told(await bot.channel.wait_for(says("execution_id")))
        assert first["approval_source"] == "human"
        assert first["approved_actions"] == ["own"]
        assert first["credentials"] == {}
        assert first["user_id"] == "telegram:1"
        assert first["inbound_event_id"] == "e77"
        assert (first["unattended"], first["cron_authorized"], first["is_replay"]) == (False, False, False)
        await bot.channel.say("/tool own", event_id="e78")
        second = told(await bot.channel.wait_for(says("e78")))
        assert second["approval_source"] == "auto"
        assert second["approved_actions"] == ["own"]
        [grant] = await bot.store.grants.list("telegram:1", datetime.now(UTC))
        assert grant.uses == 1


async def test_a_read_only_tool_is_passed_by_nobody_in_particular(
    tmp_path: Path, own: Own, says: Says
) -> None:
    body = "risk_level = 'read_only'\n" + execute(
        "return ToolResult(True, output=f'{ctx.approval_source} {sorted(ctx.approved_actions)}')"
    )
    async with running_bot(tmp_path, own(body)) as bot:
        await reply_to_own(bot, says, "auto []")


async def test_questions_that_wait_take_no_slot_from_the_tools_of_others(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    config = local | {"agent.parallel_tools": 1}
    async with running_bot(tmp_path, config) as bot:
        for chat in ("1", "2", "3"):
            await bot.channel.say('/tool clarify {"question": "which?"}', chat_id=chat)
        await eventually(lambda: sum(map(is_open, bot.channel.messages)) == 3, "three questions")
        await bot.channel.say("/tool todo action=list", chat_id="9")
        await bot.channel.wait_for(says("The list is empty"))


async def test_a_direct_call_with_half_a_character_is_refused_as_invalid(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say('/tool exec {"command": "echo \\ud800"}')
        await bot.channel.wait_for(says("cannot be written as JSON"))
        [gate] = [json.loads(r.body_json) for r in await bot.store.audit.tail(50) if r.kind == "gate"]
        assert (gate["verdict"], gate["step"]) == ("deny", "invalid")
