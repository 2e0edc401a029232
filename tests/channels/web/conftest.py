"""A web channel with its gateway, and a real browser looking at the page."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, async_playwright, expect

from channels.web.adapter import WebChannel, build
from echo_bot.channel import ChannelSettings
from echo_bot.events import Button, ButtonStyle, Card, CodeBlock, Fields, Paragraph
from echo_bot.gateway import Gateway, GatewaySettings
from echo_bot.storage.store import SqlStore, open_store
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import PATIENCE_SECONDS

expect.set_options(timeout=PATIENCE_SECONDS * 1000)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

BUTTONS = (
    Button("Approve once", "tok-once", ButtonStyle.PRIMARY),
    Button("For this session", "tok-session"),
    Button("Deny", "tok-deny", ButtonStyle.DANGER),
    Button("Deny with reason", "tok-reason", ButtonStyle.DANGER, prompt="Why not?"),
)


@dataclass
class House:
    """A bot that can be stopped and started again on the same port, and a browser looking at it."""

    store: SqlStore
    port: FakePort
    page: Page
    context: BrowserContext
    complaints: list[str]
    channel: WebChannel
    gateway: Gateway
    port_number: int
    buttons: tuple[Button, ...] = BUTTONS

    def card(
        self, card_id: str = "card-000001", command: str = "ls -la", title: str = "Run a command"
    ) -> Card:
        return Card(
            card_id,
            title,
            (
                CodeBlock(command, "bash", "Command"),
                Fields((("Risk", "exec"),)),
                Paragraph("Asked by web:local"),
            ),
            self.buttons,
            short_id=card_id[-6:],
            deadline=datetime.now(UTC) + timedelta(seconds=90),
        )

    async def restart(self) -> None:
        await self.stop()
        self.channel, self.gateway = _bot(self.store, self.port_number)
        await self.channel.start(self.port)
        await self.gateway.start()

    async def stop(self) -> None:
        await self.channel.stop()
        await self.gateway.stop()

    async def log_in(self) -> None:
        await self.page.goto(await self.gateway.new_login_link())
        await self.page.get_by_role("button", name="Continue").click()
        await expect(self.page.get_by_text("Connected", exact=True)).to_be_visible()

    async def say(self, text: str) -> None:
        await self.page.get_by_role("textbox", name="Message").fill(text)
        await self.page.keyboard.press("Enter")


def _bot(store: SqlStore, port: int) -> tuple[WebChannel, Gateway]:
    channel = build(ChannelSettings("", options={"notice": "No model is configured."}))
    settings = GatewaySettings(port=port)
    return channel, Gateway(settings, store.logins, lambda: datetime.now(UTC), {"/": channel.routes()})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("needs Chromium (Debian: apt-get install chromium)")
    async with async_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        launched = await playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield launched
        await launched.close()


@pytest_asyncio.fixture(loop_scope="module")
async def house(tmp_path: Path, browser: Browser) -> AsyncIterator[House]:
    store = await open_store(f"sqlite+aiosqlite:///{tmp_path}/page.db")
    channel, gateway = _bot(store, 0)
    port = FakePort()
    await channel.start(port)
    url = await gateway.start()
    context = await browser.new_context(viewport={"width": 1100, "height": 800})
    page = await context.new_page()
    complaints: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error":
            complaints.append(message.text)

    page.on("console", hear)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    here = House(store, port, page, context, complaints, channel, gateway, int(url.rpartition(":")[2]))
    yield here
    await context.close()
    await here.stop()
    await store.close()
