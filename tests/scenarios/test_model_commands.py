"""/model, /compact, and thinking that is not shown: what a person in a chat sees of the models."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaThinkingCalls, DeltaThinkingPart, FunctionModel

from echo_bot.channel import ChannelCapabilities
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.model_server import CutOff, ModelServer
from echo_bot.testing.scripted_model import Fail, Say, ScriptedModel

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]
QUICK = ChannelCapabilities(max_length=400, buttons=True, edits=True, stream_interval_ms=10)


async def ask(bot: RunningBot, says: Says, text: str, answer: str) -> str:
    await bot.channel.say(text)
    return (await bot.channel.wait_for(says(answer))).body


def named(server: ModelServer, **more: object) -> Config:
    return {
        "models.default": "openai:one",
        "models.base_url": server.base_url,
        "models.fallback": ["openai:two"],
        "models.choices": ["openai:three"],
        **more,
    }


async def test_a_conversation_chooses_its_model_and_a_restart_keeps_it(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = FakeChannel("telegram")
    async with ModelServer().serving() as server:
        async with running_bot(tmp_path, local | named(server), channel=channel) as bot:
            listed = await ask(bot, says, "/model", "`/model <name>`")
            assert listed.splitlines()[:3] == [
                "- `openai:one` (chosen, default)",
                "- `openai:two`",
                "- `openai:three`",
            ]
            await ask(bot, says, "/model three", "This conversation now asks `openai:three`.")
        async with running_bot(tmp_path, local | named(server), channel=channel) as bot:
            await ask(bot, says, "hello", "(script ended)")
            assert [body["model"] for body in server.requests] == ["three"]
            await ask(bot, says, "/model default", "now asks `openai:one`")
            await channel.say("/model", sender_id="1", chat_id="elsewhere")
            await channel.wait_for(says("`openai:three`"))


async def test_a_name_that_is_none_gets_the_nearest_and_changes_nothing(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with ModelServer().serving() as server, running_bot(tmp_path, local | named(server)) as bot:
        told = await ask(bot, says, "/model openai:thre", "There is no model")
        assert told.endswith("Did you mean `openai:three`? Nothing was changed.")
        assert "`openai:one` (chosen" in await ask(bot, says, "/model", "(chosen")


async def test_a_name_is_completed_with_what_may_be_chosen(tmp_path: Path, local: Config, says: Says) -> None:
    async with ModelServer().serving() as server, running_bot(tmp_path, local | named(server)) as bot:
        names = ["openai:one", "openai:two", "openai:three"]
        assert await bot.channel.complete("model", "name") == names
        assert await bot.channel.complete("model", "name", "THR") == ["openai:three"]
        assert await bot.channel.complete("model", "name", "gpt") == []
        assert await bot.channel.complete("model", "name", sender_id="9") == []


async def test_without_any_model_nothing_is_completed(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        assert await bot.channel.complete("model", "name") == []


async def test_in_a_group_only_admins_choose(tmp_path: Path, local: Config, says: Says) -> None:
    config = local | {"channels.telegram.allow_from": ["1", "2"]}
    async with ModelServer().serving() as server, running_bot(tmp_path, config | named(server)) as bot:
        await bot.channel.say("/model three", sender_id="2", chat_id="-7", is_group=True)
        await bot.channel.wait_for(says("In a group only admins choose the model."))


async def test_without_a_model_the_command_says_so(tmp_path: Path, local: Config, says: Says) -> None:
    async with running_bot(tmp_path, local) as bot:
        await ask(bot, says, "/model", "No model is configured")
        await ask(bot, says, "/compact", "No model is configured")
        await ask(bot, says, "/cost", "This conversation: nothing yet.")


async def test_compact_puts_a_summary_in_the_place_of_older_turns(
    tmp_path: Path, local: Config, says: Says
) -> None:
    script = ScriptedModel(
        [*(Say(f"Answer {n}.") for n in range(4)), Say("They counted to two."), Say("Five.")]
    )
    async with running_bot(tmp_path, local, model=script.model) as bot:
        for number in range(4):
            await ask(bot, says, f"question {number}", f"Answer {number}.")
        told = await ask(bot, says, "/compact", "Summarised 2 turns")
        assert "tokens became" in told
        shown = str(script.seen[-1])
        assert "question 1" in shown
        assert "question 3" not in shown
        await ask(bot, says, "and now?", "Five.")
        sent = str(script.seen[-1])
        assert "They counted to two." in sent
        assert "question 1" not in sent
        assert "question 3" in sent
        await ask(bot, says, "/new", "fresh")
        await ask(bot, says, "hello", "(script ended)")
        assert "They counted" not in str(script.seen[-1])


async def test_a_summary_that_fails_changes_nothing_and_says_why(
    tmp_path: Path, local: Config, says: Says
) -> None:
    answers = [Say(f"Answer {n}.") for n in range(3)]
    script = ScriptedModel([*answers, Fail(ValueError("no")), Say("On.")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await ask(bot, says, "/compact", "There is nothing to summarise")
        for number in range(3):
            await ask(bot, says, f"question {number}", f"Answer {number}.")
        await ask(bot, says, "/compact", "It was not summarised, and nothing was changed: given failed")
        await ask(bot, says, "go on", "On.")
        assert "question 0" in str(script.seen[-1])


async def test_thinking_is_shown_nowhere_however_it_streams(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = FakeChannel("telegram", capabilities=QUICK)

    async def think(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaThinkingCalls]:
        if "again" in str(messages[-1]):
            assert "secret plan" not in str(messages)
            yield "Again."
            return
        yield {0: DeltaThinkingPart(content="the secret plan is", signature="sig")}
        for piece in ("<th", "ink>the sec", "ret plan</", "think>", "Here ", "you are."):
            yield piece

    async with running_bot(
        tmp_path,
        local | {"channels.stream.min_interval_ms": 10},
        model=FunctionModel(stream_function=think),
        channel=channel,
    ) as bot:
        await channel.say("think")
        await channel.wait_for(lambda m: m.body == "Here you are.")
        assert all("secret" not in str(v) for m in channel.messages for v in m.versions)
        assert "secret" not in str(await bot.store.sessions.transcript(channel.messages[0].ref.address, 9))
        await ask(bot, says, "again", "Again.")


async def test_a_model_that_only_thinks_is_asked_again_and_then_said_to_have_no_answer(
    tmp_path: Path, local: Config, says: Says
) -> None:
    asked: list[int] = []

    async def think(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[DeltaThinkingCalls]:
        asked.append(len(messages))
        yield {0: DeltaThinkingPart(content="hm")}

    async with running_bot(tmp_path, local, model=FunctionModel(stream_function=think)) as bot:
        await ask(bot, says, "well?", "given answered nothing that can be used")
        assert len(asked) == 3


async def test_an_answer_that_is_all_thought_says_that_it_is_none(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(
        tmp_path, local, model=ScriptedModel([Say("<think>hm"), Say("Yes.")]).model
    ) as bot:
        await ask(bot, says, "well?", "(The model gave no answer.)")
        await ask(bot, says, "and?", "Yes.")


@pytest.mark.parametrize(
    ("reason", "told"),
    [("length", "(This answer was cut off"), ("content_filter", "(The provider's content filter ended")],
)
async def test_an_answer_that_was_cut_off_says_so(
    tmp_path: Path, local: Config, says: Says, reason: str, told: str
) -> None:
    async with (
        ModelServer([CutOff("Half an ans", reason)]).serving() as server,
        running_bot(tmp_path, local | named(server)) as bot,
    ):
        assert (await ask(bot, says, "well?", told)).startswith("Half an ans\n\n")


async def test_a_refusal_without_words_says_who_refused(tmp_path: Path, local: Config, says: Says) -> None:
    async with (
        ModelServer([CutOff("", "content_filter")]).serving() as server,
        running_bot(tmp_path, local | named(server)) as bot,
    ):
        await ask(bot, says, "well?", "the provider's content filter stopped openai:one")
        assert len(server.requests) == 1
