"""The real bot's page in a real browser: log in, ask, decide, crash, come back."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Page, async_playwright, expect

from echo_bot.testing.model_server import ModelServer
from echo_bot.testing.scripted_model import CallTool, Say, Told

pytestmark = pytest.mark.e2e

StartBot = Callable[..., Awaitable[Any]]
SECONDS = 60_000

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture
async def page(chromium: str) -> AsyncIterator[Page]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        page = await browser.new_page(viewport={"width": 1100, "height": 800})
        page.set_default_timeout(SECONDS)
        yield page
        await browser.close()


async def log_in(page: Page, url: str) -> None:
    await page.goto(url)
    await page.get_by_role("button", name="Continue").click()
    await page.get_by_role("textbox", name="Message").wait_for()


async def say(page: Page, text: str) -> None:
    box = page.get_by_role("textbox", name="Message")
    await box.fill(text)
    await box.press("Enter")


async def press(page: Page, label: str) -> None:
    await page.get_by_role("button", name=label, exact=True).first.click()


ASKS: dict[str, object] = {"tools": {"exec": {"host": "local"}}}


async def test_a_typed_command_shows_a_card_and_one_click_runs_it(
    tmp_path: Path, start_bot: StartBot, page: Page
) -> None:
    (tmp_path / "workspace" / "hello.txt").write_text("x")
    bot = await start_bot()
    await log_in(page, bot.url)
    await say(page, "/run ls -la")
    await press(page, "Approve once")
    await expect(page.get_by_text("hello.txt")).to_be_visible(timeout=SECONDS)
    await expect(page.get_by_text(re.compile("Approved once by web:local"))).to_be_visible(timeout=SECONDS)
    assert await page.get_by_role("button", name="Approve once").count() == 0
    await page.screenshot(path=tmp_path / "page.png")
    assert await bot.stop() == 0


async def test_a_card_on_the_page_survives_kill_9_and_so_does_the_log_in(
    tmp_path: Path, start_bot: StartBot, page: Page
) -> None:
    port = str(_free_port())
    bot = await start_bot(ASKS, ECHO_BOT_GATEWAY__PORT=port)
    await log_in(page, bot.url)
    await say(page, "/run echo once >> log; cat log")
    await page.get_by_role("button", name="Approve once").wait_for()
    bot.kill()
    await bot.process.wait()
    await start_bot(ASKS, ECHO_BOT_GATEWAY__PORT=port)
    await page.reload()
    await press(page, "Approve once")
    await expect(page.get_by_text("exit code 0")).to_be_visible(timeout=SECONDS)
    assert (tmp_path / "workspace" / "log").read_text() == "once\n"


async def test_the_model_streams_into_the_page_and_its_call_waits_for_the_button(
    start_bot: StartBot, page: Page
) -> None:
    steps: list[Told] = [
        CallTool("exec", {"command": "echo 42"}, say="Let me look."),
        Say("The answer is **42**."),
    ]
    async with ModelServer(steps).serving() as models:
        config = ASKS | {"models": {"default": "openai:scripted", "base_url": models.base_url}}
        bot = await start_bot(config)
        await log_in(page, bot.url)
        await say(page, "what is the answer?")
        await expect(page.get_by_text("Let me look.")).to_be_visible(timeout=SECONDS)
        await press(page, "Approve once")
        await expect(page.locator("strong", has_text="42")).to_be_visible(timeout=SECONDS)
        assert "42" in str(models.requests[-1]["messages"][-1])


async def test_a_link_preview_cannot_spend_the_link_and_a_second_log_in_is_refused(
    start_bot: StartBot,
) -> None:
    bot = await start_bot()
    async with httpx.AsyncClient(trust_env=False) as preview, httpx.AsyncClient(trust_env=False) as person:
        for _ in range(3):
            assert "Continue" in (await preview.get(bot.url)).text
        assert (await person.post(bot.url)).status_code in (302, 303)
        assert (await preview.post(bot.url)).status_code in (403, 404, 410)
        base = bot.url.rpartition("/login/")[0]
        assert 'name="Message"' not in (await preview.get(base + "/")).text


def _free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
