"""Cards in a real browser: decide, say why, edit, be told of new ones, see those of other channels."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from echo_bot.channel import Prompt
from echo_bot.events import (
    Address,
    Button,
    ButtonPress,
    CardState,
    MessageRef,
    OutboundText,
    PressReply,
)
from echo_bot.testing.fake_port import FakePort

if TYPE_CHECKING:
    from tests.channels.web.conftest import House

CHAT = Address("web", "local")

# One browser and so one event loop for the whole file; each test has a context, a bot and a store of its own.
pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.e2e]


async def test_deny_with_reason_asks_for_it_in_the_card(house: House) -> None:
    await house.log_in()
    await house.channel.send_card(CHAT, house.card())
    await house.page.get_by_role("button", name="Deny with reason", exact=True).click()
    await house.page.get_by_role("textbox", name="Why?").fill("too risky")
    assert await house.page.get_by_role("textbox", name="Message").count() == 1
    await house.page.keyboard.press("Enter")
    press = await house.port.wait_for_press()
    assert (press.token, press.text) == ("tok-reason", "too risky")


EDIT = Button("Edit", "tok-edit", prompt="Change the call.")


async def test_an_edit_begins_with_the_call_and_a_refusal_leaves_the_words(house: House) -> None:
    def judge(press: ButtonPress) -> PressReply:
        return (
            PressReply("command is missing", ok=False) if "comand" in press.text else PressReply("Changed.")
        )

    port = FakePort(on_press=judge)
    port.asks = Prompt("Change the call.", initial='{\n  "command": "ls"\n}', title="Edit exec")
    await house.channel.start(port)
    await house.log_in()
    await house.channel.send_card(CHAT, replace(house.card(), buttons=(*house.buttons, EDIT)))
    page = house.page
    await page.get_by_role("button", name="Edit", exact=True).click()
    field = page.get_by_role("textbox", name="Edit exec")
    await expect(field).to_have_value('{\n  "command": "ls"\n}')
    send = page.get_by_role("button", name="Send changes")
    await expect(send).to_be_disabled()
    await field.fill('{"comand": "ls -a"}\n')
    await send.click()
    await expect(page.get_by_text("command is missing")).to_be_visible()
    await expect(field).to_have_value('{"comand": "ls -a"}\n')
    await page.keyboard.press("Escape")
    await expect(field).to_be_visible()
    await field.fill('{"command": "ls -a"}\n')
    await page.keyboard.press("Control+Enter")
    await expect(field).to_have_count(0)
    assert [press.text for press in port.presses] == ['{"comand": "ls -a"}\n', '{"command": "ls -a"}\n']
    assert house.complaints == []


async def test_who_may_not_decide_is_told_before_writing(house: House) -> None:
    house.port.asks = PressReply("You may not decide this.", ok=False)
    await house.log_in()
    await house.channel.send_card(CHAT, replace(house.card(), buttons=(*house.buttons, EDIT)))
    await house.page.get_by_role("button", name="Edit", exact=True).click()
    await expect(house.page.get_by_text("You may not decide this.")).to_be_visible()
    await expect(house.page.get_by_role("textbox")).to_have_count(1)


NOTICES = """
window.shown = []; window.gone = []; window.asked = 0; window.isHidden = false; window.badges = [];
Object.defineProperty(document, "hidden", { get: () => window.isHidden });
navigator.setAppBadge = async (count) => { window.badges.push(count); };
navigator.clearAppBadge = async () => { window.badges.push(0); };
window.Notification = class {
  static permission = "default";
  static async requestPermission() { window.asked += 1; return Notification.permission = "granted"; }
  constructor(title, more) { this.tag = more.tag; window.shown.push([title, more.body]); }
  close() { window.gone.push(this.tag); }
};
"""


async def test_a_notification_comes_only_after_a_click_and_while_the_page_is_hidden(house: House) -> None:
    page = house.page
    await page.add_init_script(NOTICES)
    await house.log_in()

    async def opens(number: int) -> None:
        one = house.card(f"card-00000{number}", "cat private.txt", f"Run command {number}?")
        house.port.open_cards = (*house.port.open_cards, one)
        await house.channel.send_card(CHAT, one)
        await house.channel.pending_changed()
        await expect(page).to_have_title(f"({number}) Echo Bot")

    await page.evaluate("isHidden = true")
    await opens(1)
    assert await page.evaluate("[shown, asked]") == [[], 0]
    await page.evaluate("isHidden = false")
    await page.get_by_role("button", name=re.compile("Waiting cards")).click()
    await page.get_by_role("button", name="Turn on").click()
    await expect(page.get_by_role("button", name="Turn off")).to_be_visible()
    await opens(2)
    assert await page.evaluate("[shown, asked]") == [[], 1]
    await page.evaluate("isHidden = true")
    await opens(3)
    await page.wait_for_function("() => shown.length === 1")
    [[title, body]] = await page.evaluate("shown")
    assert (title, body) == ("Run command 3?", "Echo Bot waits for a decision (000003).")
    assert await page.evaluate("badges") == [0, 1, 2, 3]


async def test_a_notification_goes_when_its_card_is_decided_elsewhere(house: House) -> None:
    page = house.page
    await page.add_init_script(NOTICES.replace('"default"', '"granted"').replace("= false;", "= true;"))
    await page.add_init_script("localStorage.setItem('echo-bot-notify', 'on')")
    await house.log_in()
    house.port.open_cards = (house.card("card-000001"), house.card("card-000002"))
    await house.channel.pending_changed()
    await expect(page).to_have_title("(2) Echo Bot")
    await page.wait_for_function("() => shown.length === 2")
    house.port.open_cards = house.port.open_cards[1:]
    await house.channel.pending_changed()
    await expect(page).to_have_title("(1) Echo Bot")
    await page.wait_for_function("() => gone.length === 1")
    assert await page.evaluate("gone") == ["card-000001"]


SEEN = """
window.raised = [];
Object.defineProperty(document, "hidden", { get: () => true });
window.Notification = new Proxy(window.Notification, {
  construct(Real, given) {
    const made = new Real(...given);
    made.addEventListener("show", () => window.raised.push(made));
    return made;
  },
});
"""


async def test_a_click_on_what_the_browser_really_shows_leads_to_the_card_wherever_it_stands(
    house: House,
) -> None:
    page = house.page
    await house.context.grant_permissions(["notifications"])
    await page.add_init_script(SEEN)
    await page.add_init_script("localStorage.setItem('echo-bot-notify', 'on')")
    await house.log_in()
    elsewhere = house.card("card-000001", "cat private.txt", "Run it elsewhere?")
    house.port.open_cards = (elsewhere,)
    await house.channel.pending_changed()
    await page.wait_for_function("() => raised.length === 1")
    assert await page.evaluate("[raised[0].title, raised[0].body]") == [
        "Run it elsewhere?",
        "Echo Bot waits for a decision (000001).",
    ]
    await page.evaluate("raised[0].dispatchEvent(new Event('click'))")
    drawer = page.get_by_role("dialog", name="Open cards")
    await expect(drawer.get_by_text("cat private.txt")).to_be_visible()
    here = house.card("card-000002", "ls", "Run it here?")
    await house.channel.send_card(CHAT, here)
    house.port.open_cards = (elsewhere, here)
    await house.channel.pending_changed()
    await page.wait_for_function("() => raised.length === 2")
    await page.evaluate("raised[1].dispatchEvent(new Event('click'))")
    await expect(drawer).to_have_count(0)
    await expect(page.locator("#card-card-000002")).to_be_focused()


async def test_a_browser_that_refuses_a_notification_loses_nothing_else(house: House) -> None:
    page = house.page
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    await page.add_init_script(
        NOTICES.replace("window.shown.push", "throw new TypeError('Illegal'); shown.push")
    )
    await house.log_in()
    await page.get_by_role("button", name=re.compile("Waiting cards")).click()
    await page.get_by_role("button", name="Turn on").click()
    await page.evaluate("isHidden = true")
    house.port.open_cards = (house.card(),)
    await house.channel.pending_changed()
    await expect(page).to_have_title("(1) Echo Bot")
    await page.wait_for_function("() => localStorage.getItem('echo-bot-notify') !== 'on'")
    assert errors == []


async def test_a_refused_press_shows_why_and_leaves_the_buttons(house: House) -> None:
    def refuse(_: ButtonPress) -> PressReply:
        return PressReply("You may not decide this.", ok=False)

    await house.channel.start(FakePort(on_press=refuse))
    await house.log_in()
    await house.channel.send_card(CHAT, house.card())
    await house.page.get_by_role("button", name="Deny", exact=True).click()
    await expect(house.page.get_by_text("You may not decide this.")).to_be_visible()
    await expect(house.page.get_by_role("button", name="Deny", exact=True)).to_be_enabled()


async def test_a_card_of_another_channel_is_decided_in_the_drawer(house: House) -> None:
    page = house.page
    await house.log_in()
    here, elsewhere = house.card(), house.card("card-faraway", "rm -r build", "Run a command for telegram:42")
    await house.channel.send_card(CHAT, here)
    house.port.open_cards = (here, elsewhere)
    await house.channel.pending_changed()
    await page.get_by_role("button", name="Waiting cards: 2").click()
    drawer = page.get_by_role("dialog", name="Open cards")
    await expect(drawer.get_by_text("rm -r build")).to_be_visible()
    await expect(drawer.get_by_role("button", name="Approve once", exact=True)).to_have_count(1)
    await drawer.get_by_role("button", name="Deny", exact=True).click()
    await house.port.wait_for_press()
    await drawer.get_by_role("button", name="Show in chat").click()
    await expect(drawer).to_have_count(0)
    await expect(page.locator("#card-card-000001")).to_be_focused()


async def test_edit_of_a_card_moves_nothing_and_keeps_its_id(house: House) -> None:
    await house.log_in()
    ref = await house.channel.send_card(CHAT, house.card())
    await house.channel.send_text(CHAT, OutboundText("after the card"))
    await house.channel.edit_card(
        MessageRef(CHAT, ref.message_id), replace(house.card(), state=CardState.EXPIRED, buttons=())
    )
    await expect(house.page.get_by_text("Expired", exact=True)).to_be_visible()
    order = await house.page.locator("article").evaluate_all(
        "rows => rows.map(row => row.classList.contains('has-card'))"
    )
    assert order == [True, False]
