"""What transcribing costs: counted for each recording, shown by /cost, and held against a day's limits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.file_host import FileHost
from echo_bot.testing.loopback import HttpResponse
from echo_bot.testing.scripted_model import Say, ScriptedModel
from echo_bot.testing.transcriber import Transcriber
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]

OGG = b"OggS" + bytes(60)


def said(text: str, seconds: float) -> HttpResponse:
    body = {"text": text, "usage": {"type": "duration", "seconds": seconds}}
    return HttpResponse(json.dumps(body).encode())


def heard_by(host: FileHost, transcriber: Transcriber, local: Config, **more: object) -> Config:
    named = {f"tools.stt.{name}": value for name, value in more.items()}
    return local | host.config | {"tools.stt.api_base": transcriber.base_url} | named


async def speak(bot: RunningBot, host: FileHost, says: Says, answer: str) -> str:
    await bot.channel.say("", files=[host.voice(bot.channel, OGG)])
    return (await bot.channel.wait_for(says(answer))).body


async def cost(bot: RunningBot, says: Says) -> str:
    await bot.channel.say("/cost")
    return (await bot.channel.wait_for(says("This conversation"))).body


async def test_cost_shows_seconds_and_what_they_cost(
    tmp_path: Path, local: Config, host: FileHost, transcriber: Transcriber, says: Says
) -> None:
    transcriber.add(said("Hello", 30), said("Hello again", 60))
    config = heard_by(host, transcriber, local, model="whisper-1", price_per_minute=0.5)
    config |= {"models.prices": {"given": {"input": 0, "output": 0}}}
    script = ScriptedModel([Say("One."), Say("Two.")])
    async with running_bot(tmp_path, config, model=script.model) as bot:
        await speak(bot, host, says, "One.")
        await speak(bot, host, says, "Two.")
        told = await cost(bot, says)
        assert "2 recordings of 90 s, $0.7500" in told.splitlines()[0]
        assert "- `stt:whisper-1`: 2 recordings of 90 s, $0.7500" in told


async def test_without_a_price_the_cost_is_unknown_and_said_to_be(
    tmp_path: Path, local: Config, host: FileHost, transcriber: Transcriber, says: Says
) -> None:
    transcriber.add(said("Hello", 30))
    script = ScriptedModel([Say("One.")])
    async with running_bot(tmp_path, heard_by(host, transcriber, local), model=script.model) as bot:
        await speak(bot, host, says, "One.")
        assert "- `stt:unnamed`: 1 recording of 30 s, cost unknown" in await cost(bot, says)


async def test_a_limit_of_cost_without_a_price_sends_no_recording_and_leaves_the_model_answering(
    tmp_path: Path, local: Config, host: FileHost, transcriber: Transcriber, says: Says
) -> None:
    config = heard_by(host, transcriber, local) | {
        "models.limits.cost_per_day": 1.0,
        "models.prices": {"given": {"input": 0, "output": 0}},
    }
    script = ScriptedModel([Say("I could not hear it."), Say("But I read you.")])
    async with running_bot(tmp_path, config, model=script.model) as bot:
        assert any("Set tools.stt.price_per_minute" in warning for warning in bot.parts.warnings)
        await speak(bot, host, says, "I could not hear it.")
        assert "Set tools.stt.price_per_minute, 0 where it costs nothing" in str(script.seen[0])
        await bot.channel.say("and now?")
        await bot.channel.wait_for(says("But I read you."))
    assert transcriber.heard == []


async def test_recordings_use_up_the_day_and_then_none_is_sent(
    tmp_path: Path, local: Config, host: FileHost, transcriber: Transcriber, says: Says
) -> None:
    transcriber.add(said("Hello", 120), said("Never heard", 1))
    config = heard_by(host, transcriber, local, price_per_minute=0.5) | {"models.limits.cost_per_day": 1.0}
    script = ScriptedModel([])
    async with running_bot(tmp_path, config, model=script.model) as bot:
        await speak(bot, host, says, "models.limits.cost_per_day is reached: $1.00 of $1.00")
        assert len(transcriber.heard) == 1
        await bot.channel.say("", files=[host.voice(bot.channel, OGG)])
        reached = says("models.limits.cost_per_day is reached")
        await eventually(lambda: sum(map(reached, bot.channel.messages)) == 2, "the second answer")
        assert len(transcriber.heard) == 1
        assert script.seen == []
        [total] = await bot.parts.models.ledger.today()
        assert (total.kind, total.answers, total.seconds) == ("voice", 1, 120.0)


async def test_a_recording_that_was_not_understood_costs_nothing_of_what_is_counted(
    tmp_path: Path, local: Config, host: FileHost, transcriber: Transcriber, says: Says
) -> None:
    transcriber.add(HttpResponse(b"{}", 500))
    config = heard_by(host, transcriber, local, price_per_minute=0.5)
    async with running_bot(tmp_path, config) as bot:
        await speak(bot, host, says, "Not transcribed")
        assert await bot.parts.models.ledger.today() == ()
