"""Whole paths: people on Telegram, the real SDK and adapter, the real core and store behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from channels.telegram.adapter import TelegramChannel
from channels.telegram.standing import Rhythm
from echo_bot.channel import ChannelSettings
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel
from echo_bot.testing.telegram import Conversation, Message, TelegramEmulator, media
from echo_bot.testing.waiting import eventually

Start = Callable[..., AbstractAsyncContextManager[RunningBot]]

CONFIG: dict[str, object] = {
    "tools.exec.host": "local",
    "permissions.admin_users": ["telegram:42"],
    "channels.telegram.allow_from": ["42", "43", "-1001"],
}


@pytest.fixture
def start(tmp_path: Path, settings: ChannelSettings, quick: Rhythm) -> Start:
    """Start a bot on the same state; once more is a restart."""

    def run(config: dict[str, object] | None = None, **more: Any) -> AbstractAsyncContextManager[RunningBot]:
        known = CONFIG | {"channels.telegram.api_base": settings.api_base} | (config or {})
        return running_bot(tmp_path, known, channels=[TelegramChannel(settings, quick)], **more)

    return run


@pytest.fixture
async def bot(start: Start) -> AsyncIterator[RunningBot]:
    async with start() as running:
        yield running


def cards(chat: Conversation) -> list[Message]:
    return [message for message in chat.from_bot if message.labels]


async def test_a_press_decides_while_its_turn_waits(bot: RunningBot, chat: Conversation) -> None:
    chat.say("/run echo it ran")
    card = await chat.wait_for_button("Approve once")
    press = chat.press("Approve once")
    assert "Approved" in (await press.answer()).text
    await chat.wait_for_text("exit code 0\nit ran")
    await eventually(lambda: card.labels == [], "the card closed")
    assert "Approved once" in card.text


async def test_two_open_cards_are_decided_each_by_its_own_button(
    telegram: TelegramEmulator, bot: RunningBot, chat: Conversation
) -> None:
    group = telegram.user(42, "Ada", "ada").chat(telegram.group())
    chat.say("/run echo private")
    group.say("/run echo public")
    private, public = await chat.wait_for_button("Deny"), await group.wait_for_button("Deny")
    group.press("Deny", public)
    await group.wait_for_text("denied")
    assert private.labels != []
    chat.press("Approve once", private)
    await chat.wait_for_text("exit code 0\nprivate")


async def test_a_reason_is_asked_for_and_given_by_a_reply(bot: RunningBot, chat: Conversation) -> None:
    chat.say("/run echo no")
    await chat.wait_for_button("Deny with reason")
    chat.press("Deny with reason")
    question = await chat.wait_for(lambda message: message.asks_for_reply, "the question")
    chat.reply(question, "not today")
    await chat.wait_for(
        lambda message: "not today" in message.text and "denied" in message.text, "the outcome"
    )


async def test_a_stopped_turns_card_says_so(bot: RunningBot, chat: Conversation) -> None:
    chat.say("/run echo no")
    card = await chat.wait_for_button("Approve once")
    chat.say("/stop")
    await eventually(lambda: card.labels == [["Ask again"]], "the card closed")
    assert "Cancelled at" in card.text
    assert "the turn was stopped" in card.text
    assert "Expired" not in card.text


async def test_an_edited_call_is_a_new_call_with_its_own_card(bot: RunningBot, chat: Conversation) -> None:
    chat.say("/run echo one > made")
    first = await chat.wait_for_button("Edit")
    chat.press("Edit")
    question = await chat.wait_for(lambda message: message.asks_for_reply, "the question")
    (initial,) = question.marked("pre")
    assert "echo one > made" in initial
    chat.reply(question, initial.replace("echo one", "echo two"))
    second = await chat.wait_for(
        lambda message: bool(message.labels) and message is not first and "echo two" in message.text,
        "the card of the new call",
    )
    chat.press("Approve once", second)
    made = bot.workspace / "made"
    await eventually(lambda: made.exists() and made.read_text() == "two\n", "the new call")


async def test_a_stranger_gets_nothing_but_an_answer_to_a_press(
    telegram: TelegramEmulator, bot: RunningBot
) -> None:
    group = telegram.group()
    ada, mallory = telegram.user(42, "Ada").chat(group), telegram.user(66, "Mallory").chat(group)
    ada.say("/run echo hi")
    await ada.wait_for_button("Approve once")
    alone = telegram.user(66).chat()
    alone.say("/run id")
    said = mallory.say("@EchoTestBot /run id")
    answer = await mallory.press("Approve once").answer()
    assert (answer.show_alert, "may not" in answer.text) == (True, True)
    answer = await mallory.press("Deny with reason").answer()
    assert (answer.show_alert, "may not" in answer.text) == (True, True)
    assert alone.from_bot == []
    assert (said.reactions, len(cards(ada))) == ((), 1)
    assert {chat_id for chat_id, _, _ in telegram.world.typed} <= {group.id}


async def test_a_forged_press_changes_no_other_message_of_the_bot(
    telegram: TelegramEmulator, bot: RunningBot
) -> None:
    """Telegram passes on whatever data a client sends, with any message of the bot."""
    here, elsewhere = telegram.group(), telegram.group(-1002)
    ada, mallory = telegram.user(42, "Ada").chat(here), telegram.user(66, "Mallory").chat(elsewhere)
    telegram.user(42).chat(elsewhere).say("/whoami")
    other = await mallory.wait_for_text("telegram:42")
    before = other.text
    ada.say("/run echo private")
    card = await ada.wait_for_button("Approve once")
    answer = await mallory.press_data(card.callback_data("Approve once"), other).answer()
    assert "may not" in answer.text
    telegram.user(42, "Ada").chat(elsewhere).press_data(card.callback_data("Deny"), other)
    await eventually(lambda: card.labels == [], "the card closed")
    ada.say("/whoami")
    await ada.wait_for_text("telegram:42")
    assert other.text == before


async def test_updates_that_come_again_after_a_restart_are_done_once(
    telegram: TelegramEmulator, start: Start, chat: Conversation
) -> None:
    async with start() as bot:
        chat.say("/run echo once >> log")
        await chat.wait_for_button("Approve once")
        chat.press("Approve once")
        await eventually(lambda: (bot.workspace / "log").exists(), "the call")
        await chat.wait_for_text("no output")
    for update in list(telegram.world.updates.history):
        telegram.redeliver(update)
    async with start() as bot:
        chat.say("/whoami")
        await chat.wait_for_text("telegram:42")
        assert (bot.workspace / "log").read_text() == "once\n"
        assert len([message for message in chat.from_bot if "no output" in message.text]) == 1


async def test_a_card_from_before_a_restart_is_decided_after_it(start: Start, chat: Conversation) -> None:
    async with start() as bot:
        chat.say("/run echo kept")
        await chat.wait_for_button("Approve once")
        # A bot that is stopped before it heard where its card stands marks another one, as after a crash.
        while not any(record.copies for record in await bot.store.approvals.pending()):
            await asyncio.sleep(0.01)
    chat.press("Approve once")
    async with start():
        await chat.wait_for_text("exit code 0\nkept")
        assert len([message for message in chat.from_bot if "echo kept" in message.text]) == 1


async def test_messages_of_an_absence_are_run_but_too_old_ones_are_not(
    telegram: TelegramEmulator, start: Start, chat: Conversation
) -> None:
    now = datetime.now(UTC)
    telegram.world.clock = (now - timedelta(hours=3)).timestamp
    chat.say("/run echo ancient")
    chat.say("/run echo ancient too")
    telegram.world.clock = (now - timedelta(minutes=5)).timestamp
    chat.say("/run echo recent")
    async with start():
        await chat.wait_for_button("Approve once")
        assert len([message for message in chat.from_bot if "too old" in message.text]) == 1
        assert [message for message in chat.from_bot if "ancient" in message.text] == []


async def test_a_date_older_than_anything_telegram_keeps_is_another_clocks(
    telegram: TelegramEmulator, start: Start, chat: Conversation
) -> None:
    telegram.world.clock = datetime(2023, 11, 14, tzinfo=UTC).timestamp
    async with start():
        chat.say("/run echo now")
        await chat.wait_for_button("Approve once")


async def test_an_edit_runs_nothing_and_replaces_what_still_waits(start: Start, chat: Conversation) -> None:
    model = ScriptedModel([CallTool("exec", {"command": "echo wait"}), Say("done"), Say("second done")])
    async with start(model=model.model):
        first = chat.say("first")
        await chat.wait_for_button("Approve once")
        second = chat.say("secnod")
        chat.edit(first, "/run touch made")
        chat.edit(second, "second, with 🙂")
        await eventually(lambda: len(chat.messages) >= 4, "the messages")
        chat.say("/whoami")
        await chat.wait_for_text("telegram:42")
        chat.press("Approve once")
        await chat.wait_for_text("second done")
    asked = str(model.seen[-1])
    assert ("second, with 🙂" in asked, "secnod" in asked) == (True, False)
    assert len(cards(chat)) == 0


async def test_an_album_is_one_turn(start: Start, chat: Conversation) -> None:
    model = ScriptedModel([Say("nice pictures"), Say("again?")])
    async with start(model=model.model):
        chat.send_album([media.photo(b"one"), media.photo(b"two")], "what are these?")
        await chat.wait_for_text("nice pictures")
        chat.say("/whoami")
        await chat.wait_for_text("telegram:42")
    assert len(model.seen) == 1
    assert "what are these?" in str(model.seen[0])


async def test_a_late_part_of_an_album_belongs_to_its_turn(
    telegram: TelegramEmulator, start: Start, chat: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long, so that what is said after the album ends it, however late its last part comes.
    monkeypatch.setattr("echo_bot.inbox.albums.QUIET_SECONDS", 3600.0)
    model = ScriptedModel([Say("nice pictures"), Say("nice words")])
    async with start(model=model.model):
        chat.send(media.photo(b"one"), "what are these?", album="a")
        await eventually(lambda: not telegram.world.updates.unconfirmed, "the first part stored")
        chat.send(media.photo(b"two"), "and this?", album="a")
        chat.say("what else?")
        await chat.wait_for_text("nice words")
    assert len(model.seen) == 2
    assert "and this?" in str(model.seen[0])


async def test_a_file_that_people_send_is_fetched_for_its_turn(
    telegram: TelegramEmulator, start: Start, chat: Conversation
) -> None:
    model = ScriptedModel([Say("read")])
    async with start(model=model.model) as bot:
        telegram.user(66).chat().send(media.document("forged.txt", b"from a stranger"))
        sent = chat.send(media.document("report.txt", b"the words in it"), "read this")
        await chat.wait_for_text("read")
        files = [path for path in bot.workspace.rglob("*") if path.is_file()]
        assert [path.read_bytes() for path in files] == [b"the words in it"]
        await eventually(lambda: sent.reactions == ("👀",), "the sign")
    assert len(telegram.called("getFile")) == 1


async def test_in_a_group_only_what_is_meant_for_the_bot_is_heard(
    telegram: TelegramEmulator, start: Start
) -> None:
    model = ScriptedModel([Say("heard one"), Say("heard two"), Say("heard three")])
    group = telegram.group(-1003, "Team")
    ada, bob = telegram.user(42, "Ada").chat(group), telegram.user(43, "Bob").chat(group)
    async with start(model=model.model):
        ada.say("just talking about @EchoTestBotX")
        ada.say("/help@OtherBot")
        ada.say("🙂🙂 @EchoTestBot what now?")
        heard = await ada.wait_for_text("heard one")
        bob.reply(heard, "really?")
        await ada.wait_for_text("heard two")
    assert len(model.seen) == 2
    assert "🙂🙂 what now?" in str(model.seen[0])
    assert [message.text for message in ada.from_bot] == ["heard one", "heard two"]


async def test_another_bot_starts_nothing(telegram: TelegramEmulator, start: Start) -> None:
    model = ScriptedModel([Say("hello human")])
    group = telegram.group(-1003, "Team")
    other = telegram.user(43, "Other", "other_bot", is_bot=True).chat(group)
    ada = telegram.user(42, "Ada").chat(group)
    async with start(model=model.model):
        for _ in range(3):
            other.say("@EchoTestBot hello fellow bot")
        ada.say("@EchoTestBot hello")
        await ada.wait_for_text("hello human")
    assert len(model.seen) == 1


async def test_an_anonymous_administrator_speaks_as_the_group_if_the_group_is_listed(
    telegram: TelegramEmulator, start: Start
) -> None:
    model = ScriptedModel([Say("hello group"), Say("hello again")])
    listed, other = telegram.group(-1001, "Team"), telegram.group(-1003, "Elsewhere")
    async with start(model=model.model):
        telegram.user(42, "Ada").chat(other).say_anonymously("@EchoTestBot hello")
        chat = telegram.user(42, "Ada").chat(listed)
        chat.say_anonymously("@EchoTestBot hello")
        await chat.wait_for_text("hello group")
    assert len(model.seen) == 1


@pytest.mark.parametrize("is_shown", [True, False], ids=["a card of today", "a card Telegram hides by now"])
async def test_a_forum_s_topics_keep_their_answers_cards_and_typing_signs(
    telegram: TelegramEmulator, bot: RunningBot, is_shown: bool
) -> None:
    forum = telegram.group(-1002, "Forum", forum=True)
    topic = telegram.user(42, "Ada").chat(forum, thread_id=77)
    topic.say("/run echo in the topic")
    await topic.wait_for_button("Approve once")
    topic.press("Deny with reason", is_shown=is_shown)
    question = await topic.wait_for(lambda message: message.asks_for_reply, "the question")
    topic.reply(question, "wrong place")
    await topic.wait_for(lambda message: "wrong place" in message.text, "the outcome")
    assert {message.thread_id for message in telegram.messages if message.sender == telegram.bot} == {77}
    assert {thread_id for _, thread_id, _ in telegram.world.typed} <= {77}


async def test_a_group_that_becomes_a_supergroup_keeps_its_open_call(
    telegram: TelegramEmulator, bot: RunningBot
) -> None:
    old = telegram.group(-5, "Team")
    before = telegram.user(42, "Ada").chat(old)
    before.say("/run echo moved")
    card = await before.wait_for_button("Approve once")
    after = telegram.user(42, "Ada").chat(telegram.upgrade(old, -1005))
    before.press("Approve once", card)
    await after.wait_for_text("exit code 0\nmoved")


async def test_by_webhook_the_gateway_takes_what_telegram_delivers(
    telegram: TelegramEmulator,
    settings: ChannelSettings,
    quick: Rhythm,
    tmp_path: Path,
    chat: Conversation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Long, so that what is said after the album ends it, however slowly its parts are delivered.
    monkeypatch.setattr("echo_bot.inbox.albums.QUIET_SECONDS", 3600.0)
    hooked = ChannelSettings(
        "",
        settings.api_base,
        options={"webhook_url": "https://bot.example.org/telegram"},
        secrets={**settings.secrets, "webhook_secret": "s3cret"},
    )
    model = ScriptedModel([Say("nice pictures"), Say("again?")])
    channel = TelegramChannel(hooked, quick)
    config = CONFIG | {"channels.telegram.api_base": settings.api_base}
    async with running_bot(tmp_path, config, channels=[channel], model=model.model) as bot:
        telegram.deliver_to(bot.url)
        await eventually(lambda: telegram.webhooks.webhook, "the webhook")
        await telegram.webhooks.set(telegram.webhooks.webhook)
        chat.send_album([media.photo(b"1"), media.photo(b"22"), media.photo(b"333")], "what are these?")
        chat.say("/run echo by webhook")
        await chat.wait_for_text("nice pictures")
        await chat.wait_for_button("Approve once")
        chat.press("Approve once")
        await chat.wait_for_text("exit code 0\nby webhook")
    assert set(telegram.webhooks.answers) == {200}
    assert len(model.seen) == 1
    received = sorted(
        path.read_bytes() for path in bot.workspace.rglob("*") if path.suffix in (".jpg", ".jpeg")
    )
    assert received == [b"1", b"22", b"333"]
