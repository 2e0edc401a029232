"""What the bot sends, and what becomes of Slack's refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from channels.slack.adapter import SlackChannel
from echo_bot.errors import (
    ChannelError,
    ChannelFatal,
    FormatRejected,
    OutcomeUnknown,
    RetryAfter,
    TargetGone,
    TemporaryFailure,
)
from echo_bot.events import Address, OutboundFile, OutboundText
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.slack import Conversation, Person, SlackEmulator

DM = Address("slack", "D1")
HELLO = OutboundText("hello")


@pytest.mark.parametrize(
    ("code", "leaf"),
    [
        ("channel_not_found", TargetGone),
        ("is_archived", TargetGone),
        ("thread_not_found", TargetGone),
        ("not_in_channel", TargetGone),
        ("restricted_action", TargetGone),
        ("msg_too_long", FormatRejected),
        ("invalid_blocks", FormatRejected),
        ("something_new", FormatRejected),
        ("internal_error", TemporaryFailure),
        ("service_unavailable", TemporaryFailure),
        ("ratelimited", RetryAfter),
        ("invalid_auth", ChannelFatal),
        ("token_revoked", ChannelFatal),
    ],
)
async def test_each_refusal_is_its_leaf(
    slack: SlackEmulator, channel: SlackChannel, dm: Conversation, code: str, leaf: type[ChannelError]
) -> None:
    slack.fail("chat.postMessage", code)
    with pytest.raises(leaf):
        await channel.send_text(DM, HELLO)


async def test_too_many_messages_tell_how_long_to_wait(
    slack: SlackEmulator, channel: SlackChannel, dm: Conversation
) -> None:
    slack.fail("chat.postMessage", retry_after=7)
    with pytest.raises(RetryAfter) as raised:
        await channel.send_text(DM, HELLO)
    assert raised.value.seconds == 7


async def test_a_server_error_and_a_cut_connection_are_temporary_and_not_retried_here(
    slack: SlackEmulator, channel: SlackChannel, dm: Conversation
) -> None:
    slack.fail("chat.postMessage", status=503)
    with pytest.raises(TemporaryFailure):
        await channel.send_text(DM, HELLO)
    slack.drop("chat.postMessage")
    with pytest.raises(TemporaryFailure):
        await channel.send_text(DM, HELLO)
    assert len(slack.called("chat.postMessage")) == 2


async def test_a_missing_scope_names_it(
    slack: SlackEmulator, channel: SlackChannel, dm: Conversation, tmp_path: Path
) -> None:
    slack.scopes.discard("files:write")
    (tmp_path / "a").write_text("x")
    with pytest.raises(ChannelFatal, match=r"files:write.*reinstall"):
        await channel.send_file(DM, OutboundFile(str(tmp_path / "a"), "a.txt"))


async def test_a_message_whose_answer_was_lost_is_not_sent_twice(
    slack: SlackEmulator, channel: SlackChannel, dm: Conversation
) -> None:
    message = OutboundText("once", dedup_key="turn-1:0")
    slack.drop("chat.postMessage", after=True)
    with pytest.raises(TemporaryFailure):
        await channel.send_text(DM, message)
    ref = await channel.send_text(DM, message)
    other = await channel.send_text(DM, OutboundText("once", dedup_key="turn-2:0"))
    assert [one.ts for one in dm.from_bot] == [ref.message_id, other.message_id]


@pytest.mark.parametrize("fault", ["cut off", "internal_error", "503"])
async def test_a_file_that_may_have_arrived_is_in_doubt(
    slack: SlackEmulator, channel: SlackChannel, dm: Conversation, tmp_path: Path, fault: str
) -> None:
    (tmp_path / "a").write_bytes(b"content")
    if fault == "cut off":
        slack.drop("files.completeUploadExternal", after=True)
    else:
        status = int(fault) if fault.isdigit() else 200
        slack.fail("files.completeUploadExternal", fault, status=status, after=True)
    with pytest.raises(OutcomeUnknown):
        await channel.send_file(DM, OutboundFile(str(tmp_path / "a"), "a.txt"))
    assert len(dm.from_bot) == 1


@pytest.mark.parametrize("step", ["files.getUploadURLExternal", "upload"])
@pytest.mark.parametrize("fault", ["cut off", "503"])
async def test_a_file_that_was_lost_before_its_last_step_was_not_sent(
    slack: SlackEmulator, channel: SlackChannel, dm: Conversation, tmp_path: Path, step: str, fault: str
) -> None:
    (tmp_path / "a").write_bytes(b"content" * 300_000)
    if fault == "cut off":
        slack.drop(step)
    else:
        slack.fail(step, "unavailable", status=503)
    with pytest.raises(TemporaryFailure):
        await channel.send_file(DM, OutboundFile(str(tmp_path / "a"), "a.txt"))
    assert dm.from_bot == []
    await channel.send_file(DM, OutboundFile(str(tmp_path / "a"), "a.txt"))
    assert [file.content for one in dm.from_bot for file in one.files] == [b"content" * 300_000]


async def test_a_server_that_is_not_there_has_done_nothing(
    slack: SlackEmulator, channel: SlackChannel
) -> None:
    await slack.stop()
    with pytest.raises(TemporaryFailure):
        await channel.send_text(DM, HELLO)  # over the connection that was still open
    with pytest.raises(TemporaryFailure) as raised:
        await channel.send_text(DM, HELLO)
    assert not isinstance(raised.value, OutcomeUnknown)


async def test_a_person_named_by_id_is_written_to_directly_and_opened_once(
    slack: SlackEmulator, channel: SlackChannel
) -> None:
    slack.user("U7", "Eve")
    first = await channel.send_text(Address("slack", "U7"), HELLO)
    await channel.send_text(Address("slack", "U7"), HELLO)
    await channel.edit_text(first, OutboundText("bye"))
    assert first.address == DM_OF_EVE
    assert len(slack.called("conversations.open")) == 1
    with pytest.raises(TargetGone):
        await channel.send_text(Address("slack", "U404"), HELLO)


DM_OF_EVE = Address("slack", "D7")


async def test_a_direct_chat_that_was_seen_needs_no_opening(
    slack: SlackEmulator, channel: SlackChannel, ada: Person
) -> None:
    await ada.open_home().acknowledged()
    await ada.command("status").reply()
    await channel.send_text(Address("slack", "U1"), HELLO)
    assert slack.called("conversations.open") == []


async def test_everything_stays_in_its_thread(
    slack: SlackEmulator, channel: SlackChannel, ada: Person, tmp_path: Path
) -> None:
    thread = ada.at(slack.channel()).thread(ada.at(slack.channel()).say("start"))
    address = Address("slack", "C1", thread.thread_ts)
    (tmp_path / "a").write_bytes(b"content")
    ref = await channel.send_text(address, HELLO)
    await channel.edit_text(ref, OutboundText("changed"))
    await channel.send_file(address, OutboundFile(str(tmp_path / "a"), "a.txt"))
    await channel.typing(address)
    text, file = thread.from_bot
    assert (text.words, file.files[0].content, ref.address) == ("changed", b"content", address)
    assert slack.world.statuses == [("C1", thread.thread_ts, "is thinking …")]


async def test_nothing_is_unfurled_or_linked_by_itself(
    slack: SlackEmulator, channel: SlackChannel, dm: Conversation
) -> None:
    await channel.send_text(DM, OutboundText("https://a.b and @here"))
    (call,) = slack.called("chat.postMessage")
    assert (call["unfurl_links"], call["unfurl_media"], call["link_names"]) == (False, False, False)
    assert call["parse"] == "none"


async def test_a_status_that_slack_does_not_know_is_asked_for_once(
    slack: SlackEmulator, channel: SlackChannel, ada: Person
) -> None:
    address = Address("slack", "C1", ada.at(slack.channel()).say("x").ts)
    slack.fail("assistant.threads.setStatus", "unknown_method", times=9)
    await channel.typing(address)
    await channel.typing(address)
    await channel.typing(DM)
    assert len(slack.called("assistant.threads.setStatus")) == 1


async def test_a_long_message_becomes_a_short_one_without_its_old_blocks(
    channel: SlackChannel, dm: Conversation
) -> None:
    ref = await channel.send_text(DM, OutboundText("word " * 2000, markdown=False))
    assert dm.from_bot[0].blocks
    await channel.edit_text(ref, OutboundText("short"))
    assert (dm.from_bot[0].words, dm.from_bot[0].blocks) == ("short", [])


async def test_our_own_words_name_commands_as_slack_takes_them_and_nobody_elses_are_changed(
    channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    ref = await channel.send_text(DM, OutboundText("Try `/help` again", is_own=True))
    await channel.send_text(DM, OutboundText("Try `/help` again"))
    assert [message.words for message in dm.from_bot] == ["Try `/echo help` again", "Try `/help` again"]
    await channel.edit_text(ref, OutboundText("/help lists them", is_own=True))
    assert dm.from_bot[0].words == "/echo help lists them"


async def test_a_literal_edit_is_literal(channel: SlackChannel, dm: Conversation) -> None:
    ref = await channel.send_text(DM, OutboundText("draft", markdown=False))
    await channel.edit_text(ref, OutboundText("*a* <!here>", markdown=False))
    (message,) = dm.from_bot
    assert (message.words, message.blocks[0]["type"], message.pings) == ("*a* <!here>", "rich_text", [])


async def test_a_message_that_is_gone_cannot_be_changed(
    slack: SlackEmulator, channel: SlackChannel, dm: Conversation
) -> None:
    ref = await channel.send_text(DM, HELLO)
    slack.messages.clear()
    with pytest.raises(TargetGone):
        await channel.edit_text(ref, HELLO)


@pytest.mark.parametrize("content", [b"", None])
async def test_a_file_that_cannot_be_sent_says_why(
    channel: SlackChannel, dm: Conversation, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "a"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FormatRejected, match="the file"):
        await channel.send_file(DM, OutboundFile(str(path), "a.txt"))


async def test_nothing_is_sent_before_the_start(settings: object) -> None:
    stopped = SlackChannel(settings)  # type: ignore[arg-type]
    with pytest.raises(TemporaryFailure):
        await stopped.send_text(DM, HELLO)
    await stopped.pending_changed()
