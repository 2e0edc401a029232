"""Native commands: registered once, completed, answered privately, started turns shown to all."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from channels.discord.adapter import DiscordChannel
from channels.discord.menu import fingerprint, menu_of
from echo_bot.channel import Command, CommandReply, Completes, Completion, Parameter
from echo_bot.errors import StorageError
from echo_bot.testing.discord import Conversation, DiscordEmulator, Person
from echo_bot.testing.discord.rules import check_commands
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import eventually

COMMANDS = "/applications/*/commands"


@pytest.fixture
async def room(discord: DiscordEmulator, channel: DiscordChannel, ada: Person) -> Conversation:
    await eventually(lambda: discord.registered_commands, "the commands")
    return ada.chat(discord.guild("Lab").channel("general"))


async def test_the_commands_are_registered_once_and_again_only_when_they_changed(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    await eventually(lambda: discord.registered_commands, "the commands")
    assert [command["name"] for command in discord.registered_commands] == [
        "help",
        "run",
        "approve",
        "status",
    ]
    await channel.stop()
    await channel.start(port)
    await eventually(lambda: len(discord.called("GET", COMMANDS)) == 2, "the second look")
    assert len(discord.called("PUT", COMMANDS)) == 1
    monkeypatch.setattr(port, "commands", lambda: (Command("help", "Something new"),))
    await channel.stop()
    await channel.start(port)
    await eventually(lambda: len(discord.registered_commands) == 1, "the new commands")


async def test_a_server_that_cannot_tell_what_it_has_is_told_anew(
    settings: object, port: FakePort, discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    await eventually(lambda: discord.called("PUT", COMMANDS), "the first registration")
    await channel.stop()
    discord.fail("GET", COMMANDS, 404)
    await channel.start(port)
    await eventually(lambda: len(discord.called("PUT", COMMANDS)) == 2, "the second registration")


async def test_refused_commands_stop_nothing(
    settings: object, port: FakePort, discord: DiscordEmulator, chat: Conversation, channel: DiscordChannel
) -> None:
    await channel.stop()
    discord.fail("*", COMMANDS, 403, code=50001, times=99)
    await channel.start(port)
    chat.say("hello")
    await port.wait_for_event("hello")


@pytest.mark.parametrize(
    "command",
    [
        Command("run", "x" * 300, (Parameter("Command Line", "y" * 300),)),
        Command("a" * 32, "", (Parameter("p", ""),)),
        Command("mixed", "d", (Parameter("b", "", required=False), Parameter("a", ""))),
        Command("pick", "d", (Parameter("p", "d", choices=tuple(map(str, range(60)))),)),
        Command("many", "d", tuple(Parameter(f"p{number}", "d") for number in range(40))),
        Command("done", "d", (Parameter("id", "d", completes=Completes.GRANTS),)),
    ],
    ids=lambda command: str(command.name)[:8],
)
def test_every_command_is_described_within_discords_limits(command: Command) -> None:
    check_commands(menu_of([command]))


def test_commands_with_names_that_discord_refuses_are_left_out() -> None:
    menu = menu_of([Command("Großes", "x"), Command("ok", "x"), Command("a" * 33, "x"), Command("", "x")])
    assert [entry["name"] for entry in menu] == ["ok"]
    assert len(menu_of([Command(f"c{number}", "x") for number in range(150)])) == 100


def test_what_discord_adds_to_a_command_changes_no_fingerprint() -> None:
    told = menu_of(
        [Command("run", "Run", (Parameter("command", "What", choices=("a",)),)), Command("help", "H")]
    )
    stored = [
        {**entry, "id": "1", "application_id": "2", "version": "3", "default_member_permissions": None}
        for entry in reversed(told)
    ]
    for entry in stored:
        if not entry["options"]:
            del entry["options"]
    assert fingerprint(stored) == fingerprint(told)
    assert fingerprint(told[:1]) != fingerprint(told)


async def test_a_command_is_answered_to_the_person_alone(
    room: Conversation, port: FakePort, ada: Person, discord: DiscordEmulator
) -> None:
    used = room.slash("status")
    assert await used.answer() == "All is well."
    assert used.answers[0].private
    event = port.commanded[0]
    assert (event.text, event.sender_id, event.chat_id) == ("/status", ada.id, room.id)
    assert (event.is_group, event.mentioned, event.event_id) == (True, True, f"interaction:{used.record.id}")
    assert abs((datetime.now(UTC) - event.timestamp).total_seconds()) < 5
    assert discord.user("Bob").chat(room.place).from_bot == []


async def test_options_come_in_the_order_of_the_parameters(room: Conversation, port: FakePort) -> None:
    await room.slash("approve", scope="always", id="abc123").answer()
    assert port.commanded[0].text == "/approve abc123 always"


async def test_a_command_that_starts_a_turn_shows_who_asked_for_what(
    room: Conversation, port: FakePort
) -> None:
    used = room.slash("run", command="ls -la *.py @everyone `x`")
    shown = await room.wait_for_text("asked")
    assert shown.text == "Ada asked: /run ls -la *.py @everyone `x`"
    assert not shown.pings
    assert [answer.private for answer in used.answers] == [True, False]
    assert port.commanded[0].text == "/run ls -la *.py @everyone `x`"


async def test_a_very_long_command_is_run_whole_and_shown_short(room: Conversation, port: FakePort) -> None:
    room.slash("run", command="x" * 5000)
    shown = await room.wait_for_text("asked")
    assert len(shown.content) <= 2000
    assert len(port.commanded[0].text) == 5005


async def test_a_stranger_is_told_so_privately(
    room: Conversation, port: FakePort, discord: DiscordEmulator
) -> None:
    mallory = discord.user("Mallory")
    port.strangers.add(mallory.id)
    used = mallory.chat(room.place).slash("run", command="ls")
    assert await used.answer() == "This bot does not know you."
    assert used.answers[0].private
    assert room.from_bot == []


async def test_a_command_is_acknowledged_at_once_however_long_the_core_takes(
    room: Conversation, port: FakePort, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = asyncio.Event()

    async def slow(event: object) -> CommandReply:
        await finish.wait()
        return CommandReply("done at last")

    monkeypatch.setattr(port, "command", slow)
    used = room.slash("status")
    await used.acknowledgement()
    assert used.answers == []
    finish.set()
    assert await used.answer() == "done at last"


async def test_a_long_answer_comes_whole_and_all_of_it_privately(room: Conversation, port: FakePort) -> None:
    port.answer = CommandReply("\n".join(f"- job {number}" for number in range(500)))
    used = room.slash("status")
    await eventually(lambda: len(used.answers) == 3, "all parts")
    assert all(answer.private and len(answer.content) <= 2000 for answer in used.answers)
    assert "job 499" in used.answers[-1].text


async def test_a_command_counts_although_discord_takes_no_answer(
    room: Conversation, port: FakePort, discord: DiscordEmulator
) -> None:
    discord.fail("POST", "/interactions/*/callback", 404, code=10062)
    room.slash("run", command="ls")
    await eventually(lambda: port.commanded, "the command")


async def test_a_command_that_cannot_be_stored_says_so(room: Conversation, port: FakePort) -> None:
    port.fail(StorageError("disk full"))
    assert "nothing was done" in await room.slash("status").answer()


async def test_a_command_that_comes_again_counts_once(
    room: Conversation, port: FakePort, discord: DiscordEmulator
) -> None:
    used = room.slash("status")
    discord.redeliver()
    await used.answer()
    assert len(port.commanded) == 1


async def test_a_command_that_was_taken_before_the_restart_is_answered_with_nothing(
    room: Conversation, port: FakePort, discord: DiscordEmulator
) -> None:
    port.answer = CommandReply(repeated=True)
    used = room.slash("status")
    await eventually(lambda: discord.called("DELETE", "/webhooks/*/messages/@original"), "the end of it")
    assert used.answers == []


async def test_what_is_typed_is_completed(room: Conversation, port: FakePort) -> None:
    port.completions = (
        Completion("abc123", "abc123 · exec rm -r build " + "x" * 200),
        Completion("v" * 101, "a value that does not fit"),
        *(Completion(f"id{number}", "") for number in range(40)),
    )
    offered = await room.complete("approve", "id", "ab").choices()
    assert len(offered) == 25
    assert offered[0] == (("abc123 · exec rm -r build " + "x" * 200)[:100], "abc123")
    assert offered[1] == ("id0", "id0")


async def test_a_core_too_slow_to_complete_offers_nothing(
    room: Conversation, port: FakePort, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> tuple[Completion, ...]:
        raise StorageError("locked")

    monkeypatch.setattr(port, "complete", fails)
    assert await room.complete("approve", "id", "ab").choices() == []


async def test_commands_work_in_threads_and_direct_chats(
    room: Conversation, port: FakePort, discord: DiscordEmulator, ada: Person
) -> None:
    thread = discord.guild("Lab").thread(room.place, "plan")
    await ada.chat(thread).slash("status").answer()
    await ada.dm().slash("status").answer()
    places = [(event.chat_id, event.thread_id, event.is_group) for event in port.commanded]
    assert places == [(room.id, thread.id, True), (ada.dm().id, "", False)]


async def test_an_answer_is_told_though_the_answer_to_the_acknowledgement_was_lost(
    channel: DiscordChannel, discord: DiscordEmulator, chat: Conversation
) -> None:
    await eventually(lambda: discord.registered_commands, "the commands")
    discord.drop("POST", "/interactions/*/callback", after=True)
    used = chat.slash("status")
    assert await used.answer()
    assert used.answers[0].private


async def test_commands_are_offered_where_the_bot_can_answer(
    channel: DiscordChannel, discord: DiscordEmulator
) -> None:
    await eventually(lambda: discord.registered_commands, "the commands")
    for command in discord.registered_commands:
        assert (command["integration_types"], command["contexts"]) == ([0], [0, 1])
