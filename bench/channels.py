"""What the whole bot loses under load (nothing), and what it adds to a bare bot of the same SDK.

Run it on a quiet machine: `python bench/channels.py [telegram|discord|slack] [--messages 1000] [--chats 50]`.

The emulated platform and its people live in this process, each bot in a process of its own. The bare one
answers in the SDK's handler. Ours stores every message before it is acknowledged and every answer before it
is sent: without a model it answers that it has none, which the bare one says in the same words; with one
(that echoes) it runs the model's loop with its tools and a history, and stands beside a bare bot that asks
the same model by the same library. Bots take turns, and differences and ratios are those of each round.
Processor time, in milliseconds for each message of the flood, is what a busy machine blurs least.
Telegram's SDK limits how fast it sends: that limit holds in the first and the last lines, for all bots, and
is off in between.

On two quiet cores, medians of three rounds: without a model Telegram adds 3.4 ms (p95 4.5), Discord 2.6
(4.4) and Slack 2.1 (2.6); they take 1.00 (at the SDK's limits; 0.34 without), 0.52 and 0.68 of the bare bot's
messages. With a model they add 9.0, 8.9 and 8.3 ms to the bare one's. With 40 faults nothing was lost,
doubled unmarked or out of order. Slower machines gave Slack 0.4 to 0.5: compare within one run.
"""

from __future__ import annotations

import sys
from pathlib import Path

# A script's folder comes first in the path, and there this file would hide the package of its name.
if sys.path and Path(sys.path[0]).resolve() == Path(__file__).resolve().parent:
    del sys.path[0]

import argparse
import asyncio
import contextlib
import cProfile
import gc
import json
import logging
import pstats
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog

from echo_bot.agent.turn import NO_MODEL
from echo_bot.channel import Channel, ChannelSettings, ChannelState
from echo_bot.testing.crowd import CROWDS, Crowd

ROUNDS = 3
STEADY_MESSAGES, STEADY_PAUSE_SECONDS = 50, 0.05
FLOOD_MESSAGES = 500
FAULTS = 40
RELAXED_SECONDS = 120.0

KINDS = {
    "bare": "bare bot of the SDK",
    "core": "ours, without a model",
    "bare_model": "bare bot, with a model",
    "model": "ours, with a model",
}
BESIDE = {"bare": "bare", "core": "bare", "bare_model": "bare", "model": "bare_model"}
"""What each is compared with."""

Answer = Callable[[str], Awaitable[str]]
Serving = Callable[[ChannelSettings], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def whole_bot(
    platform: str, people: list[str], settings: ChannelSettings, *, with_model: bool
) -> AsyncIterator[None]:
    from echo_bot.testing.bot import running_bot
    from echo_bot.testing.scripted_model import echo_model

    channel = _channel(platform, settings)
    config: dict[str, object] = {
        f"channels.{platform}.allow_from": people,
        "channels.stream.enabled": False,
    }
    with tempfile.TemporaryDirectory() as folder:
        model = echo_model() if with_model else None
        async with running_bot(Path(folder), config, model=model, channels=[channel]):
            while channel.health().state is not ChannelState.CONNECTED:  # noqa: ASYNC110 - it has no event
                await asyncio.sleep(0.01)
            yield


def _channel(platform: str, settings: ChannelSettings) -> Channel:
    """With short pauses after a failure: what is measured is the work, not the wait."""
    if platform == "telegram":
        from channels.telegram import standing
        from channels.telegram.adapter import TelegramChannel

        return TelegramChannel(settings, standing.Rhythm(first_retry=0.05, longest_retry=0.5))
    if platform == "discord":
        from channels.discord import connection
        from channels.discord.adapter import DiscordChannel

        return DiscordChannel(settings, connection.Rhythm(first_retry=0.05, longest_retry=0.5, watch=0.1))
    from channels.slack import line
    from channels.slack.adapter import SlackChannel

    return SlackChannel(settings, line.Rhythm(look=0.05, first_retry=0.05, longest_retry=0.5))


@asynccontextmanager
async def bare_telegram(settings: ChannelSettings, answer_to: Answer) -> AsyncIterator[None]:
    from telegram import Update
    from telegram.ext import Application, ContextTypes, MessageHandler, filters

    from channels.telegram.client import Pace

    async def answer(update: Update, _: ContextTypes.DEFAULT_TYPE) -> None:
        if update.message is not None and update.message.text is not None:
            await update.message.reply_text(await answer_to(update.message.text))

    token, base = settings.secrets["token"], f"{settings.api_base}/bot"
    app = Application.builder().token(token).base_url(base).rate_limiter(Pace(max_retries=3)).build()
    app.add_handler(MessageHandler(filters.TEXT, answer))
    async with app:
        await app.start()
        assert app.updater is not None
        await app.updater.start_polling()
        yield
        await app.updater.stop()
        await app.stop()


@asynccontextmanager
async def bare_discord(settings: ChannelSettings, answer_to: Answer) -> AsyncIterator[None]:
    import discord
    import yarl
    from discord.gateway import DiscordWebSocket
    from discord.http import Route

    Route.BASE = settings.api_base
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(settings.options["gateway_url"])
    client = discord.Client(intents=discord.Intents(guilds=True, dm_messages=True, message_content=True))
    ready = asyncio.Event()

    async def on_ready() -> None:
        ready.set()

    async def on_message(message: discord.Message) -> None:
        if message.author != client.user:
            await message.channel.send(await answer_to(message.content))

    client.event(on_ready)
    client.event(on_message)
    running = asyncio.create_task(client.start(settings.secrets["token"]))
    await ready.wait()
    yield
    await client.close()
    await running


@asynccontextmanager
async def bare_slack(settings: ChannelSettings, answer_to: Answer) -> AsyncIterator[None]:
    from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
    from slack_bolt.async_app import AsyncApp, AsyncSay
    from slack_sdk.web.async_client import AsyncWebClient

    app = AsyncApp(client=AsyncWebClient(settings.secrets["bot_token"], settings.api_base))

    async def answer(say: AsyncSay, message: dict[str, Any]) -> None:
        await say(await answer_to(message["text"]))

    app.message("")(answer)
    handler = AsyncSocketModeHandler(app, settings.secrets["app_token"])
    await handler.connect_async()  # type: ignore[no-untyped-call]
    yield
    await handler.close_async()  # type: ignore[no-untyped-call]


def without_pace() -> None:
    """Telegram's SDK sends as fast as it is told to, in both bots."""
    from channels.telegram import client

    class Unpaced(client.Pace):
        def __init__(self, max_retries: int) -> None:
            super().__init__(overall_max_rate=0, group_max_rate=0, max_retries=max_retries)

    client.Pace = Unpaced  # type: ignore[misc,assignment]


def serving(kind: str, platform: str, people: list[str]) -> Serving:
    if not kind.startswith("bare"):
        return partial(whole_bot, platform, people, with_model=kind == "model")
    bare = {"telegram": bare_telegram, "discord": bare_discord, "slack": bare_slack}[platform]
    return partial(bare, answer_to=asked_model() if kind == "bare_model" else no_model)


async def no_model(_: str) -> str:
    return NO_MODEL


def asked_model() -> Answer:
    """By the library of our model's loop, without tools or history."""
    from pydantic_ai import Agent

    from echo_bot.testing.scripted_model import echo_model

    agent = Agent(echo_model())

    async def answer(text: str) -> str:
        return (await agent.run(text)).output

    return answer


async def serve(kind: str, platform: str, request: dict[str, Any]) -> None:
    """Run a bot until our standard input ends; each line there asks for the processor time so far."""
    people = request.pop("people")
    async with serving(kind, platform, people)(ChannelSettings("", **request)):
        if not kind.startswith("bare"):
            gc.freeze()  # as `echo-bot run` does
        print("ready", flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            print(time.process_time(), flush=True)


@dataclass(frozen=True)
class RunningBot:
    asked: asyncio.StreamWriter
    answers: asyncio.StreamReader

    async def processor_seconds(self) -> float:
        self.asked.write(b"\n")
        return float(await self.answers.readline())


@asynccontextmanager
async def run_bot(kind: str, crowd: Crowd, options: list[str]) -> AsyncIterator[RunningBot]:
    settings = crowd.settings
    request = {
        "api_base": settings.api_base,
        "options": dict(settings.options),
        "secrets": dict(settings.secrets),
        "people": crowd.people,
    }
    words = [__file__, crowd.platform, "--serve", kind, *options]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{json.dumps(request)}\n".encode())
    if not await process.stdout.readline():
        raise SystemExit(f"the {kind} {crowd.platform} bot did not start")
    yield RunningBot(process.stdin, process.stdout)
    process.stdin.close()
    await process.wait()


async def in_trouble(crowd: Crowd, messages: int, chats: int) -> float:
    """Everybody talks while the platform fails again and again. Seconds until all is answered."""
    start = time.perf_counter()
    every = max(1, messages // FAULTS)
    for number in range(messages):
        crowd.say(number % chats, f"message {number}")
        if number % every == 0:
            crowd.trouble()
            with contextlib.suppress(TimeoutError):
                await crowd.answered(number - 2 * every, timeout=10)
    with contextlib.suppress(TimeoutError):
        await crowd.answered(messages, RELAXED_SECONDS)
    seconds = time.perf_counter() - start
    await crowd.settled(timeout=5, quiet=2.0)
    return seconds


async def steady(crowd: Crowd, chats: int) -> list[float]:
    """One message at a time, with pauses. Milliseconds from each message to its answer."""
    taken = []
    for number in range(-5, STEADY_MESSAGES):
        count = sum(map(len, crowd.answers))
        start = time.perf_counter()
        crowd.say(number % chats, f"steady {number}")
        await crowd.answered(count + 1)
        if number >= 0:
            taken.append((time.perf_counter() - start) * 1000)
        await asyncio.sleep(STEADY_PAUSE_SECONDS)
    return taken


async def flood(crowd: Crowd, chats: int) -> float:
    """Everybody talks at once. Messages a second."""
    count, start = sum(map(len, crowd.answers)), time.perf_counter()
    for number in range(FLOOD_MESSAGES):
        crowd.say(number % chats, f"flood {number}")
    await crowd.answered(count + FLOOD_MESSAGES)
    return FLOOD_MESSAGES / (time.perf_counter() - start)


def p95(taken: list[float]) -> float:
    return sorted(taken)[int(len(taken) * 0.95)]


async def measure(platform: str, messages: int, chats: int, options: list[str]) -> None:
    async with CROWDS[platform](chats) as crowd, run_bot("model", crowd, []):
        seconds = await in_trouble(crowd, messages, chats)
        tally = crowd.tally()
    print(
        f"{platform}: {messages} messages over {chats} chats with {FAULTS} faults: lost {tally.lost}, "
        f"duplicated {tally.duplicated}, out of order {tally.out_of_order}, marked as possibly repeated "
        f"{tally.marked}; "
        f"{messages / seconds:.0f} a second",
        flush=True,
    )
    latencies: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    rates: dict[str, list[float]] = {kind: [] for kind in KINDS}
    processor: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for _ in range(ROUNDS):
        for kind in KINDS:
            async with (
                CROWDS[platform](chats) as crowd,
                run_bot(kind, crowd, ["--unpaced", *options]) as bot,
            ):
                latencies[kind].append(await steady(crowd, chats))
                before = await bot.processor_seconds()
                rates[kind].append(await flood(crowd, chats))
                spent = await bot.processor_seconds() - before
                processor[kind].append(spent * 1000 / FLOOD_MESSAGES)
    middles = {kind: [statistics.median(taken) for taken in latencies[kind]] for kind in KINDS}
    late = {kind: [p95(taken) for taken in latencies[kind]] for kind in KINDS}
    for kind, title in KINDS.items():
        beside = BESIDE[kind]
        ratios = [rate / of for rate, of in zip(rates[kind], rates[beside], strict=True)]
        print(
            f"{platform}: {title:22} p50 {statistics.median(middles[kind]):6.1f} "
            f"(adds {_middle_difference(middles[kind], middles[beside]):5.1f})  "
            f"p95 {statistics.median(late[kind]):6.1f} "
            f"(adds {_middle_difference(late[kind], late[beside]):5.1f}) ms;  "
            f"flood {statistics.median(rates[kind]):5.0f} a second, "
            f"{statistics.median(ratios):.2f} of the {KINDS[beside]};  "
            f"processor {statistics.median(processor[kind]):4.1f}",
            flush=True,
        )


async def measure_paced(platform: str, chats: int) -> None:
    """Everybody talks at once, and every bot keeps to the limits of its SDK."""
    rates = {}
    for kind in KINDS:
        async with CROWDS[platform](chats) as crowd, run_bot(kind, crowd, []):
            rates[kind] = await flood(crowd, chats)
    for kind, title in KINDS.items():
        print(
            f"{platform}: {title:22} at the SDK's limits: flood {rates[kind]:5.0f} a second, "
            f"{rates[kind] / rates[BESIDE[kind]]:.2f} of the bare bot",
            flush=True,
        )


def _middle_difference(of: list[float], to: list[float]) -> float:
    return statistics.median(one - other for one, other in zip(of, to, strict=True))


async def main(arguments: argparse.Namespace) -> None:
    if arguments.serve:
        await serve(arguments.serve, arguments.platforms[0], json.loads(sys.stdin.readline()))
        return
    options = ["--profile"] if arguments.profile else []
    for platform in arguments.platforms or CROWDS:
        await measure(platform, arguments.messages, arguments.chats, options)
        if platform == "telegram":
            await measure_paced(platform, arguments.chats)


def profiled(work: Callable[[], Awaitable[None]]) -> None:
    profile = cProfile.Profile()
    profile.enable()
    try:
        asyncio.run(work())  # type: ignore[arg-type]
    finally:
        profile.disable()
        pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(45)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("platforms", nargs="*")
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--chats", type=int, default=50)
    parser.add_argument("--profile", action="store_true", help="print where the bots spend their time")
    parser.add_argument("--unpaced", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--serve", choices=tuple(KINDS), help=argparse.SUPPRESS)
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    if given.unpaced and given.platforms[0] == "telegram":
        without_pace()
    if given.serve and given.profile:
        profiled(lambda: main(given))
    else:
        asyncio.run(main(given))
