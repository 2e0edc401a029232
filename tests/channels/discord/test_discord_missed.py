"""What was said while nobody listened and no session could be resumed: read from the history, once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from channels.discord.adapter import DiscordChannel
from channels.discord.connection import Rhythm
from echo_bot.channel import ChannelSettings, ChannelState, TranscriptEntry
from echo_bot.errors import StorageError
from echo_bot.events import Address, InboundEvent
from echo_bot.testing.discord import Conversation, DiscordEmulator, Person
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import eventually

HISTORY = "/channels/*/messages"


async def lose_session(channel: DiscordChannel, discord: DiscordEmulator) -> None:
    """The line breaks, and Discord no longer knows the session; Discord is not reachable for now."""
    discord.forget_sessions()
    discord.fail("GET", "/users/@me", 503, times=1)
    discord.cut()
    await eventually(lambda: channel.health().state is not ChannelState.CONNECTED, "a broken line")


async def test_what_was_missed_comes_before_what_comes_next_in_every_kind_of_place(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, ada: Person
) -> None:
    guild = discord.guild()
    parent = guild.channel("general")
    rooms = [ada.chat(parent), ada.chat(guild.thread(parent, "plan")), ada.dm()]
    for room in rooms:
        room.say("before")
    await eventually(lambda: len(port.stored) == 3, "the first messages")
    await lose_session(channel, discord)
    for room in rooms:
        room.say("missed one")
        room.say("missed two")
    await eventually(lambda: channel.health().state is ChannelState.CONNECTED, "a new session")
    for room in rooms:
        room.say("next")
    await eventually(lambda: len(port.stored) == 12, "everything")
    for room in rooms:
        here = [event for event in port.stored if (event.thread_id or event.chat_id) == room.id]
        assert [event.text for event in here] == ["before", "missed one", "missed two", "next"]
        assert len({(event.chat_id, event.thread_id, event.is_group) for event in here}) == 1


async def test_only_places_where_the_bot_is_talked_to_are_read(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, ada: Person, chat: Conversation
) -> None:
    guild = discord.guild()
    stranger = discord.user("Mallory")
    port.strangers.add(stranger.id)
    elsewhere = stranger.chat(guild.channel("elsewhere"))
    chat.say("before")
    elsewhere.say("not for the bot")
    await port.wait_for_event("before")
    await eventually(lambda: len(port.seen) == 2, "both")
    await lose_session(channel, discord)
    chat.say("missed")
    await port.wait_for_event("missed")
    paths = {call.path for call in discord.called("GET", HISTORY)}
    assert paths == {f"/channels/{chat.id}/messages"}


async def test_a_history_that_cannot_be_read_stops_no_other(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, ada: Person, chat: Conversation
) -> None:
    room = ada.chat(discord.guild().channel("general"))
    room.say("one")
    chat.say("two")
    await eventually(lambda: len(port.stored) == 2, "both")
    await lose_session(channel, discord)
    discord.fail("GET", f"/channels/{room.id}/messages", 403, code=50001)
    chat.say("missed")
    await port.wait_for_event("missed")


async def test_the_newest_hundred_are_read_and_nothing_older_than_a_day(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, chat: Conversation
) -> None:
    chat.say("before")
    await port.wait_for_event("before")
    await lose_session(channel, discord)
    discord.skew(-25 * 3600)
    chat.say("too old")
    discord.skew(25 * 3600)
    for number in range(120):
        chat.say(f"missed {number}")
    await port.wait_for_event("missed 119", timeout=10)
    missed = [event.text for event in port.stored if event.text.startswith("missed")]
    assert missed == [f"missed {number}" for number in range(20, 120)]
    assert "too old" not in [event.text for event in port.stored]


async def test_a_resumed_session_reads_no_history(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, chat: Conversation
) -> None:
    chat.say("before")
    await port.wait_for_event("before")
    before = len(discord.called("GET", HISTORY))
    discord.close(4000)
    await eventually(lambda: discord.resumes, "another try")
    chat.say("meanwhile")
    await port.wait_for_event("meanwhile")
    assert len(discord.called("GET", HISTORY)) == before


@pytest.mark.parametrize("kind", ["a channel", "a thread", "a direct chat"])
async def test_after_a_restart_the_transcript_tells_where_to_go_on(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, ada: Person, kind: str
) -> None:
    guild = discord.guild()
    parent = guild.channel("general")
    rooms = {
        "a channel": lambda: ada.chat(parent),
        "a thread": lambda: ada.chat(guild.thread(parent, "plan")),
        "a direct chat": ada.dm,
    }
    room = rooms[kind]()
    seen = room.say("before")
    before = await port.wait_for_event("before")
    await channel.stop()
    room.say("while it was off")
    now = datetime.now(UTC)
    restarted = FakePort()
    restarted.places = (Address("discord", "not an id"), Address("discord", "1"), before.address)
    restarted.entries = (
        TranscriptEntry(str(seen.id), "user", "before", now),
        TranscriptEntry("interaction:1", "user", "/status", now),
        TranscriptEntry("99999999999999999999", "bot", "an answer", now),
    )
    await channel.start(restarted)
    missed = await restarted.wait_for_event("while it was off")
    assert [event.text for event in restarted.stored] == ["while it was off"]
    assert (missed.address, missed.is_group) == (before.address, kind != "a direct chat")


async def test_after_a_restart_no_history_is_read_where_nothing_was_said(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, ada: Person, chat: Conversation
) -> None:
    quiet = ada.chat(discord.guild().channel("general"))
    quiet.say("before")
    before = await port.wait_for_event("before")
    seen = chat.say("hello")
    hello = await port.wait_for_event("hello")
    await channel.stop()
    chat.say("while it was off")
    restarted = FakePort()
    restarted.places = (before.address, hello.address)
    restarted.entries = (TranscriptEntry(str(seen.id), "user", "hello", datetime.now(UTC)),)
    await channel.start(restarted)
    await restarted.wait_for_event("while it was off")
    assert [call.path for call in discord.called("GET", HISTORY)] == [f"/channels/{chat.id}/messages"]


@pytest.mark.parametrize("days", [-300, 300], ids=["behind", "ahead"])
async def test_what_is_told_at_once_is_new_however_far_the_clocks_are_apart(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, chat: Conversation, days: int
) -> None:
    discord.skew(days * 86_400)
    message = chat.say("now")
    chat.edit(message, "and now")
    await eventually(lambda: discord.registered_commands, "commands")
    await chat.slash("status").answer()
    await port.wait_for_event("and now")
    for event in (*port.stored, *port.commanded):
        assert abs((datetime.now(UTC) - event.timestamp).total_seconds()) < 60


@pytest.mark.parametrize(("clock", "old"), [(0, True), (-300 * 86_400, False)], ids=["same", "behind"])
async def test_what_is_told_again_after_a_break_is_dated_by_what_is_known_of_the_clocks(
    channel: DiscordChannel,
    port: FakePort,
    discord: DiscordEmulator,
    chat: Conversation,
    clock: int,
    old: bool,
) -> None:
    discord.skew(clock)
    chat.say("now")
    await port.wait_for_event("now")
    discord.cut()
    discord.skew(-7200 if old else 0)
    chat.say("meanwhile")
    event = await port.wait_for_event("meanwhile")
    assert ((datetime.now(UTC) - event.timestamp).total_seconds() > 7000) is old
    assert discord.resumes


async def test_one_message_that_came_late_makes_nothing_new_that_is_told_again(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, chat: Conversation
) -> None:
    chat.say("now")
    await port.wait_for_event("now")
    discord.skew(-7200)
    chat.say("on its way while this machine slept")
    await port.wait_for_event("on its way while this machine slept")
    discord.cut()
    chat.say("meanwhile")
    event = await port.wait_for_event("meanwhile")
    assert (datetime.now(UTC) - event.timestamp).total_seconds() > 7000
    assert discord.resumes


async def test_what_was_said_meanwhile_in_other_channels_of_the_server_is_read_too(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, ada: Person, chat: Conversation
) -> None:
    guild = discord.guild()
    other = ada.chat(guild.channel("other"))
    thread = ada.chat(guild.thread(guild.channel("third"), "plan"))
    chat.say("hello")
    await port.wait_for_event("hello")
    await lose_session(channel, discord)
    other.mention("in another channel")
    thread.mention("in a thread")
    await port.wait_for_event("in another channel")
    await port.wait_for_event("in a thread")


async def test_of_other_channels_nothing_is_lost_where_storing_breaks_off_on_the_way(
    channel: DiscordChannel,
    port: FakePort,
    discord: DiscordEmulator,
    ada: Person,
    chat: Conversation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def breaks_off(event: InboundEvent) -> bool:
        if event.text == "second":
            monkeypatch.undo()
            raise StorageError("locked")
        return await FakePort.receive(port, event)

    guild = discord.guild()
    rooms = [ada.chat(guild.channel(name)) for name in ("one", "two")]
    chat.say("before")
    await port.wait_for_event("before")
    await lose_session(channel, discord)
    monkeypatch.setattr(port, "receive", breaks_off)
    rooms[0].mention("first")
    rooms[1].mention("second")
    rooms[0].mention("third")
    await eventually(lambda: len(port.stored) == 4, "everything")
    assert [event.text for event in port.stored] == ["before", "first", "second", "third"]


async def test_the_first_start_of_all_reads_no_history(
    settings: ChannelSettings, rhythm: Rhythm, discord: DiscordEmulator, ada: Person
) -> None:
    room = ada.chat(discord.guild().channel("general"))
    room.mention("before the bot was ever started")
    channel, port = DiscordChannel(settings, rhythm), FakePort()
    await channel.start(port)
    room.mention("now")
    await port.wait_for_event("now")
    await channel.stop()
    assert [event.text for event in port.stored] == ["now"]
    assert discord.called("GET", HISTORY) == []


async def test_after_a_restart_the_transcript_tells_how_far_the_clocks_are_apart(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, chat: Conversation
) -> None:
    discord.skew(-300 * 86_400)
    seen = chat.say("before")
    before = await port.wait_for_event("before")
    await channel.stop()
    chat.say("while it was off")
    restarted = FakePort()
    restarted.places = (before.address,)
    restarted.entries = (TranscriptEntry(str(seen.id), "user", "before", before.timestamp),)
    await channel.start(restarted)
    missed = await restarted.wait_for_event("while it was off")
    assert abs((datetime.now(UTC) - missed.timestamp).total_seconds()) < 60


async def test_what_comes_hours_after_it_was_written_is_old_however_it_comes(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, chat: Conversation
) -> None:
    chat.say("now")
    await port.wait_for_event("now")
    discord.skew(-7200)
    chat.say("two hours late")
    late = await port.wait_for_event("two hours late")
    assert (datetime.now(UTC) - late.timestamp).total_seconds() > 7000


async def test_direct_chats_that_were_never_used_are_read_too_of_those_who_are_known_by_name(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, chat: Conversation
) -> None:
    known, unknown = discord.user("Bo"), discord.user("Cy")
    port.known = ("not an id", "1", known.id)
    chat.say("before")
    await port.wait_for_event("before")
    for text in ("missed", "missed again"):
        await lose_session(channel, discord)
        known.dm().say(text)
        unknown.dm().say("by nobody the bot knows of")
        event = await port.wait_for_event(text)
        assert (event.chat_id, event.is_group) == (known.dm().id, False)
    assert [event.text for event in port.stored] == ["before", "missed", "missed again"]
    opened = [call.json["recipient_id"] for call in discord.called("POST", "/users/@me/channels")]
    assert [str(each) for each in opened].count(known.id) == 1


async def test_what_was_said_during_an_outage_of_a_server_is_read_when_it_is_back(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, ada: Person, chat: Conversation
) -> None:
    guild = discord.guild()
    used, unused = ada.chat(guild.channel("used")), ada.chat(guild.channel("unused"))
    chat.say("hello")
    used.mention("before")
    await port.wait_for_event("before")
    await port.wait_for_event("hello")
    discord.gateway.lose_server(guild.id)
    used.mention("during the outage")
    unused.mention("in another channel")
    chat.say("elsewhere")
    await port.wait_for_event("elsewhere")
    discord.gateway.bring_back(guild.id)
    await port.wait_for_event("during the outage")
    await port.wait_for_event("in another channel")
    used.mention("after")
    await port.wait_for_event("after")
    assert len(port.stored) == 6
    reads = discord.called("GET", HISTORY)
    assert {call.path.split("/")[2] for call in reads} == {used.id, unused.id}
