"""Buttons, modals and App Home: every press gets an answer, and only the presser sees it."""

from __future__ import annotations

import asyncio

import pytest

from channels.slack.adapter import SlackChannel
from channels.slack.line import Rhythm
from echo_bot.channel import ChannelSettings, Prompt
from echo_bot.errors import StorageError
from echo_bot.events import Address, Button, ButtonPress, ButtonStyle, Card, CodeBlock, PressReply
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.slack import Conversation, Person, SlackEmulator
from echo_bot.testing.waiting import eventually

CARD = Card(
    "card-1",
    "exec wants to run",
    (CodeBlock("rm -r build"),),
    (
        Button("Approve once", "token-once", ButtonStyle.PRIMARY),
        Button("Deny with reason", "token-reason", prompt="Why?"),
        Button("Edit", "token-edit", prompt="Edit"),
    ),
    short_id="abc123",
)
DM = Address("slack", "D1")


async def test_a_press_in_a_thread_is_answered_there_to_the_presser_alone(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    room = ada.at(slack.channel())
    thread = room.thread(room.mention("go"))
    await channel.send_card(Address("slack", "C1", thread.thread_ts), CARD)
    await thread.press("Approve once").answer()
    press = await port.wait_for_press()
    assert press.address == Address("slack", "C1", thread.thread_ts)
    assert (press.presser.sender_id, press.presser_name) == ("U1", "Ada")
    assert [message.words for message in thread.whispers] == ["Approved once"]
    assert slack.user("U2").at(room.chat, thread.thread_ts).whispers == []


async def test_a_stranger_is_refused_privately(
    slack: SlackEmulator, settings: ChannelSettings, quick: Rhythm
) -> None:
    refusal = PressReply("You may not decide this.", ok=False)
    port = FakePort(refusal)
    port.asks = refusal
    channel = SlackChannel(settings, quick)
    await channel.start(port)
    mallory = slack.user("U6", "Mallory").at(slack.channel())
    await channel.send_card(Address("slack", "C1"), CARD)
    assert await mallory.press("Approve once").answer() == "You may not decide this."
    modal = await mallory.press("Edit").modal()
    assert (modal.words, modal.inputs) == ("You may not decide this.", [])
    await channel.stop()


async def test_an_answer_names_commands_as_slack_takes_them(
    slack: SlackEmulator, settings: ChannelSettings, quick: Rhythm, dm: Conversation
) -> None:
    port = FakePort(PressReply("This list is old; /help says how to make another.", ok=False))
    channel = SlackChannel(settings, quick)
    await channel.start(port)
    await channel.send_card(DM, CARD)
    assert "; /echo help says" in await dm.press("Approve once").answer()
    await channel.stop()


async def test_an_answer_that_cannot_be_whispered_goes_to_the_response_url(
    slack: SlackEmulator, channel: SlackChannel, dm: Conversation
) -> None:
    await channel.send_card(DM, CARD)
    slack.fail("chat.postEphemeral", "user_not_in_channel")
    assert await dm.press("Approve once").answer() == "Approved once"
    assert any(url.answers for url in slack.world.response_urls.values())


async def test_a_press_that_cannot_be_stored_says_so(
    channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    await channel.send_card(DM, CARD)
    port.fail(StorageError("full"))
    assert "Press the button again" in await dm.press("Approve once").answer()


async def test_a_reason_is_asked_for_in_a_modal_that_opens_before_anything_else(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    port.asks = Prompt("Why not?", title="Deny")
    ref = await channel.send_card(DM, CARD)
    modal = await ada.dm().press("Deny with reason").modal()
    assert (modal.words, modal.initial, len(modal.history)) == ("Why not?", "", 2)
    names = [name for name, _ in slack.calls]
    assert names.index("views.open") < names.index("views.update")
    before = len(slack.messages)
    submission = await ada.submit(modal, "it is > 5 & late").acknowledged()
    press = await port.wait_for_press()
    assert (press.token, press.text) == ("token-reason", "it is > 5 & late")
    assert (press.address, press.message_id) == (ref.address, ref.message_id)
    assert (submission.answer, modal.is_open) == ({}, False)
    await eventually(lambda: slack.messages[before:], "the answer")
    assert slack.messages[-1].seen_by == "U1"


@pytest.mark.parametrize("length", [3000, 3001])
async def test_an_edit_begins_with_the_whole_call_or_says_that_it_is_too_long(
    channel: SlackChannel, port: FakePort, ada: Person, length: int
) -> None:
    await channel.send_card(DM, CARD)
    port.asks = Prompt("The call", initial="x" * length)
    modal = await ada.dm().press("Edit").modal()
    fits = length <= 3000
    assert (modal.initial == "x" * length, "web page" in modal.words) == (fits, not fits)


async def test_a_trigger_that_is_too_old_is_admitted_to_the_presser(
    slack: SlackEmulator, channel: SlackChannel, dm: Conversation
) -> None:
    await channel.send_card(DM, CARD)
    slack.fail("views.open", "expired_trigger_id")
    assert "could not open" in await dm.press("Edit").answer()


async def test_presses_are_acknowledged_within_three_seconds_however_slow_the_core(
    channel: SlackChannel, port: FakePort, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = asyncio.Event()

    async def press(_: ButtonPress) -> PressReply:
        await slow.wait()
        return PressReply("at last")

    monkeypatch.setattr(port, "press", press)
    await channel.send_card(DM, CARD)
    pressed = ada.dm().press("Approve once")
    await pressed.delivery.acknowledged()
    assert pressed.delivery.took_seconds < 3
    slow.set()
    assert await pressed.answer() == "at last"


async def test_a_modal_that_cannot_be_filled_is_tried_again_and_then_told(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    await channel.send_card(DM, CARD)
    slack.fail("views.update", status=503)
    assert (await ada.dm().press("Edit").modal()).inputs
    slack.fail("views.update", status=503, times=2)
    assert "could not open the question" in await ada.dm().press("Edit").answer()


async def test_app_home_shows_what_its_viewer_may_decide_and_follows_changes(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    ada.open_home()
    await ada.home("Nothing waits")
    port.open_cards = (CARD,)
    await channel.pending_changed()
    home = await ada.home("rm -r build")
    assert home.labels == ["Approve once", "Deny with reason", "Edit"]
    port.open_cards = ()
    ada.press_home("Approve once")
    press = await port.wait_for_press()
    assert (press.token, press.address) == ("token-once", DM)
    home = await ada.home("Approved once")
    assert (home.labels, "Nothing waits" in home.words) == ([], True)
    assert slack.user("U2").user.id not in slack.world.homes


async def test_app_home_asks_for_words_in_a_modal_and_answers_on_the_tab(
    channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    port.open_cards = (CARD,)
    ada.open_home()
    await ada.home("rm -r build")
    modal = await ada.press_home("Deny with reason").modal()
    ada.submit(modal, "no")
    assert (await port.wait_for_press()).text == "no"
    await ada.home("Approved once")


async def test_app_home_keeps_its_notice_when_something_changes_and_waits_out_a_rate_limit(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    port.open_cards = (CARD,)
    ada.open_home()
    await ada.home("rm -r build")
    ada.press_home("Approve once")
    await ada.home("Approved once")
    slack.fail("views.publish", retry_after=1)
    port.open_cards = ()
    await channel.pending_changed()
    home = await ada.home("Nothing waits")
    assert "Approved once" in home.words


async def test_app_home_opened_while_it_is_being_published_is_published_once_more(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    ada.open_home()
    await ada.home("Nothing waits")
    published = len(slack.called("views.publish"))
    held = slack.hold("views.publish")
    port.open_cards = (CARD,)
    await channel.pending_changed()
    await eventually(lambda: len(slack.called("views.publish")) > published, "the change")
    opened = ada.open_home()
    await eventually(lambda: opened.is_acknowledged, "the acknowledgement")
    held.set()
    await eventually(lambda: len(slack.called("views.publish")) > published + 1, "another look")


async def test_app_home_holds_whole_cards_within_its_limits_and_counts_the_rest(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    port.open_cards = tuple(
        Card(f"c{n}", f"call {n}", (CodeBlock("x" * 2900),), CARD.buttons, short_id=f"id{n}")
        for n in range(60)
    )
    ada.open_home()
    home = await ada.home("more: id")
    assert len(home.shown["blocks"]) <= 100
    assert len(home.labels) // 3 + int(home.words.rpartition("\n")[2].split()[0]) == 60


async def test_app_home_tells_a_stranger_nothing(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort
) -> None:
    port.strangers = {"U6"}
    mallory = slack.user("U6", "Mallory")
    mallory.open_home()
    assert (await mallory.home("does not know you")).labels == []
