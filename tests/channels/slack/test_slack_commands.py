"""The slash command and the shortcuts."""

from __future__ import annotations

from pathlib import Path

import pytest

from channels.slack.adapter import SlackChannel
from channels.slack.commands import SHORTCUT_ANYWHERE, SHORTCUT_MESSAGE, slack_form, text_form
from channels.slack.line import Rhythm
from echo_bot.channel import ChannelSettings, CommandReply
from echo_bot.errors import StorageError
from echo_bot.events import Address, OutboundText
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_port import COMMANDS, FakePort
from echo_bot.testing.slack import Person, SlackEmulator
from echo_bot.testing.slack.model import ChatKind
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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("There is none. /help lists them.", "There is none. /echo help lists them."),
        ("Write: `/approve <id>`. `/run` it.", "Write: `/echo approve <id>`. `/echo run` it."),
        ("`/frobnicate` is none", "`/frobnicate` is none"),
        ("k3 `exec: ls /run /help`", "k3 `exec: ls /run /help`"),
        ("`/run/lock` and /run/lock and ./run", "`/run/lock` and /run/lock and ./run"),
        ("```\n/run x\n`/help`\n```", "```\n/run x\n`/help`\n```"),
    ],
)
def test_an_answer_names_commands_as_slack_takes_them(text: str, shown: str) -> None:
    assert slack_form(text, COMMANDS) == shown


async def test_the_answer_to_a_command_names_others_in_that_form(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    port.answer = CommandReply("`/help` lists them.")
    assert "`/echo help` lists them." in (await ada.command("status").reply())["text"]


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
    room = ada.at(slack.channel())
    ada.command("run ls &gt; out <!here>", room.chat)
    shown = await room.wait_for_text("/run ls")
    assert (shown.text, room.whispers) == ("<@U1>: /run ls &gt; out @here", [])
    assert port.commanded[0].text == "/run ls > out @here"


async def test_where_the_post_fails_the_question_is_shown_by_the_response_url(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    slack.fail("chat.postMessage", "restricted_action")
    reply = await ada.command("run ls", slack.channel()).reply()
    assert (reply["response_type"], reply["text"]) == ("in_channel", "<@U1>: /run ls")


@pytest.mark.parametrize("kind", ["channel", "im"], ids=["a channel", "two people's own chat"])
async def test_who_asks_where_the_bot_is_not_is_told_so(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person, kind: ChatKind
) -> None:
    elsewhere = slack.channel_without_bot("C7" if kind == "channel" else "D77", kind)
    reply = await ada.command("how late is it?", elsewhere).reply()
    assert (reply["response_type"], "I am not in this chat" in reply["text"]) == ("ephemeral", True)
    assert (port.stored, slack.called("chat.postMessage")) == ([], [])
    assert (await ada.command("status", elsewhere).reply())["text"] == "All is well."
    assert (port.commanded[0].chat_id, port.commanded[0].is_group) == (elsewhere.id, True)
    sent = await channel.send_text(Address("slack", "U1"), OutboundText("to Ada"))
    assert sent.address.chat_id == ada.dm().chat.id


@pytest.mark.parametrize("slow", [True, False], ids=["slow", "without the scope"])
async def test_where_slack_does_not_say_whether_the_bot_is_there_it_is_asked_all_the_same(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person, slow: bool
) -> None:
    if slow:
        slack.hold("conversations.history")
    else:
        slack.scopes.discard("channels:history")
    reply = await ada.command("run ls", slack.channel_without_bot("C7")).reply()
    assert "I am not in this chat" in reply["text"]
    assert port.commanded[0].text == "/run ls"


async def test_where_it_cannot_be_stored_that_nothing_is_done_it_is_asked_all_the_same(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    port.fail(StorageError("full"), times=2)
    reply = await ada.command("run ls", slack.channel_without_bot("C7")).reply()
    assert "could not be stored" in reply["text"]


async def test_where_the_bot_is_to_hear_nothing_nobody_is_asked_to_invite_it(
    tmp_path: Path, settings: ChannelSettings, quick: Rhythm, slack: SlackEmulator, ada: Person
) -> None:
    config = {
        "channels.slack.allow_from": ["U1"],
        "channels.slack.api_base": settings.api_base,
        "channels.slack.group_policy": "off",
    }
    async with running_bot(tmp_path, config, channels=[SlackChannel(settings, quick)]) as bot:
        await bot.connected()
        reply = await ada.command("how late is it?", slack.channel_without_bot("C7")).reply()
    assert reply["text"] == "I do not answer in this chat."


async def test_bare_text_is_a_message_to_the_bot(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    room = ada.at(slack.channel())
    ada.command("how late is it?", room.chat)
    event = await port.wait_for_event("how late is it?")
    assert (event.mentioned, event.is_group) == (True, True)
    await room.wait_for_text("how late is it?")


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


async def test_a_command_in_a_direct_chat_waits_for_no_slow_slack(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    slack.hold("conversations.open")
    assert (await ada.command("status").reply())["text"] == "All is well."
    assert not port.commanded[0].is_group


async def test_a_command_that_comes_again_is_answered_once(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    room = ada.at(slack.channel())
    used = ada.command("status", room.chat)
    await used.reply()
    await slack.redeliver(used.delivery).acknowledged()
    assert (len(port.seen), len(used.slack.world.response_urls[used.key].answers)) == (2, 1)
    used = ada.command("how late is it?", room.chat)
    await room.wait_for_text("how late")
    await slack.redeliver(used.delivery).acknowledged()
    assert (len(port.seen), len(room.from_bot)) == (4, 1)
    assert (len(port.commanded), len(port.stored)) == (1, 1)


@pytest.mark.parametrize("lines", [150, 700], ids=["one answer", "several"])
async def test_a_long_answer_comes_whole(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person, lines: int
) -> None:
    port.answer = CommandReply("\n".join(f"`id{number}` <call> number {number}" for number in range(lines)))
    await ada.command("status").reply()
    await eventually(lambda: f"number {lines - 1}" in ada.dm().whispers[-1].words, "the end of the answer")
    words = "\n".join(one.words for one in ada.dm().whispers)
    assert [number for number in range(lines) if f"number {number}" not in words] == []


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


@pytest.mark.parametrize("letter", ["长", '"', "😀", "&amp;", "a"])
async def test_the_shortcut_opens_on_a_long_message_whatever_it_is_written_in(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person, letter: str
) -> None:
    said = ada.at(slack.channel()).say(letter * 2500)
    ada.shortcut(SHORTCUT_MESSAGE, said)
    ada.submit(await ada.open_modal(), "what is this?")
    quoted = (await port.wait_for_event("what is this?")).reply_to_text
    assert len(quoted) > 500
    assert quoted in said.words


async def test_a_window_that_does_not_open_is_told(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    said = ada.at(slack.channel()).say("long ago")
    slack.fail("views.open", "expired_trigger_id")
    ada.shortcut(SHORTCUT_MESSAGE, said)
    urls = slack.world.response_urls
    await eventually(lambda: [each for url in urls.values() for each in url.answers], "an answer")
    (answer,) = [each for url in urls.values() for each in url.answers]
    assert answer["text"] == "Slack could not open the window. Try again."


async def test_a_question_about_a_message_where_the_bot_is_not_is_answered_by_saying_so(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    elsewhere = ada.at(slack.channel_without_bot("C7"))
    ada.shortcut(SHORTCUT_MESSAGE, elsewhere.say("the build is red"))
    modal = await ada.open_modal()
    assert (modal.inputs, "I am not in this chat" in modal.words) == ([], True)
    assert (port.stored, elsewhere.from_bot) == ([], [])


async def test_a_question_about_a_message_where_the_bot_was_until_just_now_is_answered_by_saying_so(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    elsewhere = ada.at(slack.channel("C7"))
    ada.shortcut(SHORTCUT_MESSAGE, elsewhere.say("the build is red"))
    modal = await ada.open_modal()
    elsewhere.chat.members.discard(slack.world.bot.id)
    ada.submit(modal, "why?")
    urls = slack.world.response_urls
    await eventually(lambda: [each for url in urls.values() for each in url.answers], "an answer")
    assert elsewhere.from_bot == []


async def test_the_shortcut_from_anywhere_becomes_a_direct_message(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    ada.shortcut(SHORTCUT_ANYWHERE)
    ada.submit(await ada.open_modal(), "good morning")
    event = await port.wait_for_event("good morning")
    assert (event.chat_id, event.thread_id, event.is_group) == ("D1", "", False)
    await ada.dm().wait_for_text("good morning")


async def test_a_command_in_the_window_is_answered_like_any_other(
    channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    port.answer = CommandReply("**Fine**, see `/help` <!channel>")
    ada.shortcut(SHORTCUT_ANYWHERE)
    ada.submit(await ada.open_modal(), "/status")
    await eventually(lambda: ada.dm().whispers, "an answer")
    assert [one.text for one in ada.dm().whispers] == ["*Fine*, see `/echo help` &lt;!channel&gt;"]


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
