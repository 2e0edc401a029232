"""What models may use: by turn, by day, in tokens and in dollars; and what they used, counted once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, FunctionModel

from echo_bot.storage.records import TurnState
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.cast import Cast
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.model_server import ModelServer, Refuse
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

PRICED = {"models.prices": {"given": {"input": 1000.0, "output": 1000.0}}}


async def ask(bot: RunningBot, says: Says, text: str, answer: str) -> str:
    await bot.channel.say(text)
    return (await bot.channel.wait_for(says(answer))).body


async def test_a_turn_over_its_tokens_ends_with_a_sentence_that_names_the_key(
    tmp_path: Path, local: Config, says: Says
) -> None:
    script = ScriptedModel([CallTool("todo", {"action": "list"})] * 9)
    config = local | {"models.limits.total_tokens_per_turn": 10}
    async with running_bot(tmp_path, config, model=script.model) as bot:
        await ask(bot, says, "go", "models.limits.total_tokens_per_turn is reached: 10 tokens")
        assert len(script.seen) == 1


async def test_an_answer_counts_even_if_it_is_the_one_that_passes_the_limit(
    tmp_path: Path, local: Config, says: Says
) -> None:
    script = ScriptedModel([Say("All of it.")])
    config = local | {"models.limits.total_tokens_per_turn": 1}
    async with running_bot(tmp_path, config, model=script.model) as bot:
        await ask(bot, says, "go", "All of it.")


async def test_a_turn_hands_no_tokens_on_that_it_does_not_have(
    tmp_path: Path, local: Config, says: Says
) -> None:
    looks = [CallTool("todo", {"action": "list"})] * 30
    cast = Cast({"go": [CallTool("delegate_task", {"tasks": ["look a", "look b"]}), Say("x")], "look": looks})
    keys = {"models.limits.total_tokens_per_turn": 400, "permissions.approval.mode": "off"}
    async with running_bot(tmp_path, local | keys, model=cast.model) as bot:
        await ask(bot, says, "go", "models.limits.total_tokens_per_turn is reached: 400 tokens")
        [turn] = await bot.store.audit.of_kind("model_failed")
        used = await bot.store.usage.of_turn(json.loads(turn.body_json)["turn"])
        assert {each.kind for each in used} == {"chat", "worker"}
        assert sum(each.tokens for each in used) < 600


async def test_the_limit_of_answers_names_its_key(tmp_path: Path, local: Config, says: Says) -> None:
    script = ScriptedModel([CallTool("todo", {"action": "list"})] * 9)
    async with running_bot(tmp_path, local | {"agent.max_iterations": 2}, model=script.model) as bot:
        await ask(bot, says, "go", "it gave 2 answers and none was the last (agent.max_iterations)")


async def test_a_day_over_its_tokens_leaves_direct_calls_working(
    tmp_path: Path, local: Config, says: Says
) -> None:
    script = ScriptedModel([Say("First."), Say("Second.")])
    config = local | {"models.limits.tokens_per_day": 10, "permissions.approval.mode": "off"}
    async with running_bot(tmp_path, config, model=script.model) as bot:
        await ask(bot, says, "one", "First.")
        await ask(bot, says, "two", "models.limits.tokens_per_day is reached")
        assert await ask(bot, says, "/tool read_file path=x", "x")
        assert len(script.seen) == 1


async def test_a_day_over_its_cost_ends_and_says_what_was_spent(
    tmp_path: Path, local: Config, says: Says
) -> None:
    script = ScriptedModel([Say("First."), Say("Second.")])
    config = local | PRICED | {"models.limits.cost_per_day": 0.01}
    async with running_bot(tmp_path, config, model=script.model) as bot:
        await ask(bot, says, "one", "First.")
        await ask(bot, says, "two", "models.limits.cost_per_day is reached: $0.")


async def test_a_cost_that_is_not_known_cannot_be_limited_and_is_never_nothing(
    tmp_path: Path, local: Config, says: Says
) -> None:
    script = ScriptedModel([Say("First."), Say("Second.")])
    async with running_bot(tmp_path, local | {"models.limits.cost_per_day": 9}, model=script.model) as bot:
        await ask(bot, says, "one", "First.")
        told = await ask(bot, says, "two", "models.limits.cost_per_day cannot be kept")
        assert "the price of given is not known. Set models.prices" in told
        assert "cost unknown" in await ask(bot, says, "/cost", "This conversation")


async def test_the_day_ends_at_midnight_of_the_configured_zone(
    tmp_path: Path, local: Config, says: Says
) -> None:
    from datetime import UTC, datetime

    script = ScriptedModel([Say("First."), Say("Second.")])
    config = local | {"models.limits.tokens_per_day": 10, "timezone": "Asia/Shanghai"}
    async with running_bot(tmp_path, config, model=script.model) as bot:
        await ask(bot, says, "one", "First.")
        at = datetime.now(UTC)
        assert bot.parts.models.ledger._day(at.replace(hour=15)) == f"{at:%Y-%m-%d}"
        assert bot.parts.models.ledger._day(at.replace(hour=16, minute=0)) > f"{at:%Y-%m-%d}"


async def test_cost_is_told_by_model_and_admins_see_the_whole_day(
    tmp_path: Path, local: Config, says: Says
) -> None:
    config = local | PRICED | {"channels.telegram.allow_from": ["1", "2"]}
    script = ScriptedModel([Say("First.")])
    async with running_bot(tmp_path, config, model=script.model) as bot:
        await ask(bot, says, "one", "First.")
        told = await ask(bot, says, "/cost", "This conversation: 1 answer, ")
        assert "- `given`: 1 answer, " in told
        assert "\n\nToday, everybody: 1 answer, " in told
        await bot.channel.say("/cost", sender_id="2", chat_id="2")
        other = await bot.channel.wait_for(says("This conversation: nothing yet."))
        assert "everybody" not in other.body
        assert "Models today: 1 answer, " in await ask(bot, says, "/status", "Models today")


async def test_an_answer_is_counted_once_however_often_its_turn_is_revived(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    channel = FakeChannel("telegram")
    call = CallTool("exec", {"command": "echo once >> log"})
    async with running_bot(tmp_path, local, model=ScriptedModel([call]).model, channel=channel) as bot:
        await channel.say("go")
        await channel.wait_for(is_open)
        [first] = await bot.parts.models.ledger.today()
    async with running_bot(tmp_path, local, model=ScriptedModel([]).model, channel=channel) as bot:
        await eventually(lambda: bot.parts.queues.total()[0] == 1, "the revived turn")
        assert await bot.parts.models.ledger.today() == (first,)
    async with running_bot(
        tmp_path, local, model=ScriptedModel([Say("Done.")]).model, channel=channel
    ) as bot:
        await eventually(lambda: bot.parts.queues.total()[0] == 1, "the revived turn")
        await channel.press("Approve once")
        await channel.wait_for(says("Done."))
        [both] = await bot.parts.models.ledger.today()
        assert both.answers == 2


async def test_what_was_journalled_and_not_counted_before_a_crash_is_counted_after_it(
    tmp_path: Path, local: Config, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    from echo_bot.storage.usage import SqlUsage

    class Killed(BaseException):
        pass

    async def die(self: SqlUsage, row: object) -> bool:
        raise Killed

    channel = FakeChannel("telegram")

    async def run_until_the_crash() -> None:
        script = ScriptedModel([Say("Answered.")])
        async with running_bot(tmp_path, local, model=script.model, channel=channel) as bot:
            await channel.say("go")
            await eventually(lambda: bot.parts.queues.total() == (0, 0) and script.seen, "the crash")
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(SqlUsage, "add", die)
        with pytest.raises(Killed):
            await run_until_the_crash()
    async with running_bot(tmp_path, local, model=ScriptedModel([]).model, channel=channel) as bot:
        await channel.wait_for(says("Answered."))
        [total] = await bot.parts.models.ledger.today()
        assert total.answers == 1
        turns = await bot.store.turns.unfinished()
        assert all(turn.state is not TurnState.RUNNING for turn in turns)


async def test_a_server_that_tells_no_usage_is_estimated(tmp_path: Path, local: Config, says: Says) -> None:
    server = ModelServer([Say("Hello there.")], usage=lambda body: (0, 0))
    async with server.serving():
        config = local | {"models.default": "openai:x", "models.base_url": server.base_url}
        async with running_bot(tmp_path, config) as bot:
            await ask(bot, says, "hello", "Hello there.")
            [total] = await bot.parts.models.ledger.today()
            assert total.input_tokens > 20
            assert 0 < total.output_tokens < 20


async def test_the_approval_models_answers_are_counted_too(tmp_path: Path, local: Config, says: Says) -> None:
    async def judge(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        yield "APPROVE"

    def word(messages: list[ModelMessage], info: AgentInfo) -> object:
        from pydantic_ai.messages import ModelResponse, TextPart

        return ModelResponse(parts=[TextPart("APPROVE")])

    script = ScriptedModel([CallTool("exec", {"command": "echo hi"}), Say("Ran.")])
    config = local | {"permissions.approval.mode": "smart"}
    model = FunctionModel(word, stream_function=judge)  # type: ignore[arg-type]
    async with running_bot(tmp_path, config, model=script.model, judge=model) as bot:
        await ask(bot, says, "go", "Ran.")
        assert "approval" in {each.kind for each in await bot.parts.models.ledger.today()}


async def test_failures_of_a_model_cost_nothing_of_what_is_counted(
    tmp_path: Path, local: Config, says: Says
) -> None:
    server = ModelServer([Refuse(500), Say("Now.")], usage=lambda body: (10, 5))
    async with server.serving():
        config = local | {"models.default": "openai:x", "models.base_url": server.base_url}
        async with running_bot(tmp_path, config) as bot:
            await ask(bot, says, "hello", "Now.")
            [total] = await bot.parts.models.ledger.today()
            assert (total.answers, total.input_tokens, total.output_tokens) == (1, 10, 5)
