"""A voice message on each platform: emulator, SDK, adapter, fetch and transcription, one after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from echo_bot.channel import Channel, ChannelSettings, ChannelState
from echo_bot.testing.bot import running_bot
from echo_bot.testing.discord import DiscordEmulator
from echo_bot.testing.scripted_model import echo_model
from echo_bot.testing.slack import SlackEmulator
from echo_bot.testing.telegram import TelegramEmulator
from echo_bot.testing.transcriber import Transcriber
from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually

OGG = b"OggS" + bytes(60)
M4A = bytes(4) + b"ftypM4A " + bytes(40)

Stage = tuple[ChannelSettings, Any, str, Callable[[], object]]
"""How the platform is reached, a direct chat on it, whose it is, and what sends a voice message there."""


@asynccontextmanager
async def on_telegram() -> AsyncIterator[Stage]:
    async with TelegramEmulator() as emulator:
        chat = emulator.user(42).chat()
        settings = ChannelSettings("", api_base=emulator.url, secrets={"token": emulator.token})
        yield settings, chat, "42", lambda: chat.send_voice(OGG)


@asynccontextmanager
async def on_discord() -> AsyncIterator[Stage]:
    async with DiscordEmulator(first_answer_seconds=PATIENCE_SECONDS) as emulator:
        ada = emulator.user("Ada")
        chat = ada.dm()
        settings = ChannelSettings(
            "",
            api_base=emulator.api_base,
            options={"gateway_url": emulator.gateway_url},
            secrets={"token": emulator.token},
        )
        yield settings, chat, ada.id, lambda: chat.say("", files=[("voice-message.ogg", OGG)], voice=True)


@asynccontextmanager
async def on_slack() -> AsyncIterator[Stage]:
    async with SlackEmulator() as emulator:
        chat = emulator.user("U1", "Ada").dm()
        secrets = {"bot_token": emulator.bot_token, "app_token": emulator.app_token}
        settings = ChannelSettings("", emulator.url, options={"mode": "socket"}, secrets=secrets)
        clip = emulator.world.store_file("audio_message.m4a", "audio/mp4", M4A, "slack_audio")
        yield settings, chat, "U1", lambda: chat.say("", files=(clip,), extra={"subtype": "file_share"})


@pytest.mark.parametrize(
    ("platform", "open_stage", "name", "data"),
    [
        ("telegram", on_telegram, "voice.ogg", OGG),
        ("discord", on_discord, "voice.ogg", OGG),
        ("slack", on_slack, "voice.m4a", M4A),
    ],
    ids=["telegram", "discord", "slack"],
)
async def test_a_voice_message_is_heard_and_answered(
    tmp_path: Path,
    channel_of: Callable[[str, ChannelSettings], Channel],
    platform: str,
    open_stage: Any,
    name: str,
    data: bytes,
) -> None:
    async with open_stage() as stage, Transcriber(["Good morning from the harbour"]).serving() as transcriber:
        settings, chat, person, send = stage
        channel = channel_of(platform, settings)
        config = {
            f"channels.{platform}.allow_from": [person],
            f"channels.{platform}.api_base": settings.api_base,
            "tools.stt.api_base": transcriber.base_url,
        }
        async with running_bot(tmp_path, config, model=echo_model(), channels=[channel]):
            await eventually(lambda: channel.health().state is ChannelState.CONNECTED, "the channel")
            send()
            await chat.wait_for_text("transcribed] Good morning from the harbour")
    (heard,) = transcriber.heard
    assert (heard.name, heard.data) == (name, data)
