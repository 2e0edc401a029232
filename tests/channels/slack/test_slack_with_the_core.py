"""Whole paths: people in Slack, the real SDK and adapter, the real core and store behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from channels.slack.adapter import SlackChannel
from channels.slack.commands import SHORTCUT_MESSAGE
from channels.slack.line import Rhythm
from echo_bot.channel import ChannelSettings
from echo_bot.events import Identity
from echo_bot.storage.approvals import SqlApprovals
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel
from echo_bot.testing.slack import Conversation, Message, Person, SlackEmulator
from echo_bot.testing.waiting import eventually

Start = Callable[..., AbstractAsyncContextManager[RunningBot]]

CONFIG: dict[str, object] = {
    "tools.exec.host": "local",
    "permissions.admin_users": ["slack:U1"],
    "channels.slack.allow_from": ["U1", "U2"],
}


@pytest.fixture
def start(tmp_path: Path, settings: ChannelSettings, quick: Rhythm) -> Start:
    """Start a bot on the same state; once more is a restart."""

    def run(config: dict[str, object] | None = None, **more: Any) -> AbstractAsyncContextManager[RunningBot]:
        keys = CONFIG | {"channels.slack.api_base": settings.api_base} | (config or {})
        return running_bot(tmp_path, keys, channels=[SlackChannel(settings, quick)], **more)

    return run


@pytest.fixture
async def bot(start: Start) -> AsyncIterator[RunningBot]:
    async with start() as running:
        yield running


@pytest.fixture
def room(slack: SlackEmulator, ada: Person) -> Conversation:
    return ada.at(slack.channel())


def cards(slack: SlackEmulator) -> list[Message]:
    return [message for message in slack.messages if message.labels]


async def test_a_press_decides_while_its_turn_waits(bot: RunningBot, dm: Conversation) -> None:
    dm.say("/run echo it ran")
    card = await dm.wait_for_button("Approve once")
    assert "echo it ran" in card.words
    assert "Approved" in await dm.press("Approve once").answer()
    await dm.wait_for_text("it ran")
    await eventually(lambda: card.labels == [], "the card closed")
    assert "Approved once" in card.words


async def test_a_channel_message_its_card_and_its_answer_share_a_thread(
    bot: RunningBot, room: Conversation
) -> None:
    thread = room.thread(room.mention("/run echo in the thread"))
    await thread.wait_for_button("Approve once")
    thread.press("Approve once")
    await thread.wait_for_text("in the thread")
    assert room.from_bot == []


async def test_events_are_acknowledged_while_a_turn_takes_its_time(start: Start, dm: Conversation) -> None:
    model = ScriptedModel([CallTool("exec", {"command": "echo wait"}), Say("done")])
    async with start(model=model.model):
        dm.say("a long job")
        await dm.wait_for_button("Approve once")
        dm.say("and another thing")
        for delivery in dm.deliveries:
            assert (await delivery.acknowledged()).took_seconds < 3
        await dm.wait_for_text("A decision is open")


async def test_two_open_cards_are_decided_each_by_its_own_button(
    bot: RunningBot, dm: Conversation, room: Conversation
) -> None:
    dm.say("/run echo private")
    thread = room.thread(room.mention("/run echo public"))
    private, public = await dm.wait_for_button("Deny"), await thread.wait_for_button("Deny")
    thread.press("Deny", public)
    await thread.wait_for_text("denied")
    assert private.labels != []
    dm.press("Approve once", private)
    await dm.wait_for_text("private\n")


async def test_a_second_press_hears_who_was_first(bot: RunningBot, dm: Conversation) -> None:
    dm.say("/run echo hi")
    card = await dm.wait_for_button("Approve once")
    button = card.buttons[0]
    await dm.press("Approve once").answer()
    await dm.wait_for_text("hi\n")
    assert "already" in (await dm.press_button(button, card).answer()).lower()


async def test_a_stranger_is_told_alone_and_changes_nothing(
    slack: SlackEmulator, bot: RunningBot, room: Conversation
) -> None:
    thread = room.thread(room.mention("/run touch made"))
    card = await thread.wait_for_button("Approve once")
    person = slack.user("U6", "Mallory")
    mallory = person.at(room.chat, thread.thread_ts)
    assert "may not" in await mallory.press("Approve once").answer()
    assert "may not" in (await mallory.press("Deny with reason").modal()).words
    mallory.mention("/run id")
    person.dm().say("/run id")
    reply = await person.command("run id", room.chat).reply()
    assert (reply["response_type"], "know you" in reply["text"]) == ("ephemeral", True)
    assert person.dm().from_bot == []
    assert (cards(slack), (bot.workspace / "made").exists()) == ([card], False)


async def test_a_reason_is_given_in_a_modal(bot: RunningBot, ada: Person, dm: Conversation) -> None:
    dm.say("/run echo no")
    await dm.wait_for_button("Deny with reason")
    ada.submit(await dm.press("Deny with reason").modal(), "not today")
    await dm.wait_for(
        lambda message: "not today" in message.words and "denied" in message.words, "the outcome"
    )


async def test_an_edited_call_is_a_new_call_with_its_own_card(
    bot: RunningBot, ada: Person, dm: Conversation
) -> None:
    dm.say("/run echo one > made".replace(">", "&gt;"))
    first = await dm.wait_for_button("Edit")
    modal = await dm.press("Edit").modal()
    assert "echo one > made" in modal.initial
    ada.submit(modal, modal.initial.replace("echo one", "echo two"))
    second = await dm.wait_for(
        lambda message: bool(message.labels) and message is not first and "echo two" in message.words,
        "the card of the new call",
    )
    dm.press("Approve once", second)
    made = bot.workspace / "made"
    await eventually(lambda: made.exists() and made.read_text() == "two\n", "the new call")


async def test_the_slash_command_runs_and_answers_in_the_channel(
    slack: SlackEmulator, bot: RunningBot, ada: Person, room: Conversation
) -> None:
    assert "slack:U1" in (await ada.command("whoami", room.chat).reply())["text"]
    ada.command("run echo by command", room.chat)
    await room.wait_for_text("<@U1>: /run echo by command")
    await room.wait_for_button("Approve once")
    room.press("Approve once")
    await room.wait_for_text("by command\n")


async def test_an_approval_may_be_given_by_slash_command(
    bot: RunningBot, ada: Person, dm: Conversation
) -> None:
    dm.say("/run echo hi")
    await dm.wait_for_button("Approve once")
    (card,) = await bot.parts.inbox.pending(Identity("slack", "U1"))
    reply = await ada.command(f"approve {card.short_id} once").reply()
    assert "Approved" in reply["text"]
    await dm.wait_for_text("hi\n")


async def test_a_message_shortcut_gives_the_model_the_quote(
    slack: SlackEmulator, start: Start, ada: Person, room: Conversation
) -> None:
    model = ScriptedModel([Say("because of the tests")])
    said = slack.user("U2", "Bob").at(room.chat).say("the build is red")
    async with start(model=model.model):
        ada.shortcut(SHORTCUT_MESSAGE, said)
        ada.submit(await ada.open_modal(), "why?")
        await room.thread(said).wait_for_text("because of the tests")
    asked = str(model.seen[0])
    assert ("the build is red" in asked, "why?" in asked) == (True, True)


async def test_app_home_lists_and_decides_what_is_open(
    bot: RunningBot, ada: Person, dm: Conversation
) -> None:
    ada.open_home()
    await ada.home("Nothing waits")
    dm.say("/run echo from home")
    await ada.home("echo from home")
    ada.press_home("Approve once")
    await dm.wait_for_text("from home\n")
    await ada.home("Nothing waits")


async def test_bots_do_not_talk_to_bots(
    slack: SlackEmulator, start: Start, ada: Person, room: Conversation, dm: Conversation
) -> None:
    model = ScriptedModel([Say("hello Ada")])
    robo = slack.user("U2", "Robo", is_bot=True).at(room.chat)
    async with start({"channels.slack.group_policy": "open"}, model=model.model):
        for _ in range(5):
            robo.mention("hello bot")
        dm.say("hi")
        await dm.wait_for_text("hello Ada")
    assert (len(model.seen), room.from_bot) == (1, [])


@pytest.mark.parametrize(
    ("policy", "heard"), [("mention", ["by name"]), ("open", ["by name", "aloud"]), ("off", [])]
)
async def test_in_a_channel_only_what_is_meant_for_the_bot_is_heard(
    start: Start, room: Conversation, dm: Conversation, policy: str, heard: list[str]
) -> None:
    model = ScriptedModel([Say("yes")] * 3)
    async with start({"channels.slack.group_policy": policy}, model=model.model):
        room.mention("by name")
        room.say("aloud")
        dm.say("directly")
        await dm.wait_for_text("yes")
        await eventually(lambda: len(model.seen) == len(heard) + 1, "the turns")
    asked = str(model.seen)
    assert [words for words in ("by name", "aloud") if words in asked] == heard


async def test_events_that_come_again_after_a_restart_are_done_once(
    slack: SlackEmulator, start: Start, dm: Conversation
) -> None:
    async with start() as bot:
        dm.say("/run echo once &gt;&gt; log")
        await dm.wait_for_button("Approve once")
        dm.press("Approve once")
        await eventually(lambda: (bot.workspace / "log").exists(), "the call")
        await dm.wait_for_text("no output")
    again = [slack.redeliver(delivery) for delivery in list(slack.deliveries)]
    async with start() as bot:
        await asyncio.gather(*(delivery.acknowledged() for delivery in again))
        dm.say("/whoami")
        await dm.wait_for_text("slack:U1")
        assert (bot.workspace / "log").read_text() == "once\n"
        assert len([one for one in dm.from_bot if "no output" in one.words]) == 1


async def test_a_card_from_before_a_restart_is_decided_after_it(start: Start, dm: Conversation) -> None:
    async with start():
        dm.say("/run echo kept")
        card = await dm.wait_for_button("Approve once")
    dm.press("Approve once", card)
    async with start():
        await dm.wait_for_text("kept\n")
        assert len([one for one in dm.from_bot if "echo kept" in one.words]) == 1


async def test_a_card_that_was_sent_before_a_crash_stands_there_once(
    slack: SlackEmulator, start: Start, dm: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def crash(*_: object) -> None:
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(SqlApprovals, "place_copy", crash)
        async with start():
            dm.say("/run echo it ran")
            card = await dm.wait_for_button("Approve once")
    async with start():
        await eventually(lambda: len(slack.called("chat.postMessage")) == 2, "the second try")
        await dm.press("Approve once").answer()
        await dm.wait_for_text("it ran\n")
        await eventually(lambda: card.labels == [], "the card closed")
        assert sum("Run a command?" in one.words for one in dm.from_bot) == 1


async def test_a_card_that_slack_has_already_but_does_not_name_is_mended_by_its_first_press(
    slack: SlackEmulator, start: Start, dm: Conversation
) -> None:
    async with start():
        slack.fail("chat.postMessage", "duplicate_message_not_allowed", after=True)
        dm.say("/run echo it ran")
        card = await dm.wait_for_button("Approve once")
        await dm.press("Approve once", card).answer()
        await dm.wait_for_text("it ran\n")
        await eventually(lambda: card.labels == [], "the card closed")
        assert sum("Run a command?" in one.words for one in dm.from_bot) == 1


async def test_sockets_that_die_again_and_again_lose_and_double_nothing(
    slack: SlackEmulator, start: Start, dm: Conversation
) -> None:
    model = ScriptedModel([Say(f"answer {number}.") for number in range(4)])
    async with start(model=model.model):
        for number in range(4):
            dm.say(f"question {number}")
            slack.sockets.drop()
        await dm.wait_for_text("answer 3.")
    assert [one.words for one in dm.from_bot] == [f"answer {number}." for number in range(4)]


async def test_messages_wait_out_a_rate_limit_and_keep_their_order(
    slack: SlackEmulator, start: Start, dm: Conversation
) -> None:
    async with start():
        slack.fail("chat.postMessage", retry_after=1)
        dm.say("/whoami")
        dm.say("/nonsense")
        await dm.wait_for_text("no command")
    assert ["slack:U1" in one.words for one in dm.from_bot] == [True, False]


async def test_a_missing_scope_makes_a_dead_letter_at_once_that_names_the_fix(
    slack: SlackEmulator, bot: RunningBot, dm: Conversation
) -> None:
    slack.scopes.discard("files:write")
    (bot.workspace / "a.txt").write_text("x")
    dm.say("/tool message text=here files='[\"a.txt\"]'")
    await dm.wait_for_text("here")
    await eventually(lambda: slack.called("files.getUploadURLExternal"), "the upload")
    dm.say("/status")
    shown = await dm.wait_for_text("Undeliverable messages: 1")
    assert "Add files:write under OAuth" in shown.text
    assert len(slack.called("files.getUploadURLExternal")) == 1


async def test_a_reply_longer_than_a_message_arrives_whole(start: Start, dm: Conversation) -> None:
    words = " ".join(f"word{number}" for number in range(4000))
    model = ScriptedModel([Say(words)])
    async with start(model=model.model):
        dm.say("talk")
        await dm.wait_for_text("word3999")
    shown = " ".join(one.words for one in dm.from_bot).split()
    assert shown == words.split()


async def test_a_call_too_long_for_one_message_is_shown_whole_before_its_buttons(
    bot: RunningBot, dm: Conversation
) -> None:
    lines = "\n".join(f"echo {number}" for number in range(2500))
    dm.say(f"/run {lines}")
    card = await dm.wait_for_button("Approve once")
    shown = "\n".join(one.words for one in dm.from_bot)
    assert [number for number in range(2500) if f"echo {number}\n" not in f"{shown}\n"] == []
    assert dm.from_bot[-1] is card


async def test_an_edit_replaces_what_still_waits(start: Start, dm: Conversation) -> None:
    model = ScriptedModel([CallTool("exec", {"command": "echo wait"}), Say("done"), Say("second done")])
    async with start(model=model.model):
        first = dm.say("first")
        await dm.wait_for_button("Approve once")
        second = dm.say("secnod")
        dm.edit(first, "/run touch made")
        dm.edit(second, "second &amp; right")
        for delivery in dm.deliveries:
            await delivery.acknowledged()
        dm.press("Approve once")
        await dm.wait_for_text("second done")
    asked = str(model.seen[-1])
    assert ("second & right" in asked, "secnod" in asked) == (True, False)


async def test_a_received_file_lies_in_the_workspace(start: Start, dm: Conversation) -> None:
    model = ScriptedModel([Say("thanks")])
    async with start(model=model.model) as bot:
        dm.upload("notes.txt", b"some words", "read this")
        await dm.wait_for_text("thanks")
        found = [path.read_bytes() for path in bot.workspace.rglob("*notes.txt")]
    assert found == [b"some words"]


async def test_signed_http_mode_carries_a_whole_turn(
    slack: SlackEmulator, tmp_path: Path, settings: ChannelSettings, quick: Rhythm, dm: Conversation
) -> None:
    secrets = {**settings.secrets, "signing_secret": slack.signing_secret}
    channel = SlackChannel(replace(settings, options={"mode": "http"}, secrets=secrets), quick)
    slack.call(channel.hooks()["/slack/events"])
    async with running_bot(tmp_path, CONFIG, channels=[channel]):
        await eventually(lambda: slack.called("auth.test"), "the start")
        await eventually(lambda: channel.health().error == "" and channel.health().state == "connected", "it")
        dm.say("/run echo signed")
        await dm.wait_for_button("Approve once")
        dm.press("Approve once")
        await dm.wait_for_text("signed\n")
