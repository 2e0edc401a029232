"""The slash command and the shortcuts."""

from __future__ import annotations

import pytest

from channels.slack.adapter import SlackChannel
from channels.slack.commands import SHORTCUT_ANYWHERE, SHORTCUT_MESSAGE, text_form
from echo_bot.channel import CommandReply
from echo_bot.errors import StorageError
from echo_bot.testing.fake_port import COMMANDS, FakePort
from echo_bot.testing.slack import Person, SlackEmulator
from echo_bot.testing.waiting import eventually


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("status", "/status"),
        ("/status", "/status"),
        ("STATUS", "/status"),
        ("approve abc123  once", "/approve abc123  once"),
        ("run ls -la\necho  hi", "/run ls -la\necho  hi"),
        ("", "/help"),
        ("   ", "/help"),
        ("statsu", "/help"),
        ("/frobnicate now", "/help"),
        ("what is the time?", "what is the time?"),
        ("hello", "hello"),
        ("状态 如何", "状态 如何"),
    ],
)
def test_the_text_form_of_what_follows_the_slash_command(typed: str, text: str) -> None:
    assert text_form(typed, COMMANDS) == text


async def test_a_command_is_answered_privately(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    used = ada.command("status", slack.channel())
    reply = await used.reply()
    assert (reply["response_type"], reply["text"]) == ("ephemeral", "All is well.")
    event = port.commanded[0]
    assert (event.text, event.chat_id, event.sender_id, event.is_group) == ("/status", "C1", "U1", True)
    assert (await used.delivery.acknowledged()).took_seconds < 3


async def test_a_command_counts_once_however_often_it_is_delivered_and_another_one_is_another(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort
) -> None:
    told = {"command": "/echo", "text": "status", "user_id": "U1", "channel_id": "D1", "team_id": "T1"}
    first = slack.deliver("slash_commands", {**told, "response_url": f"{slack.url}/commands/one"})
    await slack.redeliver(await first.acknowledged()).acknowledged()
    await slack.deliver(
        "slash_commands", {**told, "response_url": f"{slack.url}/commands/two"}
    ).acknowledged()
    assert [event.text for event in port.commanded] == ["/status", "/status"]
    assert len(port.seen) == 3


async def test_a_command_that_becomes_a_turn_shows_publicly_who_asked_for_what(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    reply = await ada.command("run ls &gt; out <!here>", slack.channel()).reply()
    assert (reply["response_type"], reply["text"]) == ("in_channel", "<@U1>: /run ls &gt; out @here")
    assert port.commanded[0].text == "/run ls > out @here"


async def test_bare_text_is_a_message_to_the_bot(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    reply = await ada.command("how late is it?", slack.channel()).reply()
    event = await port.wait_for_event("how late is it?")
    assert (event.mentioned, event.is_group) == (True, True)
    assert reply["response_type"] == "in_channel"


async def test_a_stranger_gets_a_private_sentence(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort
) -> None:
    port.strangers = {"U6"}
    mallory = slack.user("U6", "Mallory")
    for typed in ("run id", "who are you?"):
        reply = await mallory.command(typed, slack.channel()).reply()
        assert (reply["response_type"], "know you" in reply["text"]) == ("ephemeral", True)
    assert port.stored == []


async def test_a_command_that_cannot_be_stored_says_so(
    channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    port.fail(StorageError("full"))
    assert "could not be stored" in (await ada.command("status").reply())["text"]


async def test_a_command_that_comes_again_is_answered_once(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    for typed in ("status", "how late is it?"):
        before = len(port.seen)
        used = ada.command(typed, slack.channel())
        await used.reply()
        await slack.redeliver(used.delivery).acknowledged()
        assert len(port.seen) == before + 2
        assert len(used.slack.world.response_urls[used.key].answers) == 1
    assert (len(port.commanded), len(port.stored)) == (1, 1)


async def test_an_answer_is_formatted_and_pings_nobody(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    port.answer = CommandReply("**Fine** <!channel>")
    assert (await ada.command("status").reply())["text"] == "*Fine* &lt;!channel&gt;"


async def test_the_shortcut_on_a_message_asks_about_it_in_its_thread(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    room = slack.user("U2", "Bob").at(slack.channel())
    said = room.say("the build is red &amp; late")
    ada.at(room.chat)
    ada.shortcut(SHORTCUT_MESSAGE, said)
    modal = await ada.open_modal()
    assert "the build is red & late" in modal.words
    ada.submit(modal, "why?")
    event = await port.wait_for_event("why?")
    assert (event.chat_id, event.thread_id, event.sender_id) == ("C1", said.ts, "U1")
    assert (event.reply_to_id, event.reply_to_text) == (said.ts, "the build is red & late")
    assert (event.reply_to_sender, event.mentioned) == ("U2", True)
    await room.thread(said).wait_for_text("<@U1>: why?")


async def test_the_shortcut_from_anywhere_becomes_a_direct_message(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    ada.shortcut(SHORTCUT_ANYWHERE)
    ada.submit(await ada.open_modal(), "good morning")
    event = await port.wait_for_event("good morning")
    assert (event.chat_id, event.thread_id, event.is_group) == ("D1", "", False)
    await ada.dm().wait_for_text("good morning")


async def test_a_shortcut_tells_a_stranger_so_at_once(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort
) -> None:
    port.strangers = {"U6"}
    mallory = slack.user("U6", "Mallory")
    mallory.shortcut(SHORTCUT_ANYWHERE)
    modal = await mallory.open_modal()
    assert (modal.inputs, "do not know you" in modal.words) == ([], True)


async def test_a_modal_sent_twice_is_one_message(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    ada.shortcut(SHORTCUT_ANYWHERE)
    delivery = ada.submit(await ada.open_modal(), "once")
    await port.wait_for_event("once")
    await slack.redeliver(delivery).acknowledged()
    await eventually(lambda: len(port.seen) == 2, "the repeat")
    assert [event.text for event in port.stored] == ["once"]
