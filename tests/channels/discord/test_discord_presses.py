"""Presses and modals: acknowledged in time, decided whatever Discord does, answered to the presser alone."""

from __future__ import annotations

import asyncio

import pytest

from channels.discord.adapter import DiscordChannel
from echo_bot.channel import Prompt
from echo_bot.errors import FormatRejected, StorageError
from echo_bot.events import Address, Button, ButtonStyle, Card, PressReply
from echo_bot.testing.channel_contract import CARD
from echo_bot.testing.discord import Conversation, DiscordEmulator, Interaction, Person, Shown
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import eventually

ASKING = Card(
    card_id="c",
    title="exec wants to run",
    blocks=(),
    buttons=(
        Button("Approve once", "tok-once", ButtonStyle.PRIMARY),
        Button("Deny with reason", "tok-deny", ButtonStyle.DANGER, prompt="Why?"),
        Button("Edit", "tok-edit", prompt="The call"),
    ),
)


@pytest.fixture
async def card(channel: DiscordChannel, chat: Conversation) -> Shown:
    await channel.send_card(Address("discord", chat.id), ASKING)
    return chat.from_bot[-1]


async def test_the_answer_is_seen_by_the_presser_alone(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, ada: Person
) -> None:
    room = ada.chat(discord.guild().channel("general"))
    await channel.send_card(Address("discord", room.id), CARD)
    press = room.press("Approve once")
    assert await press.answer() == "Approved once"
    assert press.answers[0].private
    others = discord.user("Bob").chat(room.place).messages
    assert [shown.private for shown in others] == [False]
    assert (port.presses[0].presser.sender_id, port.presses[0].presser_name) == (ada.id, "Ada")
    assert port.presses[0].address == Address("discord", room.id)


async def test_a_press_is_acknowledged_at_once_however_long_the_core_takes(
    channel: DiscordChannel, port: FakePort, card: Shown, chat: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = asyncio.Event()

    async def slow(press: object) -> PressReply:
        await decided.wait()
        return PressReply("Approved once, at last")

    monkeypatch.setattr(port, "press", slow)
    press = chat.press("Approve once")
    await press.acknowledgement()
    assert press.answers == []
    decided.set()
    assert await press.answer() == "Approved once, at last"


@pytest.mark.parametrize(
    ("status", "code"),
    [(404, 10062), (400, 40060), (401, 50027), (500, 0)],
    ids=["late", "acked", "token", "5xx"],
)
async def test_a_decision_holds_although_discord_takes_no_answer(
    channel: DiscordChannel,
    port: FakePort,
    discord: DiscordEmulator,
    card: Shown,
    chat: Conversation,
    status: int,
    code: int,
) -> None:
    discord.fail("POST", "/interactions/*/callback", status, code=code, times=9)
    chat.press("Approve once")
    assert (await port.wait_for_press()).token == "tok-once"


async def test_an_expired_interaction_still_decides(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, card: Shown, chat: Conversation
) -> None:
    release = discord.hold("POST", "/interactions/*/callback")
    press = chat.press("Approve once")
    press.expire()
    assert (await port.wait_for_press()).token == "tok-once"
    release.set()
    await eventually(lambda: discord.called("POST", "/interactions/*/callback"), "the late acknowledgement")
    assert not press.acknowledged


async def test_an_interaction_that_comes_again_presses_once(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, card: Shown, chat: Conversation
) -> None:
    press = chat.press("Approve once")
    discord.redeliver()
    await press.answer()
    assert len(port.presses) == 1


async def test_a_press_that_cannot_be_stored_says_that_nothing_was_decided(
    channel: DiscordChannel, port: FakePort, card: Shown, chat: Conversation
) -> None:
    port.fail(StorageError("disk full"))
    assert "nothing was decided" in await chat.press("Approve once").answer()


async def test_a_reply_is_shown_as_it_is(
    channel: DiscordChannel, discord: DiscordEmulator, chat: Conversation
) -> None:
    port = FakePort(PressReply("Already decided by _Bob_ *the* @everyone", ok=False))
    await channel.stop()
    await channel.start(port)
    await channel.send_card(Address("discord", chat.id), ASKING)
    press = chat.press("Approve once")
    assert await press.answer() == "Already decided by _Bob_ *the* @everyone"
    assert not press.answers[0].pings


async def test_words_are_asked_for_in_a_modal_and_complete_the_press(
    channel: DiscordChannel, port: FakePort, card: Shown, chat: Conversation
) -> None:
    port.asks = Prompt("Why?", title="Deny exec")
    opened = chat.press("Deny with reason")
    modal = await opened.modal()
    assert (modal["title"], opened.input["label"]) == ("Deny exec", "Why?")
    assert opened.input["max_length"] == 4000
    assert port.presses == []
    told = await opened.fill("because").answer()
    assert told == "Approved once"
    assert [(press.token, press.text) for press in port.presses] == [("tok-deny", "because")]
    assert port.presses[0].message_id == card.id


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("Why not? The reason is given to the assistant.", "Why not?"),
        ("Change the call. It is checked again, and asked about again where it must be.", "Change the call."),
        ("What is it called?", "What is it called?"),
        ("为什么不？" + "理由会告诉助手。" * 8, "为什么不？"),
        ("word " * 12, f"{'word ' * 8}word…"),
    ],
)
async def test_the_label_of_a_modal_ends_with_a_sentence(
    channel: DiscordChannel, port: FakePort, card: Shown, chat: Conversation, question: str, label: str
) -> None:
    port.asks = Prompt(question)
    opened = chat.press("Deny with reason")
    await opened.modal()
    assert opened.input["label"] == label
    assert opened.input["placeholder"].startswith(question.strip()[:99])


async def test_an_edit_begins_with_the_whole_call(
    channel: DiscordChannel, port: FakePort, card: Shown, chat: Conversation
) -> None:
    port.asks = Prompt("The call", initial="x" * 4000)
    opened = chat.press("Edit")
    await opened.modal()
    assert opened.input["value"] == "x" * 4000


async def test_a_call_that_no_modal_holds_says_so(
    channel: DiscordChannel, port: FakePort, card: Shown, chat: Conversation
) -> None:
    port.asks = Prompt("The call", initial="x" * 4001)
    press = chat.press("Edit")
    assert "4000 characters" in await press.answer()
    assert press.record.modal is None


async def test_who_may_not_decide_is_told_so_instead_of_being_asked(
    channel: DiscordChannel, port: FakePort, card: Shown, chat: Conversation
) -> None:
    port.asks = PressReply("You may not decide this.", ok=False)
    press = chat.press("Edit")
    assert await press.answer() == "You may not decide this."
    assert press.answers[0].private


@pytest.mark.parametrize("rhythm", [{"modal": 0.1}], indirect=True)
async def test_a_core_too_slow_for_a_modal_still_answers(
    channel: DiscordChannel, port: FakePort, card: Shown, chat: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(press: object) -> Prompt:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(port, "prompt", never)
    assert "once more" in await chat.press("Edit").answer()


async def test_buttons_and_modals_from_before_a_restart_work(
    channel: DiscordChannel, port: FakePort, card: Shown, chat: Conversation
) -> None:
    opened = chat.press("Deny with reason")
    await opened.modal()
    await channel.stop()
    await channel.start(port)
    await opened.fill("later").answer()
    await chat.press("Approve once").answer()
    assert [(press.token, press.text) for press in port.presses] == [("tok-deny", "later"), ("tok-once", "")]


@pytest.mark.parametrize("seconds", [-900, 900])
async def test_presses_and_modals_work_whatever_the_clocks_say(
    channel: DiscordChannel,
    port: FakePort,
    discord: DiscordEmulator,
    card: Shown,
    chat: Conversation,
    seconds: int,
) -> None:
    discord.skew(seconds)
    assert await chat.press("Approve once").answer() == "Approved once"
    opened = chat.press("Deny with reason")
    await opened.modal()
    assert await opened.fill("because").answer() == "Approved once"


async def test_two_cards_are_pressed_each_for_itself(
    channel: DiscordChannel, port: FakePort, chat: Conversation
) -> None:
    presses: list[Interaction] = []
    for token in ("one", "two"):
        await channel.send_card(Address("discord", chat.id), Card(token, token, (), (Button("Go", token),)))
    presses = [chat.press("Go", shown) for shown in reversed(chat.from_bot)]
    for press in presses:
        await press.answer()
    assert sorted(press.token for press in port.presses) == ["one", "two"]
    by_token = {press.token: press.message_id for press in port.presses}
    assert by_token == {"one": chat.from_bot[0].id, "two": chat.from_bot[1].id}


async def test_rows_hold_five_buttons_and_a_message_twenty_five(
    channel: DiscordChannel, chat: Conversation
) -> None:
    buttons = tuple(Button(f"b{number}", f"t{number}") for number in range(26))
    address = Address("discord", chat.id)
    await channel.send_card(address, Card("c", "many", (), buttons[:25]))
    assert [len(row) for row in chat.from_bot[0].rows] == [5, 5, 5, 5, 5]
    with pytest.raises(FormatRejected, match="25 buttons"):
        await channel.send_card(address, Card("c", "many", (), buttons))


async def test_a_token_that_no_button_holds_is_refused(channel: DiscordChannel, chat: Conversation) -> None:
    card = Card("c", "t", (), (Button("Go", "x" * 100, prompt="Why?"),))
    with pytest.raises(FormatRejected, match="100 characters"):
        await channel.send_card(Address("discord", chat.id), card)


async def test_a_press_is_answered_though_the_answer_to_its_acknowledgement_was_lost(
    channel: DiscordChannel, discord: DiscordEmulator, card: Shown, chat: Conversation
) -> None:
    discord.drop("POST", "/interactions/*/callback", after=True)
    assert await chat.press("Approve once").answer() == "Approved once"
    discord.drop("POST", "/interactions/*/callback")
    assert await chat.press("Approve once").answer() == "Approved once"
