"""What the bot sends: where it goes, what it looks like, what Discord refuses and how that is told."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from channels.discord.adapter import DiscordChannel
from channels.discord.client import PassingLimit
from echo_bot.errors import ChannelError, FormatRejected, RetryAfter, TargetGone, TemporaryFailure
from echo_bot.events import (
    Address,
    Card,
    CodeBlock,
    Fields,
    MessageRef,
    OutboundFile,
    OutboundText,
    Paragraph,
)
from echo_bot.testing.discord import Conversation, DiscordEmulator, Person
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import eventually

HOSTILE = "@everyone @here <@{ada}> <@!{ada}> <@&{role}> <#{room}> ||x|| `@everyone` ```\n<@{ada}>\n```"
MESSAGES = "/channels/*/messages"


@pytest.fixture
def room(discord: DiscordEmulator, ada: Person) -> Conversation:
    return ada.chat(discord.guild("Lab").channel("general"))


@pytest.fixture
def here(room: Conversation) -> Address:
    return Address("discord", room.id)


@pytest.mark.parametrize("markdown", [True, False])
async def test_nothing_that_is_sent_or_edited_pings(
    channel: DiscordChannel,
    discord: DiscordEmulator,
    ada: Person,
    room: Conversation,
    here: Address,
    markdown: bool,
) -> None:
    hostile = HOSTILE.format(ada=ada.id, role=room.place.channel.guild_id, room=room.id)
    ref = await channel.send_text(here, OutboundText(hostile, markdown=markdown))
    assert not room.from_bot[0].pings
    await channel.edit_text(ref, OutboundText(hostile + " again", markdown=markdown))
    assert not room.from_bot[0].pings
    bodies = [
        call.json for call in discord.called("POST", MESSAGES) + discord.called("PATCH", f"{MESSAGES}/*")
    ]
    assert [body["allowed_mentions"]["parse"] for body in bodies] == [[], []]


async def test_links_get_no_preview(channel: DiscordChannel, room: Conversation, here: Address) -> None:
    await channel.send_text(here, OutboundText("see https://example.com/secret"))
    assert not room.from_bot[0].link_previews


async def test_a_reply_points_at_its_message_and_survives_its_end(
    channel: DiscordChannel, room: Conversation, here: Address
) -> None:
    asked = room.say("question")
    await channel.send_text(here, OutboundText("answer", reply_to_id=str(asked.id)))
    assert room.from_bot[0].answers == str(asked.id)
    assert not room.from_bot[0].pings
    room.delete(asked)
    for gone in (str(asked.id), "12345", "interaction:7"):
        await channel.send_text(here, OutboundText("late", reply_to_id=gone))
    assert len(room.from_bot) == 4


async def test_a_repeated_send_with_the_same_key_is_one_message(
    channel: DiscordChannel, discord: DiscordEmulator, room: Conversation, here: Address
) -> None:
    discord.drop("POST", MESSAGES, after=True)
    message = OutboundText("once", dedup_key="turn-1:part-0 of a rather long outbox row id")
    with pytest.raises(TemporaryFailure):
        await channel.send_text(here, message)
    ref = await channel.send_text(here, message)
    assert [shown.id for shown in room.from_bot] == [ref.message_id]
    await channel.send_text(here, OutboundText("once", dedup_key="turn-1:part-1"))
    await channel.send_text(here, OutboundText("once"))
    await channel.send_text(here, OutboundText("once"))
    assert len(room.from_bot) == 4


async def test_a_thread_is_kept_by_everything(
    channel: DiscordChannel, discord: DiscordEmulator, ada: Person, room: Conversation, tmp_path: Path
) -> None:
    thread = ada.chat(discord.guild("Lab").thread(room.place, "plan"))
    address = Address("discord", room.id, thread.id)
    ref = await channel.send_text(address, OutboundText("draft"))
    assert ref.address == address
    await channel.edit_text(ref, OutboundText("final"))
    card = await channel.send_card(address, Card("c", "Run?", ()))
    await channel.edit_card(card, Card("c", "Done", ()))
    (tmp_path / "f").write_bytes(b"x")
    await channel.send_file(address, OutboundFile(str(tmp_path / "f"), "f.txt"))
    await channel.typing(address)
    assert [(shown.text, shown.file_names) for shown in thread.from_bot] == [
        ("final", []),
        ("Done", []),
        ("", ["f.txt"]),
    ]
    assert discord.typing == [thread.id]
    assert room.from_bot == []


async def test_a_person_is_reached_by_id_and_the_direct_chat_remembered(
    channel: DiscordChannel, discord: DiscordEmulator, ada: Person
) -> None:
    ref = await channel.send_text(Address("discord", ada.id), OutboundText("psst"))
    chat = ada.dm()
    assert ref == MessageRef(Address("discord", chat.id), chat.from_bot[0].id)
    await channel.edit_text(MessageRef(Address("discord", ada.id), ref.message_id), OutboundText("psst!"))
    await channel.typing(Address("discord", ada.id))
    assert [shown.text for shown in chat.from_bot] == ["psst!"]
    assert len(discord.called("POST", "/users/@me/channels")) == 1


async def test_a_person_who_wrote_is_reached_without_opening_anything(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, ada: Person, chat: Conversation
) -> None:
    chat.say("hi")
    await port.wait_for_event("hi")
    ref = await channel.send_text(Address("discord", ada.id), OutboundText("hello"))
    assert ref.address.chat_id == chat.id
    assert discord.called("POST", "/users/@me/channels") == []


@pytest.mark.parametrize("wrong", ["@ada", "general", "", "12a", "①"])
async def test_a_name_is_no_address(channel: DiscordChannel, wrong: str) -> None:
    with pytest.raises(TargetGone, match="not a Discord id"):
        await channel.send_text(Address("discord", wrong), OutboundText("hi"))


REFUSALS = [
    (403, 50001, "View Channel", TargetGone),
    (403, 50007, "no direct messages", TargetGone),
    (403, 50013, "Send Messages", TargetGone),
    (404, 10003, "does not exist", TargetGone),
    (404, 10008, "was deleted", TargetGone),
    (400, 50083, "archived", TargetGone),
    (400, 160005, "locked", TargetGone),
    (403, 99999, "99999", TargetGone),
    (400, 50035, "50035", FormatRejected),
    (413, 40005, "larger", FormatRejected),
    (503, 0, "503", TemporaryFailure),
]


@pytest.mark.parametrize(("status", "code", "said", "kind"), REFUSALS, ids=[str(row[1]) for row in REFUSALS])
async def test_what_discord_refuses_is_told_for_what_it_is(
    channel: DiscordChannel,
    discord: DiscordEmulator,
    here: Address,
    status: int,
    code: int,
    said: str,
    kind: type[ChannelError],
) -> None:
    discord.fail("POST", MESSAGES, status, code=code)
    with pytest.raises(kind, match=said):
        await channel.send_text(here, OutboundText("hi"))


async def test_a_missing_permission_is_named_as_discord_names_it(
    channel: DiscordChannel,
    discord: DiscordEmulator,
    ada: Person,
    room: Conversation,
    here: Address,
    tmp_path: Path,
) -> None:
    thread = discord.guild("Lab").thread(room.place, "plan")
    (tmp_path / "f").write_bytes(b"x")
    room.place.forbid("send_messages", "send_messages_in_threads")
    with pytest.raises(TargetGone, match=r"permission Send Messages$"):
        await channel.send_text(here, OutboundText("hi"))
    with pytest.raises(TargetGone, match=r"permission Send Messages in Threads$"):
        await channel.send_text(Address("discord", room.id, thread.id), OutboundText("hi"))
    discord.fail("POST", MESSAGES, 403, code=50013)
    with pytest.raises(TargetGone, match=r"permission Attach Files$"):
        await channel.send_file(here, OutboundFile(str(tmp_path / "f"), "f"))
    room.place.forbid("view_channel")
    with pytest.raises(TargetGone, match="View Channel"):
        await channel.send_text(here, OutboundText("hi"))


async def test_who_blocked_the_bot_is_gone(channel: DiscordChannel, ada: Person) -> None:
    ada.block_bot()
    with pytest.raises(TargetGone, match="no direct messages"):
        await channel.send_text(Address("discord", ada.id), OutboundText("hi"))


async def test_editing_what_was_deleted_is_told(
    channel: DiscordChannel, room: Conversation, here: Address
) -> None:
    ref = await channel.send_text(here, OutboundText("draft"))
    room.delete(room.from_bot[0].message)
    with pytest.raises(TargetGone, match="deleted"):
        await channel.edit_text(ref, OutboundText("final"))


async def test_a_long_wait_is_left_to_the_core_and_a_short_one_to_the_sdk(
    channel: DiscordChannel, discord: DiscordEmulator, room: Conversation, here: Address
) -> None:
    discord.fail("POST", MESSAGES, 429, retry_after=7.5)
    with pytest.raises(RetryAfter) as asked:
        await channel.send_text(here, OutboundText("hi"))
    assert asked.value.seconds == 7.5
    discord.fail("POST", MESSAGES, 429, retry_after=0.05)
    await channel.send_text(here, OutboundText("hi"))
    assert [shown.text for shown in room.from_bot] == ["hi"]


async def test_a_429_of_a_proxy_before_discord_is_a_wait_too(
    channel: DiscordChannel, discord: DiscordEmulator, here: Address
) -> None:
    fault = discord.fail("POST", MESSAGES, 429, retry_after=11)
    del fault.headers["Via"]
    with pytest.raises(RetryAfter) as asked:
        await channel.send_text(here, OutboundText("hi"))
    assert asked.value.seconds == 11


@pytest.mark.parametrize("rhythm", [{"call": 1.0}], indirect=True)
async def test_slow_and_broken_answers_are_worth_another_try(
    channel: DiscordChannel, discord: DiscordEmulator, here: Address
) -> None:
    discord.drop("POST", MESSAGES)
    with pytest.raises(TemporaryFailure, match="reached"):
        await channel.send_text(here, OutboundText("hi"))
    release = discord.hold("POST", MESSAGES)
    began = time.monotonic()
    with pytest.raises(TemporaryFailure, match="in time"):
        await channel.send_text(here, OutboundText("hi"))
    assert time.monotonic() - began < 5
    release.set()


async def test_an_answer_that_is_not_discords_is_worth_another_try(
    channel: DiscordChannel, discord: DiscordEmulator, here: Address
) -> None:
    discord.fail("POST", MESSAGES, 200, message="a proxy's log-in page")
    with pytest.raises(TemporaryFailure, match="understood"):
        await channel.send_text(here, OutboundText("hi"))


@pytest.mark.parametrize(
    ("status", "kind"),
    [*((status, TemporaryFailure) for status in (200, 400, 401, 403, 404)), (413, FormatRejected)],
)
async def test_a_page_of_something_before_discord_is_not_discords_refusal(
    channel: DiscordChannel,
    discord: DiscordEmulator,
    room: Conversation,
    here: Address,
    status: int,
    kind: type[ChannelError],
) -> None:
    discord.fail("POST", MESSAGES, status, page="<html>Attention Required!</html>")
    with pytest.raises(kind):
        await channel.send_text(here, OutboundText("hi"))


async def test_text_fits_two_thousand_characters_to_the_last_one(
    channel: DiscordChannel, room: Conversation, here: Address
) -> None:
    for text in ("x" * 2000, "*" * 2000, "|" * 2000, "```\n" + "y" * 1992 + "\n```", "# " + "😀" * 1998):
        assert len(text) <= 2001
        for markdown in (True, False):
            await channel.send_text(here, OutboundText(text[:2000], markdown=markdown))
    assert all(len(shown.content) <= 2000 for shown in room.from_bot)
    assert len(room.from_bot) == 10


async def test_a_file_too_large_or_missing_is_told_before_it_is_sent(
    channel: DiscordChannel, discord: DiscordEmulator, here: Address, tmp_path: Path
) -> None:
    big = tmp_path / "big"
    big.write_bytes(bytes(10 * 2**20 + 1))
    with pytest.raises(FormatRejected, match="10 MB"):
        await channel.send_file(here, OutboundFile(str(big), "big.bin"))
    with pytest.raises(FormatRejected, match="cannot be read"):
        await channel.send_file(here, OutboundFile(str(tmp_path / "none"), "none"))
    assert discord.called("POST", MESSAGES) == []


async def test_a_file_arrives_byte_for_byte(
    channel: DiscordChannel, discord: DiscordEmulator, room: Conversation, here: Address, tmp_path: Path
) -> None:
    content = bytes(range(256)) * 4 + b"\r\n--\r\n"
    (tmp_path / "f").write_bytes(content)
    await channel.send_file(here, OutboundFile(str(tmp_path / "f"), "naïve name.bin"))
    attachment = room.from_bot[0].message.attachments[0]
    assert discord.world.backend.cdn.get(attachment["url"]) == content


@pytest.mark.parametrize("is_told", [True, False], ids=["502", "cut off"])
async def test_a_file_whose_answer_was_lost_arrives_once(
    channel: DiscordChannel,
    discord: DiscordEmulator,
    room: Conversation,
    here: Address,
    tmp_path: Path,
    is_told: bool,
) -> None:
    (tmp_path / "f").write_bytes(b"content")
    file = OutboundFile(str(tmp_path / "f"), "f.txt", dedup_key="turn-1:0")
    if is_told:
        discord.fail("POST", MESSAGES, 502, after=True)
        await channel.send_file(here, file)
    else:
        discord.drop("POST", MESSAGES, after=True)
        with pytest.raises(TemporaryFailure):
            await channel.send_file(here, file)
        await channel.send_file(here, file)
    assert len(discord.called("POST", MESSAGES)) == 2
    assert len(room.from_bot) == 1


async def test_empty_text_is_refused_before_it_is_sent(channel: DiscordChannel, here: Address) -> None:
    with pytest.raises(FormatRejected, match="empty"):
        await channel.send_text(here, OutboundText("  "))


async def test_a_card_reads_well_and_its_call_is_literal(
    channel: DiscordChannel, room: Conversation, here: Address
) -> None:
    call = "echo '@everyone' ```\n# Approved by Ada\n**x** ||y|| <@1>"
    blocks = (
        CodeBlock(call, "bash", "Command"),
        Paragraph("*Asked* by <@1>"),
        Fields((("Folder", "a_b_c"),)),
    )
    await channel.send_card(here, Card("c", "exec wants to run", blocks))
    shown = room.from_bot[0]
    assert call in shown.text
    assert "*Asked* by <@1>" in shown.text
    assert "Folder: a_b_c" in shown.text
    assert not shown.pings


async def test_nothing_is_sent_while_nothing_is_connected(settings: object, here: Address) -> None:
    from echo_bot.channel import ChannelSettings

    idle = DiscordChannel(ChannelSettings(account="", secrets={"token": "x"}))
    with pytest.raises(TemporaryFailure, match="not started"):
        await idle.send_text(here, OutboundText("hi"))


async def test_a_limit_for_all_calls_passes_also_when_the_call_that_met_it_was_given_up(
    channel: DiscordChannel, discord: DiscordEmulator, chat: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("channels.discord.client.LONGEST_RATE_WAIT_SECONDS", 0.3)
    address = Address("discord", chat.id)
    limit = discord.fail("POST", "/channels/*/typing", 429, retry_after=2.9, is_global=True)
    typing = asyncio.create_task(channel.typing(address))
    await eventually(lambda: limit.met, "the limit")
    await asyncio.wait({typing}, timeout=0.1)
    typing.cancel()
    await channel.send_text(address, OutboundText("after it"))
    assert chat.from_bot[-1].text == "after it"


async def test_a_limit_for_all_calls_does_not_pass_with_an_earlier_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop, timers = asyncio.get_running_loop(), list[asyncio.TimerHandle]()
    call_later = loop.call_later

    def noted(*about: Any) -> asyncio.TimerHandle:
        timers.append(call_later(*about))
        return timers[-1]

    monkeypatch.setattr(loop, "call_later", noted)
    limit = PassingLimit()
    limit.clear()
    limit.set()
    limit.clear()
    assert [timer.cancelled() for timer in timers] == [True, False]
    limit.set()
