"""One real process on Telegram, Discord, Slack, the web page and a terminal at once, from a file alone."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any, Protocol

import httpx
import pexpect  # type: ignore[import-untyped]  # it ships no types
import pytest
from websockets.asyncio.client import ClientConnection, connect

from echo_bot.testing.discord import Conversation as DiscordConversation
from echo_bot.testing.discord import DiscordEmulator
from echo_bot.testing.slack import Conversation as SlackConversation
from echo_bot.testing.slack import SlackEmulator
from echo_bot.testing.telegram import Conversation as TelegramConversation
from echo_bot.testing.telegram import TelegramEmulator
from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.e2e

StartBot = Callable[..., Awaitable[Any]]
SECONDS = 60.0
STOP_SECONDS = 5.0
COMPLAINTS = re.compile(
    r"Traceback|ResourceWarning|Task was destroyed|Unclosed|unclosed|never awaited|never retrieved"
)


class Chat(Protocol):
    """One person's chat with the bot, wherever it is."""

    async def say(self, text: str) -> None: ...

    async def approve(self) -> None:
        """Press "Approve once" on the card that opens."""
        ...

    async def see(self, words: str) -> None: ...


@dataclass
class EmulatedChat:
    conversation: TelegramConversation | DiscordConversation | SlackConversation

    async def say(self, text: str) -> None:
        self.conversation.say(text)

    async def approve(self) -> None:
        await self.conversation.wait_for_button("Approve once", timeout=SECONDS)
        self.conversation.press("Approve once")

    async def see(self, words: str) -> None:
        await self.conversation.wait_for_text(words, timeout=SECONDS)


class Page:
    """The web page's side of the gateway's websocket."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._sent = socket, 0

    async def say(self, text: str) -> None:
        await self._send(type="say", client_id=self._new_id(), text=text)

    async def approve(self) -> None:
        entry = (await self._next(lambda frame: frame["type"] == "card"))["entry"]
        button = next(each for each in entry["card"]["buttons"] if each["label"] == "Approve once")
        await self._send(type="press", press_id=self._new_id(), token=button["token"], message_id=entry["id"])

    async def see(self, words: str) -> None:
        await self._next(lambda frame: words in frame.get("entry", {}).get("text", ""))

    def _new_id(self) -> str:
        self._sent += 1
        return f"page-id-{self._sent:04}"

    async def _send(self, **frame: object) -> None:
        await self._socket.send(json.dumps(frame))

    async def _next(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async with asyncio.timeout(SECONDS):
            while True:
                frame: dict[str, Any] = json.loads(await self._socket.recv())
                if wanted(frame):
                    return frame


@asynccontextmanager
async def opened_page(login_url: str) -> AsyncIterator[Page]:
    origin = "/".join(login_url.split("/")[:3])
    async with httpx.AsyncClient(trust_env=False) as browser:
        answer = await browser.post(login_url)
    cookie = SimpleCookie(answer.headers["set-cookie"])["echo_bot_session"].value
    headers = {"Cookie": f"echo_bot_session={cookie}", "Origin": origin}
    async with connect(
        f"{origin.replace('http', 'ws')}/ws", additional_headers=headers, proxy=None
    ) as connection:
        yield Page(connection)


class Terminal:
    """A person at the keys of the bot. What it writes to stderr goes to a file."""

    def __init__(self, command: str, environment: dict[str, str]) -> None:
        self.process = pexpect.spawn(
            "/bin/sh",
            ["-c", f"exec {command}"],
            env=environment,
            dimensions=(60, 120),
            encoding="utf-8",
            timeout=SECONDS,
        )

    async def say(self, text: str) -> None:
        self.process.send(f"{text}\r")

    async def approve(self) -> None:
        await self.see("then Enter")
        self.process.send("o\r")

    async def see(self, words: str) -> None:
        await self.find(re.escape(words))

    async def find(self, pattern: str) -> str:
        """Waits in a thread: the emulators of this process go on meanwhile."""
        await asyncio.to_thread(self.process.expect, pattern)
        return str(self.process.match.group(0))

    async def end(self) -> int | None:
        await asyncio.to_thread(self.process.expect, pexpect.EOF, STOP_SECONDS)
        await asyncio.to_thread(self.process.wait)
        return int(self.process.exitstatus) if self.process.exitstatus is not None else None


class Platforms:
    """The three emulators, and Ada who has an account on each."""

    def __init__(self, telegram: TelegramEmulator, discord: DiscordEmulator, slack: SlackEmulator) -> None:
        self.telegram, self.discord, self.slack = telegram, discord, slack
        self._ada = discord.user("Ada")
        self.chats: dict[str, Chat] = {
            "telegram": EmulatedChat(telegram.user(42, "Ada").chat()),
            "discord": EmulatedChat(self._ada.dm()),
            "slack": EmulatedChat(slack.user("U1", "Ada").dm()),
        }

    def config(self) -> dict[str, Any]:
        channels = {
            "telegram": {"enabled": True, "allow_from": ["42"], "api_base": self.telegram.url},
            "discord": {
                "enabled": True,
                "allow_from": [self._ada.id],
                "api_base": self.discord.api_base,
                "gateway_url": self.discord.gateway_url,
            },
            "slack": {"enabled": True, "allow_from": ["U1"], "api_base": self.slack.url},
        }
        admins = ["telegram:42", f"discord:{self._ada.id}", "slack:U1", "web:local", "cli:local"]
        return {
            "tools": {"exec": {"host": "local"}},
            "permissions": {"admin_users": admins},
            "channels": channels,
        }

    def tokens(self) -> dict[str, str]:
        return {
            "ECHO_BOT_CHANNELS__TELEGRAM__TOKEN": self.telegram.token,
            "ECHO_BOT_CHANNELS__DISCORD__TOKEN": self.discord.token,
            "ECHO_BOT_CHANNELS__SLACK__BOT_TOKEN": self.slack.bot_token,
            "ECHO_BOT_CHANNELS__SLACK__APP_TOKEN": self.slack.app_token,
        }

    def connections_made(self) -> tuple[int, int]:
        """Of Discord, by identifying or resuming, and of Slack."""
        logins = [frame for frame in self.discord.gateway.received if frame["op"] in (2, 6)]
        return len(logins), self.slack.sockets.opened

    def cut_everything(self) -> None:
        self.telegram.drop_connections()
        self.discord.cut()
        self.slack.sockets.drop()


@pytest.fixture
async def platforms() -> AsyncIterator[Platforms]:
    async with (
        TelegramEmulator() as telegram,
        DiscordEmulator(first_answer_seconds=PATIENCE_SECONDS) as discord,
        SlackEmulator() as slack,
    ):
        yield Platforms(telegram, discord, slack)


async def test_all_channels_at_once_lose_their_connections_and_come_back(
    tmp_path: Path, platforms: Platforms
) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "config.yaml").write_text(json.dumps(platforms.config()))
    errors, log = tmp_path / "errors", tmp_path / "state" / "echo-bot.log"
    command = f"{sys.executable} -W default::ResourceWarning -m echo_bot run 2>{errors}"
    terminal = Terminal(command, environment(tmp_path) | platforms.tokens())
    try:
        login_url = (await terminal.find(r"http://127\.0\.0\.1:\d+/[^\s]+")).strip()
        await terminal.see("Write a message")
        await eventually(lambda: all_connected(log), "all connections", SECONDS)
        async with opened_page(login_url) as page:
            chats = platforms.chats | {"web": page, "terminal": terminal}
            await talk_everywhere(chats, "first")
            platforms.cut_everything()
            await talk_everywhere(chats, "second")
            assert min(platforms.connections_made()) >= 2
            begun = time.monotonic()
            terminal.process.kill(signal.SIGTERM)
            code = await terminal.end()
        assert (code, time.monotonic() - begun < STOP_SECONDS) == (0, True)
    finally:
        terminal.process.close(force=True)
    written = errors.read_text(errors="replace") + log.read_text(errors="replace")
    assert COMPLAINTS.findall(written) == [], written
    assert [token for token in platforms.tokens().values() if token in written] == []


async def test_platforms_that_call_reach_the_bot_through_its_gateway(
    start_bot: StartBot, platforms: Platforms
) -> None:
    config = platforms.config()
    del config["channels"]["discord"]
    config["channels"]["web"] = {"enabled": False}
    config["channels"]["telegram"]["webhook_url"] = "https://bot.example.org/hooks/telegram"
    config["channels"]["slack"]["mode"] = "http"
    secrets = {
        "ECHO_BOT_CHANNELS__TELEGRAM__WEBHOOK_SECRET": "a-secret-of-the-webhook",
        "ECHO_BOT_CHANNELS__SLACK__SIGNING_SECRET": platforms.slack.signing_secret,
    }
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    platforms.telegram.deliver_to(address)
    caller = platforms.slack.call(address)
    bot = await start_bot(config, **platforms.tokens(), **secrets, ECHO_BOT_GATEWAY__PORT=str(port))
    await eventually(lambda: platforms.telegram.webhooks.webhook, "the webhook", SECONDS)
    await eventually(lambda: "slack_connected" in bot.log, "the workspace", SECONDS)
    forged = await caller.post(b"{}", {**caller.signature(b"other"), "content-type": "application/json"})
    assert forged.status_code == 401
    del platforms.chats["discord"]
    await talk_everywhere(platforms.chats, "called")
    assert await bot.stop() == 0
    assert COMPLAINTS.findall(bot.log) == [], bot.log


async def talk_everywhere(chats: dict[str, Chat], word: str) -> None:
    """In each chat a command, its card, a press, and what came of it: side by side."""

    async def talk(name: str, chat: Chat) -> None:
        await chat.say(f"/run rm -rf {word}-{name}; echo $((20+22)) {word} {name}")
        await chat.approve()
        await chat.see(f"42 {word} {name}")

    async with asyncio.TaskGroup() as talking:
        for name, chat in chats.items():
            talking.create_task(talk(name, chat), name=name)


def all_connected(log: Path) -> bool:
    written = log.read_text(errors="replace")
    return all(f"{name}_connected" in written for name in ("telegram", "discord", "slack"))


def environment(folder: Path) -> dict[str, str]:
    """Nothing of the developer's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ECHO_")}
    return kept | {
        "ECHO_BOT_DATA_DIR": str(folder / "state"),
        "ECHO_BOT_WORKSPACE": str(folder / "workspace"),
        "ECHO_BOT_CONFIG": str(folder / "config.yaml"),
        "ECHO_BOT_GATEWAY__PORT": "0",
        "ECHO_BOT_NO_BROWSER": "1",
        "TERM": "xterm-256color",
    }


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
