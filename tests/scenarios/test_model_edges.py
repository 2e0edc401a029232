"""The model's loop at its edges: repeated call ids, limits, foreign tools, drafts, unattended turns."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
from pydantic_ai.toolsets import FunctionToolset

from echo_bot.channel import ChannelCapabilities, inbound_event
from echo_bot.errors import RetryAfter
from echo_bot.events import BlockType, ContentBlock, InboundEvent
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.model_server import ModelServer
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel
from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually
from echo_bot.tools.in_order import InOrder

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]
Stream = AsyncIterator[str | DeltaToolCalls]


async def test_two_calls_with_the_same_id_are_two_calls(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    seen: list[list[ModelMessage]] = []

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> Stream:
        seen.append(messages)
        if len(seen) > 1:
            yield "Both ran."
            return
        for index, name in enumerate("ab"):
            args = json.dumps({"command": f"echo {name} > {name}"})
            yield {index: DeltaToolCall(name="exec", json_args=args, tool_call_id="call_0")}

    async with running_bot(tmp_path, local, model=FunctionModel(stream_function=answer)) as bot:
        await bot.channel.say("both")
        await eventually(lambda: sum(map(is_open, bot.channel.messages)) == 2, "two cards")
        for card in [m for m in bot.channel.messages if is_open(m)]:
            await bot.channel.press("Approve once", message=card)
        await bot.channel.wait_for(says("Both ran."))
        assert {n for n in "ab" if (bot.workspace / n).exists()} == {"a", "b"}


async def test_cards_of_calls_made_at_once_stand_in_the_order_of_the_calls(
    tmp_path: Path, local: Config, is_open: Is, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(InOrder.__init__, "__defaults__", (PATIENCE_SECONDS,))
    first, *others = (CallTool("exec", {"command": f"echo call{n}" + " " * n}) for n in range(7))
    script = ScriptedModel([replace(first, also=tuple(others))])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("all")
        await eventually(lambda: sum(map(is_open, bot.channel.messages)) == 7, "all cards")
        cards = [message.body for message in bot.channel.messages if is_open(message)]
        assert [next(n for n in range(7) if f"echo call{n}" in body) for body in cards] == list(range(7))


async def test_an_answer_that_shows_nothing_is_no_answer(tmp_path: Path, says: Says) -> None:
    script = ScriptedModel([Say("\u200b\u2800"), Say("\u200b")])
    async with running_bot(tmp_path, model=script.model) as bot:
        await bot.channel.say("hello")
        await bot.channel.wait_for(says("(The model gave no answer.)"))
        assert len(bot.channel.messages) == 1


async def test_a_conversation_in_which_the_model_once_said_nothing_goes_on(
    tmp_path: Path, local: Config, says: Says
) -> None:
    server = ModelServer([Say(""), Say("First."), Say("Second.")])
    async with server.serving():
        config = local | {"models.default": "openai:one", "models.base_url": server.base_url}
        async with running_bot(tmp_path, config) as bot:
            for answer in ("First.", "Second."):
                await bot.channel.say("go on")
                await bot.channel.wait_for(says(answer))
    assert server.problems == []


async def test_a_model_that_never_ends_is_stopped_by_the_limit_with_a_sentence(
    tmp_path: Path, local: Config, says: Says
) -> None:
    script = ScriptedModel([CallTool("todo", {"action": "list"})] * 20)
    async with running_bot(tmp_path, local | {"agent.max_iterations": 3}, model=script.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("The model did not get this done"))
        assert len(script.seen) == 3


async def test_a_tool_that_comes_with_a_toolset_passes_the_gate_as_dangerous(
    tmp_path: Path, local: Config, is_open: Is, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []
    toolset: FunctionToolset[object] = FunctionToolset()

    @toolset.tool_plain
    def launch(target: str) -> str:
        """Launch it."""
        runs.append(target)
        return f"launched at {target}"

    script = ScriptedModel([CallTool("launch", {"target": "moon"}), Say("Denied, I see.")])
    config = local | {"permissions.approval.auto_approve": ["*"], "permissions.approval.mode": "off"}
    async with running_bot(tmp_path, config, model=script.model, more_toolsets=[toolset]) as bot:
        await bot.channel.say("launch")
        card = await bot.channel.wait_for(is_open)
        assert "dangerous" in card.body
        assert not runs
        await bot.channel.press("Deny")
        await bot.channel.wait_for(says("Denied, I see."))
        assert not runs


def drafting(*pieces: str, then: Exception | None = None) -> FunctionModel:
    async def answer(messages: list[ModelMessage], info: AgentInfo) -> Stream:
        import asyncio

        for piece in pieces:
            yield piece
            await asyncio.sleep(0.05)
        if then is not None:
            raise then

    return FunctionModel(stream_function=answer)


FAST = {"channels.stream.min_interval_ms": 10}
QUICK = ChannelCapabilities(max_length=200, buttons=True, edits=True, stream_interval_ms=10)


async def test_a_draft_becomes_the_final_text_in_its_own_place(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = FakeChannel("telegram", capabilities=QUICK)
    model = drafting("One two ", "three four ", "five.")
    async with running_bot(tmp_path, local | FAST, model=model, channel=channel):
        await channel.say("count")
        done = await channel.wait_for(lambda m: m.body == "One two three four five.")
        assert len(done.versions) > 1
        assert len(channel.messages) == 1


async def test_a_draft_is_replaced_by_the_sentence_when_the_model_fails(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = FakeChannel("telegram", capabilities=QUICK)
    model = drafting("One two ", "three four ", then=ModelHTTPError(500, "m", "boom"))
    async with running_bot(tmp_path, local | FAST, model=model, channel=channel):
        await channel.say("count")
        await channel.wait_for(says("The model did not get this done"))
        assert len(channel.messages) == 1


async def test_a_platform_that_asks_to_wait_during_drafts_still_gets_the_whole_answer(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = FakeChannel("telegram", capabilities=QUICK)
    channel.fail("edit_text", RetryAfter(0.1), times=2)
    model = drafting("One two ", "three four ", "five ", "six.")
    async with running_bot(tmp_path, local | FAST, model=model, channel=channel):
        await channel.say("count")
        await channel.wait_for(lambda m: m.body == "One two three four five six.")
        assert len(channel.messages) == 1


async def test_an_answer_longer_than_one_message_replaces_its_draft_and_goes_on(
    tmp_path: Path, local: Config
) -> None:
    channel = FakeChannel("telegram", capabilities=QUICK)
    text = "word " * 100
    model = drafting(text[:50], text[50:].rstrip())
    async with running_bot(tmp_path, local | FAST, model=model, channel=channel):
        await channel.say("go")
        await eventually(lambda: "".join(channel.texts).count("word") == 100, "all of it")
        assert len(channel.messages) >= 3


async def test_half_a_secret_is_never_shown_in_a_draft(tmp_path: Path, local: Config) -> None:
    channel = FakeChannel("telegram", capabilities=QUICK)
    secret = "s3cr3t-value-of-the-operator"
    config = local | FAST | {"models.api_key": secret, "credentials.require_encryption": False}
    model = drafting("It is ", secret[:14], secret[14:20], secret[20:], " and ", "more.")
    async with running_bot(tmp_path, config, model=model, channel=channel):
        await channel.say("tell")
        await channel.wait_for(lambda m: m.body.endswith("more."))
        assert all(secret[:10] not in str(v) for m in channel.messages for v in m.versions)


async def test_a_workspace_document_does_not_shift_the_journal(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    channel = FakeChannel("telegram")
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "AGENTS.md").write_text("Use tabs.")
    first = ScriptedModel([Say("Hello."), CallTool("exec", {"command": "echo once >> log"})])
    async with running_bot(tmp_path, local, model=first.model, channel=channel) as bot:
        await channel.say("hi")
        await channel.wait_for(says("Hello."))
        await channel.say("run it")
        await channel.wait_for(is_open)
    second = ScriptedModel([Say("All done."), Say("Again.")])
    async with running_bot(tmp_path, local, model=second.model, channel=channel) as bot:
        await eventually(lambda: bot.parts.queues.total()[0] == 1, "the revived turn")
        await channel.press("Approve once")
        await channel.wait_for(says("All done."))
        await channel.say("and?")
        await channel.wait_for(says("Again."))
        last = str(second.seen[-1])
        assert (last.count("'run it'"), last.count("Use tabs.")) == (1, 1)
        assert (bot.workspace / "log").read_text() == "once\n"


async def test_a_history_that_is_too_long_is_cut_at_whole_turns(
    tmp_path: Path, local: Config, says: Says
) -> None:
    steps = [s for n in range(4) for s in (CallTool("todo", {"action": "list"}), Say(f"answer {n}"))]
    script = ScriptedModel(steps)
    async with running_bot(tmp_path, local | {"session.max_history_messages": 9}, model=script.model) as bot:
        for number in range(4):
            await bot.channel.say(f"question {number}")
            await bot.channel.wait_for(says(f"answer {number}"))
        seen = str(script.seen[-2])
        assert "question 0" not in seen
        assert "question 1" in seen
        assert "answer 1" in seen


def unattended(text: str, event_id: str, *, authorised: bool = False) -> InboundEvent:
    event = inbound_event(
        event_id=event_id,
        channel="telegram",
        chat_id="1",
        sender_id="1",
        timestamp=datetime.now(UTC),
        content=(ContentBlock(BlockType.TEXT, text=text),),
    )
    return replace(event, unattended=True, cron_authorized=authorised)


async def test_an_unattended_turn_asks_nobody(tmp_path: Path, local: Config, says: Says) -> None:
    config = local | {"permissions.approval.unattended_policy": "allow_safe"}
    async with running_bot(tmp_path, config) as bot:
        await bot.parts.inbox.submit(unattended("/run touch made", "u1"))
        await bot.channel.wait_for(says("allow_safe runs code only with a grant"))
        await bot.parts.inbox.submit(unattended('/tool clarify {"question": "which?"}', "u2"))
        await bot.channel.wait_for(says("nobody is there to be asked"))
        await bot.parts.inbox.submit(
            unattended('/tool message {"text": "x", "target": "telegram:9"}', "u3", authorised=True)
        )
        await bot.channel.wait_for(says("neither this chat nor in delivery.allowed_targets"))
        # An authority that names no job, which only a fault could bring, is none.
        await bot.parts.inbox.submit(unattended("/run touch other", "u4", authorised=True))
        await eventually(
            lambda: sum("allow_safe runs code only" in text for text in bot.channel.texts) == 2, "a refusal"
        )
        assert not bot.channel.cards
        assert not list(bot.workspace.iterdir())


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        (" APPROVE\n", "no output"),
        ("DENY", "the approval model denied"),
        ("approve", "card"),
        ("APPROVE. It is fine", "card"),
        (None, "approval model unavailable"),
    ],
    ids=["approve runs", "deny refuses", "lower case escalates", "a sentence escalates", "none denies"],
)
async def test_the_approval_models_word_counts_only_when_exact(
    tmp_path: Path, local: Config, is_open: Is, says: Says, word: str | None, outcome: str
) -> None:
    judge = ScriptedModel([Say(word)]).model if word is not None else None
    config = local | {"permissions.approval.mode": "smart"}
    async with running_bot(tmp_path, config, judge=judge) as bot:
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(is_open if outcome == "card" else says(outcome))
        assert (bot.workspace / "made").exists() == (outcome == "no output")
        [row] = [json.loads(r.body_json) for r in await bot.store.audit.tail(50) if r.kind == "smart"]
        assert row["digest"]
        assert row["answer"].strip() == (word or "(unavailable)").strip()


async def test_every_decision_and_effect_is_in_the_audit(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo hi")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("For 1 hour")
        await bot.channel.wait_for(says("hi\n"))
        rows = {r.kind: json.loads(r.body_json) for r in await bot.store.audit.tail(50)}
        assert {"decision", "granted", "gate", "executed"} <= set(rows)
        gate = rows["gate"]
        assert (gate["verdict"], gate["step"], gate["source"]) == ("allow", "human", "human")
        assert gate["by"] == "telegram:1"
        assert gate["digest"] == rows["decision"]["digest"] == rows["executed"]["digest"]
        assert gate["capabilities"] == ["process.exec"]
