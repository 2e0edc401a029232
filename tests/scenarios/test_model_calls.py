"""What models may do with calls: several at once, nonsense, far too many, and tools of the provider."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
from pydantic_ai.native_tools import WebSearchTool

from echo_bot.agent.history import problem_of
from echo_bot.agent.viewed import ViewedModel
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]
Stream = AsyncIterator[str | DeltaToolCalls]

FREE = {"permissions.approval.mode": "off"}


def results_in(messages: list[ModelMessage]) -> list[str]:
    """The results in the last request, in the order the model gets them."""
    last = messages[-1]
    assert isinstance(last, ModelRequest)
    return [str(part.content) for part in last.parts if isinstance(part, ToolReturnPart)]


async def test_of_three_calls_at_once_one_is_denied_one_runs_and_one_fails(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    calls = CallTool(
        "exec",
        {"command": "echo denied > a"},
        also=(
            CallTool("exec", {"command": "echo ran; echo b > b"}),
            CallTool("read_file", {"path": "not-there"}),
        ),
    )
    script = ScriptedModel([calls, Say("I see.")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("three things")
        first = await bot.channel.wait_for(lambda m: is_open(m) and "echo denied" in m.body)
        second = await bot.channel.wait_for(lambda m: is_open(m) and "echo ran" in m.body)
        await bot.channel.press("Approve once", message=second)
        await bot.channel.press("Deny", message=first)
        await bot.channel.wait_for(says("I see."))
        denied, ran, failed = results_in(script.seen[-1])
        assert "enied" in denied
        assert "ran" in ran
        assert "not-there" in failed
        assert [n for n in "ab" if (bot.workspace / n).exists()] == ["b"]
        assert problem_of(script.seen[-1]) == ""


async def test_arguments_that_are_no_json_are_told_to_the_model_and_nothing_runs(
    tmp_path: Path, local: Config, says: Says
) -> None:
    seen: list[list[ModelMessage]] = []

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> Stream:
        seen.append(messages)
        if len(seen) > 1:
            yield "Sorry."
            return
        yield {0: DeltaToolCall(name="exec", json_args='{"command": "touch made', tool_call_id="c1")}

    model = FunctionModel(stream_function=answer)
    async with running_bot(tmp_path, local | FREE, model=model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("Sorry."))
        assert not (bot.workspace / "made").exists()
        assert "Invalid JSON" in str(seen[1][-1])
        assert problem_of(seen[1]) == ""


async def test_a_model_that_never_learns_is_stopped_with_a_sentence(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async def answer(messages: list[ModelMessage], info: AgentInfo) -> Stream:
        yield {0: DeltaToolCall(name="no_such_tool", json_args="{", tool_call_id=f"c{len(messages)}")}

    async with running_bot(tmp_path, local, model=FunctionModel(stream_function=answer)) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(
            says("The model did not get this done: given answered nothing that can be used")
        )


async def test_of_five_hundred_calls_in_one_answer_the_first_sixty_four_run(
    tmp_path: Path, local: Config, says: Says
) -> None:
    seen: list[list[ModelMessage]] = []

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> Stream:
        seen.append(messages)
        if len(seen) > 1:
            yield "That was a lot."
            return
        for n in range(500):
            args = json.dumps({"action": "add", "items": [f"item {n}"]})
            yield {n: DeltaToolCall(name="todo", json_args=args, tool_call_id=f"c{n}")}

    async with running_bot(tmp_path, local, model=FunctionModel(stream_function=answer)) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("That was a lot."))
        told = results_in(seen[1])
        assert len(told) == 500
        assert sum("one answer may hold 64 calls" in each for each in told) == 436
        assert not any("may hold" in each for each in told[:64])
        assert problem_of(seen[1]) == ""


async def test_a_tool_of_the_provider_is_refused_wherever_it_comes_from() -> None:
    asked: list[ModelRequestParameters] = []

    async def view(messages: list[ModelMessage]) -> list[ModelMessage]:
        pytest.fail("nothing is prepared for a request that is refused")

    model = ViewedModel(ScriptedModel([Say("x")]).model, view)
    wanted = ModelRequestParameters(native_tools=[WebSearchTool()])
    with pytest.raises(Exception, match="tools of the provider are refused, since no gate reaches them"):
        await model.request([], None, wanted)
    with pytest.raises(Exception, match="WebSearchTool"):
        async with model.request_stream([], None, wanted):
            asked.append(wanted)
    assert not asked


async def test_a_run_carries_no_tool_of_the_provider_and_all_of_ours(
    tmp_path: Path, local: Config, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried: list[ModelRequestParameters] = []

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> Stream:
        carried.append(info.model_request_parameters)
        yield "Hello."

    async with running_bot(tmp_path, local, model=FunctionModel(stream_function=answer)) as bot:
        await bot.channel.say("hi")
        await bot.channel.wait_for(says("Hello."))
        [parameters] = carried
        assert parameters.native_tools == []
        assert {"exec", "read_file"} <= {tool.name for tool in parameters.function_tools}
