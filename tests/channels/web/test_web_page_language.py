"""The page in Chinese: what its own scripts and the gateway say, out of the one catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from channels.web.routes import PAGE_FOLDER
from channels.web.words import words_script
from echo_bot.events import Address, OutboundText
from echo_bot.text.language import choose

if TYPE_CHECKING:
    from tests.channels.web.conftest import House

CHAT = Address("web", "local")

# One browser and so one event loop for the whole file; each test has a context, a bot and a store of its own.
pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.e2e]

_ENGLISH = re.compile(r"[A-Za-z']{2,}(?:[ ,;:.]+[A-Za-z']{2,}){2,}")
_OF_THE_TEST = re.compile(
    r"No model is configured\.|Run a command|Asked by|Approve once|For this session|Deny with reason|Deny"
)
"""What the bot in the fixture says, and the core would say in Chinese."""


@pytest.fixture(autouse=True)
def chinese() -> Iterator[None]:
    choose("zh")
    yield
    choose("en")


def english_in(text: str) -> list[str]:
    return _ENGLISH.findall(_OF_THE_TEST.sub("·", text))


async def enter(house: House) -> None:
    await house.page.goto(await house.gateway.new_login_link())
    assert english_in(await house.page.locator("body").inner_text()) == []
    await house.page.get_by_role("button", name="继续").click()
    await expect(house.page.get_by_text("已连接", exact=True)).to_be_visible()


async def test_the_page_greets_and_shows_a_card_in_chinese(house: House) -> None:
    await enter(house)
    page = house.page
    assert await page.locator("html").get_attribute("lang") == "zh-Hans"
    await expect(page.get_by_role("heading", name="要做点什么？")).to_be_visible()
    await expect(page.get_by_placeholder("输入消息，或用 / 输入命令")).to_be_visible()
    assert english_in(await page.locator("body").inner_text()) == []
    await house.channel.send_text(CHAT, OutboundText("```\nls\n```", markdown=True))
    await house.channel.send_card(CHAT, house.card())
    house.port.open_cards = (house.card(),)
    await house.channel.pending_changed()
    await expect(page.get_by_text("剩余")).to_be_visible()
    await page.get_by_role("button", name="待处理的卡片").click()
    await expect(page.get_by_role("heading", name="等待您处理")).to_be_visible()
    assert english_in(await page.locator("body").inner_text()) == []
    labels = await page.locator("[aria-label]").evaluate_all(
        "nodes => nodes.map(node => `${node.getAttribute('aria-label')} ${node.title ?? ''}`)"
    )
    assert [label for label in labels if english_in(label)] == []
    assert house.complaints == []


async def test_a_lost_connection_is_told_in_chinese(house: House) -> None:
    await enter(house)
    await house.stop()
    await expect(house.page.get_by_text("无法连接 Echo Bot。")).to_be_visible()
    assert english_in(await house.page.locator("body").inner_text()) == []


async def test_pages_without_a_log_in_are_chinese(house: House) -> None:
    await house.page.goto(f"http://127.0.0.1:{house.port_number}/")
    await expect(house.page.get_by_role("heading", name="您尚未登录")).to_be_visible()
    assert english_in(await house.page.locator("body").inner_text()) == []


async def test_the_scripts_get_the_sentences_they_ask_for_and_english_needs_none() -> None:
    script = words_script(PAGE_FOLDER)
    assert script.startswith('export const language = "zh";')
    assert '"Waiting for you"' in script
    assert '"No open approvals that you may decide."' not in script
    choose("en")
    assert words_script(PAGE_FOLDER).splitlines() == [
        'export const language = "en";',
        "export const words = {};",
    ]
