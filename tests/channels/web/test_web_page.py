"""The page in a real browser: log in, talk, survive attacks and lost connections, fit a phone."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from echo_bot.channel import TranscriptEntry
from echo_bot.events import (
    Address,
    Button,
    Card,
    CardState,
    CodeBlock,
    Fields,
    OutboundFile,
    OutboundText,
    Paragraph,
)

if TYPE_CHECKING:
    from tests.channels.web.conftest import House

CHAT = Address("web", "local")

# One browser and so one event loop for the whole file; each test has a context, a bot and a store of its own.
pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.e2e]


async def test_log_in_ask_decide_and_read_the_answer(house: House) -> None:
    page = house.page
    await house.log_in()
    await expect(page.get_by_text("No model is configured.")).to_be_visible()
    assert await page.get_by_role("textbox").count() == 1
    await house.say("/run ls -la")
    event = await house.port.wait_for_event("/run ls -la")
    await expect(page.get_by_text("/run ls -la", exact=True)).to_be_visible()
    await expect(page.get_by_role("textbox", name="Message")).to_have_value("")
    assert len(event.event_id) >= 16

    shown = house.card()
    house.port.open_cards = (shown,)
    ref = await house.channel.send_card(CHAT, shown)
    await house.channel.pending_changed()
    for button in house.buttons:
        await expect(page.get_by_role("button", name=button.label, exact=True)).to_be_visible()
    await expect(page.get_by_role("timer")).to_have_text(re.compile(r"^1:[0-3]\d left$"))
    await expect(page).to_have_title("(1) Echo Bot")
    await page.get_by_role("button", name="Approve once", exact=True).click()
    press = await house.port.wait_for_press()
    assert (press.token, press.message_id) == ("tok-once", ref.message_id)

    house.port.open_cards = ()
    decided = replace(shown, title="Approved once by web:local", buttons=(), state=CardState.APPROVED)
    await house.channel.edit_card(ref, decided)
    await house.channel.pending_changed()
    await expect(page.get_by_text("Approved once by web:local")).to_be_visible()
    await expect(page.get_by_role("button", name="Approve once")).to_have_count(0)
    await expect(page).to_have_title("Echo Bot")
    await house.channel.send_text(CHAT, OutboundText("**done**\n```\ntotal 0\n```"))
    await expect(page.locator(".markdown strong")).to_have_text("done")
    await expect(page.locator(".markdown pre")).to_have_text("total 0")
    assert house.complaints == []


ATTACK = """<script>window.owned = 1</script><img src=x onerror="window.owned = 2">
<svg onload="window.owned=3"></svg> [click](javascript:window.owned=4) ![pixel](https://evil.example/pixel.png)
<a href="data:text/html,<script>window.owned=5</script>">d</a> <style>body{display:none}</style>
<form action="https://evil.example"><button>Approve once</button></form>
<textarea aria-label="Message"></textarea>
"""


async def test_markup_in_answers_and_cards_stays_text(house: House) -> None:
    page = house.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await house.log_in()
    await house.channel.send_text(CHAT, OutboundText("before " + ATTACK + "after"))
    await house.channel.send_text(
        CHAT, OutboundText("# " + ATTACK + "\n\n| " + ATTACK.replace("\n", " ") + " |\n|---|")
    )
    attacked = Card(
        "card-attack",
        ATTACK,
        (Paragraph(ATTACK), CodeBlock(ATTACK, "diff", ATTACK), Fields(((ATTACK, ATTACK),))),
        (Button("<b>Approve</b>", "tok"),),
    )
    await house.channel.send_card(CHAT, attacked)
    await expect(page.get_by_role("button", name="<b>Approve</b>", exact=True)).to_be_visible()
    assert await page.evaluate("window.owned") is None
    assert await page.get_by_role("textbox").count() == 1
    assert await page.get_by_role("button", name="Approve once", exact=True).count() == 0
    assert await page.locator(".messages script, .messages img, .messages style, .messages form").count() == 0
    links = await page.locator(".markdown a").evaluate_all(
        "links => links.map(a => [a.protocol, a.rel, a.target])"
    )
    assert links
    assert all(link == ["https:", "noopener noreferrer", "_blank"] for link in links)
    assert not [
        url
        for url in asked
        if not url.startswith((house.gateway.url, house.gateway.url.replace("http", "ws")))
    ]
    assert house.complaints == []


LINKS = [
    ("[https://bank.example/in](https://evil.example/in)", "https://bank.example/in (evil.example)"),
    ("[Log in at bank.example](https://bank.example.evil.example)", "(bank.example.evil.example)"),
    ("[me@bank.example](https://bank.example@evil.example)", "(evil.example)"),
    ("[b\u0430nk.example](https://bank.example)", "(bank.example)"),
    ("[the docs](https://bank.example/docs)", "the docs"),
    ("https://bank.example/docs", "https://bank.example/docs"),
    ("[bank.example](https://www.bank.example/)", "bank.example"),
    ("[click](javascript:alert(1))", "click"),
    ("[mail](mailto:a@bank.example)", "mail"),
    ("[a@bank.example](mailto:b@evil.example)", "(b@evil.example)"),
]
"""What stands in an answer, and how it ends on the page: an address in words is where the link leads."""


@pytest.mark.parametrize(("source", "shown"), LINKS, ids=[source for source, _ in LINKS])
async def test_a_link_cannot_claim_another_address(house: House, source: str, shown: str) -> None:
    await house.log_in()
    await house.channel.send_text(CHAT, OutboundText(source))
    text = await house.page.locator(".markdown").inner_text()
    assert text.endswith(shown)
    assert ("(" in text) == ("(" in shown)


async def test_what_is_written_while_the_bot_is_away_arrives_once_when_it_is_back(house: House) -> None:
    page = house.page
    await house.log_in()
    await house.stop()
    await expect(page.get_by_text("Not connected", exact=True)).to_be_visible()
    await house.say("first")
    await house.say("second")
    await expect(page.get_by_text("sending…")).to_have_count(2)
    await house.restart()
    await house.port.wait_for_event("second", timeout=20)
    await expect(page.get_by_text("sending…")).to_have_count(0)
    assert [event.text for event in house.port.stored] == ["first", "second"]
    await expect(page.get_by_text("second", exact=True)).to_have_count(1)


async def test_a_restart_shows_the_past_again_without_a_new_log_in(house: House) -> None:
    page = house.page
    await house.log_in()
    shown = house.card()
    house.port.entries = (
        TranscriptEntry("u-1", "user", "/run ls", datetime.now(UTC)),
        TranscriptEntry("card:card-000001", "card", "", datetime.now(UTC), shown),
    )
    house.port.open_cards = (shown,)
    await house.restart()
    await expect(page.get_by_text("/run ls", exact=True)).to_be_visible(timeout=20_000)
    await page.get_by_role("button", name="Approve once", exact=True).click()
    assert (await house.port.wait_for_press()).token == "tok-once"


async def test_a_streamed_answer_grows_in_place(house: House) -> None:
    page = house.page
    await house.log_in()
    ref = await house.channel.send_text(CHAT, OutboundText("Once upon …", markdown=False, is_draft=True))
    await expect(page.locator(".is-draft")).to_have_text("Once upon")
    await page.get_by_role("button", name="Stop").click()
    await house.port.wait_for_event("/stop")
    await house.channel.edit_text(ref, OutboundText("Once upon **a time**"))
    await expect(page.locator(".markdown")).to_have_text("Once upon a time")
    await expect(page.locator(".is-draft")).to_have_count(0)
    await expect(page.get_by_role("button", name="Stop")).to_have_count(0)


async def test_commands_complete_by_keyboard_and_a_new_line_needs_shift(house: House) -> None:
    page = house.page
    await house.log_in()
    field = page.get_by_role("textbox", name="Message")
    await field.press_sequentially("/r")
    await expect(page.get_by_role("option")).to_have_count(1)
    await page.keyboard.press("Enter")
    await expect(field).to_have_value("/run ")
    await field.press_sequentially("cat <<E")
    await page.keyboard.press("Shift+Enter")
    await field.press_sequentially("two")
    await page.keyboard.press("Enter")
    assert (await house.port.wait_for_event("two")).text == "/run cat <<E\ntwo"
    await house.say("/help")
    await house.port.wait_for_event("/help")


async def test_a_file_is_offered_for_download(house: House, tmp_path: Path) -> None:
    (tmp_path / "report.csv").write_text("a,b\n1,2\n")
    await house.log_in()
    await house.channel.send_file(CHAT, OutboundFile(str(tmp_path / "report.csv"), "report.csv", "text/csv"))
    async with house.page.expect_download() as download:
        await house.page.get_by_role("link", name="report.csv").click()
    saved = await (await download.value).path()
    assert saved.read_text() == "a,b\n1,2\n"


async def test_log_out_in_one_tab_tells_the_other(house: House) -> None:
    await house.log_in()
    second = await house.context.new_page()
    await second.goto(house.gateway.url)
    await expect(second.get_by_text("Connected", exact=True)).to_be_visible()
    await second.get_by_role("button", name="Log out").click()
    await expect(second.get_by_text("You are logged out", exact=True)).to_be_visible()
    await expect(house.page.get_by_role("alert")).to_contain_text("You are logged out here")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_phone_shows_everything_without_sideways_scrolling(house: House, scheme: str) -> None:
    page = house.page
    await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await page.set_viewport_size({"width": 360, "height": 640})
    await house.log_in()
    await house.say("x" * 300)
    await house.channel.send_text(CHAT, OutboundText("a" * 300 + "\n\n```\n" + "b" * 300 + "\n```"))
    shown = house.card(command="printf " + "c" * 300)
    await house.channel.send_card(CHAT, shown)
    for name in ("Approve once", "Deny with reason"):
        await expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)
    wide = "['html', '.messages'].map(q => document.querySelector(q)).map(e => e.scrollWidth - e.clientWidth)"
    assert await page.evaluate(wide) == [0, 0]
    command = page.locator(".card pre").first
    assert await command.evaluate("node => node.scrollWidth - node.clientWidth") == 0
    background = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(15, 17, 22)") is (scheme == "dark")


async def test_the_chat_follows_new_lines_unless_one_reads_further_up(house: House) -> None:
    page = house.page
    await house.log_in()
    for number in range(30):
        await house.channel.send_text(CHAT, OutboundText(f"line {number}\n\nmore"))
    await expect(page.get_by_text("line 29")).to_be_in_viewport()
    await page.mouse.move(550, 400)
    await page.mouse.wheel(0, -3000)
    await expect(page.get_by_role("button", name="Newest messages")).to_be_visible()
    await house.channel.send_text(CHAT, OutboundText("the newest"))
    await expect(page.get_by_text("the newest")).not_to_be_in_viewport()
    await page.get_by_role("button", name="Newest messages").click()
    await expect(page.get_by_text("the newest")).to_be_in_viewport()
