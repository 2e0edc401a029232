"""What the bot sends: formatted or plain as it must be, and Telegram's refusals as the port's errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from channels.telegram.adapter import TelegramChannel
from channels.telegram.files import MAX_UPLOAD_BYTES
from echo_bot.errors import (
    ChannelError,
    FormatRejected,
    OutcomeUnknown,
    RetryAfter,
    TargetGone,
    TemporaryFailure,
)
from echo_bot.events import (
    Address,
    Button,
    Card,
    CardState,
    CodeBlock,
    MessageRef,
    OutboundFile,
    OutboundText,
    Paragraph,
)
from echo_bot.testing.telegram import Conversation, TelegramEmulator

HERE = Address("telegram", "42")
CARD = Card("c1", "exec", (CodeBlock("ls -la", "bash"),), (Button("Approve once", "t1"),))


async def test_markdown_arrives_as_entities(channel: TelegramChannel, chat: Conversation) -> None:
    await channel.send_text(HERE, OutboundText("**bold** and `code`\n\n```python\nprint(1)\n```"))
    message = chat.from_bot[-1]
    assert message.text.startswith("bold and code")
    assert (message.marked("bold"), message.marked("code"), message.marked("pre")) == (
        ["bold"],
        ["code"],
        ["print(1)"],
    )


async def test_formatting_that_telegram_refuses_goes_again_as_plain_text(
    telegram: TelegramEmulator, channel: TelegramChannel, chat: Conversation
) -> None:
    telegram.fail("sendMessage", 400, "Bad Request: can't parse entities: entity at 0+4 is out of 3")
    await channel.send_text(HERE, OutboundText("**bold**"))
    assert [(message.text, message.entities) for message in chat.from_bot] == [("**bold**", [])]


async def test_an_edit_falls_back_to_plain_text_too(
    telegram: TelegramEmulator, channel: TelegramChannel, chat: Conversation
) -> None:
    ref = await channel.send_text(HERE, OutboundText("draft", is_draft=True))
    telegram.fail("editMessageText", 400, "Bad Request: can't parse entities: unsupported")
    await channel.edit_text(ref, OutboundText("**bold**"))
    assert chat.from_bot[-1].text == "**bold**"


@pytest.mark.parametrize("markdown", [True, False])
async def test_a_name_in_a_text_pings_nobody(
    channel: TelegramChannel, chat: Conversation, markdown: bool
) -> None:
    await channel.send_text(HERE, OutboundText("ask @bob_b, not a@example.org", markdown=markdown))
    assert chat.from_bot[-1].marked("mention") == []
    assert chat.from_bot[-1].marked("code") == ["@bob_b"]


async def test_text_that_formatting_makes_too_long_goes_plain(
    channel: TelegramChannel, chat: Conversation
) -> None:
    table = "|a|b|\n|-|-|\n" + "|x|y|\n" * 600 + "|" + "z" * 400 + "|y|\n"
    await channel.send_text(HERE, OutboundText(table[:4096]))
    assert chat.from_bot[-1].text == table[:4096]


async def test_exactly_4096_utf16_units_pass(channel: TelegramChannel, chat: Conversation) -> None:
    await channel.send_text(HERE, OutboundText("🙂" * 2048))
    assert chat.from_bot[-1].text == "🙂" * 2048
    with pytest.raises(FormatRejected):
        await channel.send_text(HERE, OutboundText("🙂" * 2049))


async def test_no_link_preview_is_ever_made(telegram: TelegramEmulator, channel: TelegramChannel) -> None:
    telegram.user(42).chat()
    await channel.send_text(HERE, OutboundText("see https://example.org/?secret=1"))
    assert telegram.called("sendMessage")[-1].mapping("link_preview_options") == {"is_disabled": True}


async def test_a_reply_names_its_message_and_survives_its_deletion(
    channel: TelegramChannel, chat: Conversation
) -> None:
    asked = chat.say("question")
    await channel.send_text(HERE, OutboundText("answer", reply_to_id=str(asked.message_id)))
    await channel.send_text(HERE, OutboundText("later", reply_to_id="999999"))
    assert [message.reply_to for message in chat.from_bot] == [asked, None]


async def test_threads_are_kept_and_general_is_omitted(
    telegram: TelegramEmulator, channel: TelegramChannel, tmp_path: Path
) -> None:
    forum = telegram.group(-1002, "Forum", forum=True)
    topic = telegram.user(42).chat(forum, thread_id=77)
    path = tmp_path / "f"
    path.write_bytes(b"x")
    there = Address("telegram", "-1002", "77")
    await channel.send_text(there, OutboundText("text"))
    await channel.send_card(there, CARD)
    await channel.send_file(there, OutboundFile(str(path), "f.txt"))
    await channel.typing(there)
    assert len(topic.from_bot) == 3
    assert telegram.world.typed == [(-1002, 77, "typing")]
    await channel.send_text(Address("telegram", "-1002", "1"), OutboundText("general"))
    assert "message_thread_id" not in telegram.called("sendMessage")[-1].values


async def test_a_card_is_literal_and_its_code_is_code(channel: TelegramChannel, chat: Conversation) -> None:
    evil = "echo `x` **y** <b>z</b> [a](javascript:1) @someone\n```\nfence"
    await channel.send_card(HERE, Card("c", "exec 🙂", (Paragraph("**not bold**"), CodeBlock(evil, "bash"))))
    message = chat.from_bot[-1]
    assert message.marked("pre") == [evil]
    assert message.marked("bold") == ["exec 🙂"]
    assert "**not bold**" in message.text
    assert message.labels == []


async def test_a_closed_card_loses_its_buttons_and_closing_it_again_is_no_error(
    channel: TelegramChannel, chat: Conversation
) -> None:
    ref = await channel.send_card(HERE, CARD)
    closed = Card("c1", "Approved once by Ada", (), state=CardState.APPROVED)
    await channel.edit_card(ref, closed)
    await channel.edit_card(ref, closed)
    message = chat.from_bot[-1]
    assert (message.text, message.labels, message.edits) == ("Approved once by Ada", [], 1)


async def test_a_group_that_became_a_supergroup_is_found_under_its_new_id(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    old = telegram.group(-5, "Team")
    telegram.upgrade(old, -1005)
    ref = await channel.send_text(Address("telegram", "-5"), OutboundText("hello"))
    assert ref.address == Address("telegram", "-1005")
    with pytest.raises(TargetGone):
        await channel.edit_text(MessageRef(Address("telegram", "-5"), "1"), OutboundText("x"))


@pytest.mark.parametrize(
    ("status", "description", "retry_after", "expected"),
    [
        pytest.param(429, "", 3, RetryAfter, id="too many requests says how long to wait"),
        pytest.param(500, "Internal Server Error", 0, OutcomeUnknown, id="a server error leaves it open"),
        pytest.param(502, "Bad Gateway", 0, OutcomeUnknown, id="so does a bad gateway"),
        pytest.param(413, "Request Entity Too Large", 0, TemporaryFailure, id="another refusal does not"),
        pytest.param(409, "Conflict: x", 0, TemporaryFailure, id="a conflict passes"),
        pytest.param(403, "Forbidden: bot was kicked", 0, TargetGone, id="forbidden does not pass"),
        pytest.param(400, "Bad Request: chat not found", 0, TargetGone, id="an unknown chat is gone"),
        pytest.param(400, "Bad Request: TOPIC_CLOSED", 0, TargetGone, id="a closed topic is gone"),
        pytest.param(
            400,
            "Bad Request: need administrator rights in the channel chat",
            0,
            TargetGone,
            id="a channel in which the bot may not post",
        ),
        pytest.param(400, "Bad Request: CHAT_RESTRICTED", 0, TargetGone, id="a restricted chat"),
        pytest.param(400, "Bad Request: message is too long", 0, FormatRejected, id="a refused content"),
    ],
)
async def test_what_telegram_refuses_is_an_error_of_the_port(
    telegram: TelegramEmulator,
    channel: TelegramChannel,
    chat: Conversation,
    status: int,
    description: str,
    retry_after: int,
    expected: type[ChannelError],
) -> None:
    telegram.fail("sendMessage", status, description, retry_after=retry_after)
    with pytest.raises(expected) as caught:
        await channel.send_text(HERE, OutboundText("hello"))
    assert not isinstance(caught.value, RetryAfter) or caught.value.seconds == 3
    assert caught.value.__cause__ is None
    await channel.send_text(HERE, OutboundText("works again"))


async def test_after_a_dropped_connection_nobody_knows_whether_it_arrived(
    telegram: TelegramEmulator, channel: TelegramChannel, chat: Conversation
) -> None:
    telegram.drop("sendMessage", after=True)
    with pytest.raises(OutcomeUnknown):
        await channel.send_text(HERE, OutboundText("hello"))
    assert [message.text for message in chat.from_bot] == ["hello"]


async def test_nobody_knows_it_either_where_a_gateway_waited_too_long(
    telegram: TelegramEmulator, channel: TelegramChannel, chat: Conversation
) -> None:
    telegram.fail("sendMessage", 504, "Gateway Timeout", after=True)
    with pytest.raises(OutcomeUnknown):
        await channel.send_text(HERE, OutboundText("hello"))
    assert [message.text for message in chat.from_bot] == ["hello"]


async def test_of_a_gateway_s_page_only_the_status_is_told(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    telegram.fail_with_page("sendMessage", "<html>Bad gateway</html>" * 1000)
    with pytest.raises(TemporaryFailure) as raised:
        await channel.send_text(HERE, OutboundText("hello"))
    assert str(raised.value) == "Telegram's answer was lost: Bad Gateway (502)"


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_what_a_proxy_refuses_passes_and_says_nothing_of_chat_text_or_token(
    telegram: TelegramEmulator, channel: TelegramChannel, chat: Conversation, status: int
) -> None:
    telegram.fail_with_page("sendMessage", "<html>Not here</html>", status=status)
    with pytest.raises(TemporaryFailure) as raised:
        await channel.send_text(HERE, OutboundText("**hello**"))
    assert str(raised.value).startswith("Telegram could not be asked: ")
    assert not isinstance(raised.value, OutcomeUnknown)
    assert not chat.from_bot


@pytest.mark.parametrize(
    "answer", [pytest.param('{"ok":true,"result":{"mess', id="cut off"), pytest.param("<html>", id="a page")]
)
async def test_a_success_that_cannot_be_read_leaves_it_open(
    telegram: TelegramEmulator, channel: TelegramChannel, chat: Conversation, answer: str
) -> None:
    telegram.fail_with_page("sendMessage", answer, status=200, after=True)
    with pytest.raises(OutcomeUnknown):
        await channel.send_text(HERE, OutboundText("hello"))
    assert [message.text for message in chat.from_bot] == ["hello"]


async def test_what_could_not_be_asked_did_not_arrive(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    await telegram.stop()
    with pytest.raises(TemporaryFailure) as raised:
        await channel.send_text(HERE, OutboundText("hello"))
    assert not isinstance(raised.value, OutcomeUnknown)


async def test_a_user_who_blocked_the_bot_and_a_stranger_are_gone(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    telegram.user(42).block_bot()
    for chat_id in ("42", "4711", "@name"):
        with pytest.raises(TargetGone):
            await channel.send_text(Address("telegram", chat_id), OutboundText("hello"))


@pytest.mark.parametrize("message_id", ["999", "not a number"])
async def test_editing_a_message_that_is_gone_says_so(
    channel: TelegramChannel, chat: Conversation, message_id: str
) -> None:
    with pytest.raises(TargetGone):
        await channel.edit_text(MessageRef(HERE, message_id), OutboundText("hello"))


async def test_a_document_arrives_byte_for_byte(
    telegram: TelegramEmulator, channel: TelegramChannel, chat: Conversation, tmp_path: Path
) -> None:
    content = bytes(range(256)) * 400 + b"\r\n--boundary\r\n"
    path = tmp_path / "anything"
    path.write_bytes(content)
    await channel.send_file(HERE, OutboundFile(str(path), "sprachnotiz ü.bin"))
    document = chat.from_bot[-1].media["document"]
    assert isinstance(document, dict)
    assert telegram.world.files[str(document["file_id"])].content == content
    assert document["file_name"] == "sprachnotiz ü.bin"


@pytest.mark.parametrize("trouble", ["missing", "empty", "too big"])
async def test_a_file_telegram_cannot_take_is_refused_with_the_reason(
    channel: TelegramChannel, chat: Conversation, tmp_path: Path, trouble: str
) -> None:
    path = tmp_path / "f"
    if trouble != "missing":
        with path.open("wb") as file:
            file.truncate(MAX_UPLOAD_BYTES + 1 if trouble == "too big" else 0)
    with pytest.raises(FormatRejected, match=r"cannot be read|empty|larger than 50 MB"):
        await channel.send_file(HERE, OutboundFile(str(path), "f"))


Send = Callable[[TelegramChannel], Awaitable[object]]


@pytest.mark.parametrize(
    "send",
    [
        pytest.param(lambda channel: channel.send_text(HERE, OutboundText("x")), id="text"),
        pytest.param(lambda channel: channel.send_card(HERE, CARD), id="card"),
        pytest.param(lambda channel: channel.typing(HERE), id="typing"),
        pytest.param(lambda channel: channel.edit_card(MessageRef(HERE, "1"), CARD), id="edit"),
    ],
)
async def test_nothing_is_sent_before_the_start(channel: TelegramChannel, send: Send) -> None:
    await channel.stop()
    with pytest.raises(TemporaryFailure, match="not started"):
        await send(channel)
