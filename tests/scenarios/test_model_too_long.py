"""A request that the model finds too long: shortened and asked once more, else told with what helps."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.model_server import ModelServer, Refuse, Served
from echo_bot.testing.scripted_model import CallTool, Say

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]

REFUSAL = "This model's maximum context length is 700 tokens. Please reduce the length of the messages."
LONG = "word " * 250


@dataclass
class Narrow:
    """A server that takes so many characters of messages; what stands in `answers` it says in turn."""

    takes: int
    answers: list[Served] = field(default_factory=list)
    refused: int = 0
    summaries: list[str] = field(default_factory=list)
    server: ModelServer = field(init=False)

    def __post_init__(self) -> None:
        self.server = ModelServer(otherwise=self._answer)

    def _answer(self, body: Mapping[str, Any]) -> Served:
        text = json.dumps([m for m in body["messages"] if m["role"] != "system"])
        if len(text) > self.takes:
            self.refused += 1
            return Refuse(400, REFUSAL)
        if "You shorten conversations" in str(body["messages"][0]["content"]):
            self.summaries.append(text)
            return Say("They spoke of words.")
        return self.answers.pop(0) if self.answers else Say("Fine.")

    def config(self, **more: object) -> Config:
        return {"models.default": "openai:one", "models.base_url": self.server.base_url, **more}


def last_sent(server: ModelServer) -> str:
    return json.dumps(server.requests[-1]["messages"])


async def ask(bot: RunningBot, says: Says, text: str, answer: str) -> str:
    await bot.channel.say(text)
    return (await bot.channel.wait_for(says(answer))).body


async def talk(bot: RunningBot, says: Says, narrow: Narrow, turns: int) -> None:
    """So many long messages, each answered."""
    for number in range(turns):
        narrow.answers.append(Say(f"Answer {number}."))
        await ask(bot, says, f"{number}: {LONG}", f"Answer {number}.")


async def test_the_conversation_is_summarised_and_asked_once_more(
    tmp_path: Path, local: Config, says: Says
) -> None:
    narrow = Narrow(takes=5_000)
    async with narrow.server.serving(), running_bot(tmp_path, local | narrow.config()) as bot:
        await talk(bot, says, narrow, 3)
        narrow.answers.append(Say("It fits."))
        assert await ask(bot, says, f"3: {LONG}", "It fits.") == "It fits."
        assert (narrow.refused, len(narrow.summaries)) == (1, 1)
        assert "They spoke of words." in last_sent(narrow.server)
        narrow.answers.append(Say("Still fits."))
        await ask(bot, says, "and now?", "Still fits.")
        assert "They spoke of words." in last_sent(narrow.server)
        assert narrow.refused == 1
        assert narrow.server.problems == []


async def test_one_that_is_too_long_even_then_is_said_with_what_helps_and_asked_no_third_time(
    tmp_path: Path, local: Config, says: Says
) -> None:
    narrow = Narrow(takes=5_000)
    async with narrow.server.serving(), running_bot(tmp_path, local | narrow.config()) as bot:
        await talk(bot, says, narrow, 3)
        narrow.takes = 1_000
        told = await ask(bot, says, f"3: {LONG}", "The model did not get this done")
        assert "this is longer than openai:one takes: This model's maximum context length" in told
        assert "`/new` begins a new conversation, `/model` chooses another model" in told
        assert "set models.compaction.at_tokens" in told
        with_tools = [body for body in narrow.server.requests if body.get("tools")]
        assert len(with_tools) == 3 + 2


async def test_it_is_shortened_once_for_an_answer_though_more_could_be_left_out(
    tmp_path: Path, local: Config, says: Says
) -> None:
    narrow = Narrow(takes=50_000)
    async with narrow.server.serving(), running_bot(tmp_path, local | narrow.config()) as bot:
        await talk(bot, says, narrow, 8)
        narrow.takes = 1_500
        await ask(bot, says, "and now?", "this is longer than openai:one takes")
        sent = [json.dumps(body["messages"]) for body in narrow.server.requests if body.get("tools")][8:]
        assert [len(text) > narrow.takes for text in sent] == [True, True]
        assert len(sent[1]) < len(sent[0]) * 0.6


async def test_a_message_that_is_too_long_by_itself_costs_the_conversation_nothing(
    tmp_path: Path, local: Config, says: Says
) -> None:
    narrow = Narrow(takes=5_000)
    async with narrow.server.serving(), running_bot(tmp_path, local | narrow.config()) as bot:
        narrow.answers.append(Say("Hello."))
        await ask(bot, says, "hi there", "Hello.")
        await ask(bot, says, LONG * 8, "this is longer than openai:one takes")
        assert (narrow.refused, narrow.summaries) == (1, [])


async def test_results_of_a_long_turn_are_shortened_and_its_calls_run_once(
    tmp_path: Path, local: Config, says: Says
) -> None:
    narrow = Narrow(takes=7_000)
    listing = CallTool("exec", {"command": "echo once >> log; printf '%3000s' | tr ' ' x"})
    narrow.answers += [listing, listing, listing, Say("Read them all.")]
    keys = narrow.config() | {"permissions.approval.mode": "off"}
    async with narrow.server.serving():
        keys["models.base_url"] = narrow.server.base_url
        async with running_bot(tmp_path, local | keys) as bot:
            await ask(bot, says, "read them", "Read them all.")
            assert (bot.workspace / "log").read_text() == "once\n" * 3
            assert narrow.refused == 1
            assert "left out to save room" in last_sent(narrow.server)
            assert narrow.server.problems == []


async def test_a_fallback_that_takes_more_goes_on(tmp_path: Path, local: Config, says: Says) -> None:
    narrow, wide = Narrow(takes=100), Narrow(takes=50_000, answers=[Say("I have room.")])
    async with narrow.server.serving(), wide.server.serving():
        config = narrow.config() | {
            "models.fallback": ["spare:two"],
            "models.providers": {"spare": {"base_url": wide.server.base_url}},
        }
        async with running_bot(tmp_path, local | config) as bot:
            told = await ask(bot, says, LONG, "I have room.")
            assert told == "I have room.\n\n(Answered by spare:two: openai:one failed.)"


async def test_without_compaction_it_is_said_at_once(tmp_path: Path, local: Config, says: Says) -> None:
    narrow = Narrow(takes=5_000)
    async with narrow.server.serving():
        config = narrow.config() | {"models.compaction.enabled": False}
        async with running_bot(tmp_path, local | config) as bot:
            await talk(bot, says, narrow, 3)
            await ask(bot, says, f"3: {LONG}", "this is longer than openai:one takes")
            assert (narrow.refused, narrow.summaries) == (1, [])


async def test_what_is_too_long_to_be_summarised_is_summarised_by_its_newer_half(
    tmp_path: Path, local: Config, says: Says
) -> None:
    narrow = Narrow(takes=50_000)
    async with narrow.server.serving(), running_bot(tmp_path, local | narrow.config()) as bot:
        await talk(bot, says, narrow, 6)
        narrow.takes = 4_000
        await ask(bot, says, "/compact", "Summarised 4 turns")
        [shown] = narrow.summaries
        assert narrow.refused == 1
        assert "3: word" in shown
        assert "0: word" not in shown
