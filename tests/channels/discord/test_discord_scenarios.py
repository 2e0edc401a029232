"""Whole paths: a person at Discord, the real SDK, the real core, a tool that runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from echo_bot.testing.discord import Conversation, DiscordEmulator, Person, Shown
from echo_bot.testing.waiting import eventually

Opening = Callable[..., AbstractAsyncContextManager[Any]]
Decided = Callable[[Conversation], Callable[[], Shown | None]]


async def test_a_pressed_button_runs_the_command_and_closes_the_card(
    opened: Opening, chat: Conversation, decided: Decided
) -> None:
    async with opened() as scene:
        (scene.bot.workspace / "hello.txt").write_text("x")
        chat.say("/run ls")
        card = await chat.wait_for_button("Approve once")
        assert "ls" in card.text
        press = chat.press("Approve once")
        assert "Approved once" in await press.answer()
        assert press.answers[0].private
        await chat.wait_for_text("hello.txt")
        closed = await eventually(decided(chat), "the closed card")
        assert closed.id == card.id
        assert closed.labels == []


async def test_denying_with_a_reason_asks_for_it_in_a_modal(opened: Opening, chat: Conversation) -> None:
    async with opened() as scene:
        chat.say("/run touch made")
        await chat.wait_for_button("Deny with reason")
        opening = chat.press("Deny with reason")
        await opening.modal()
        opening.fill("not today")
        await chat.wait_for_text("not today")
        assert not (scene.bot.workspace / "made").exists()


async def test_an_edited_call_runs_as_it_was_edited(opened: Opening, chat: Conversation) -> None:
    async with opened() as scene:
        chat.say("/run touch wrong")
        await chat.wait_for_button("Edit")
        opening = chat.press("Edit")
        await opening.modal()
        assert "touch wrong" in opening.input["value"]
        opening.fill(opening.input["value"].replace("wrong", "right"))
        await eventually(
            lambda: any("touch right" in one.text and one.labels for one in chat.from_bot), "a new card"
        )
        chat.press("Approve once")
        await eventually((scene.bot.workspace / "right").exists, "the edited call")
        assert not (scene.bot.workspace / "wrong").exists()


async def test_a_slash_command_starts_a_turn_for_all_to_see(
    opened: Opening, discord: DiscordEmulator, ada: Person
) -> None:
    room = ada.chat(discord.guild().channel("general"))
    async with opened() as scene:
        await eventually(lambda: discord.registered_commands, "the commands")
        (scene.bot.workspace / "hello.txt").write_text("x")
        used = room.slash("run", command="ls")
        await room.wait_for_text("Ada asked: /run ls")
        await room.wait_for_button("Approve once")
        status = room.slash("status")
        assert (await status.answer()) != ""
        assert status.answers[0].private
        room.press("Approve once")
        await room.wait_for_text("hello.txt")
        assert used.answers[0].private


async def test_slash_approve_completes_the_id_and_decides(
    opened: Opening, discord: DiscordEmulator, chat: Conversation
) -> None:
    async with opened() as scene:
        await eventually(lambda: discord.registered_commands, "the commands")
        chat.say("/run touch made")
        await chat.wait_for_button("Approve once")
        offered = await chat.complete("approve", "id", "").choices()
        assert len(offered) == 1
        await chat.slash("approve", id=offered[0][1], scope="once").answer()
        await eventually((scene.bot.workspace / "made").exists, "the call")


async def test_slash_model_completes_the_name_and_chooses(
    opened: Opening, discord: DiscordEmulator, chat: Conversation
) -> None:
    models = {
        "models__default": "openai:one",
        "models__base_url": "http://127.0.0.1:9/v1",
        "models__choices": ["openai:two"],
    }
    async with opened(**models):
        await eventually(lambda: discord.registered_commands, "the commands")
        offered = await chat.complete("model", "name", "tw").choices()
        assert offered == [("openai:two", "openai:two")]
        chosen = chat.slash("model", name=offered[0][1])
        assert await chosen.answer() == "This conversation now asks openai:two."


async def test_a_press_is_acknowledged_while_a_long_turn_runs_and_status_too(
    opened: Opening, discord: DiscordEmulator, chat: Conversation
) -> None:
    async with opened() as scene:
        await eventually(lambda: discord.registered_commands, "the commands")
        (scene.bot.workspace / "gate").touch()
        chat.say("/run while test -e gate; do sleep 0.02; done; echo over")
        await chat.wait_for_button("Approve once")
        first = chat.press("Approve once")
        await first.acknowledgement()
        await first.answer()
        status = chat.slash("status")
        await status.acknowledgement()
        assert "1" in await status.answer()
        late = chat.press_id("no-such-token", chat.from_bot[0])
        assert await late.answer() != ""
        (scene.bot.workspace / "gate").unlink()
        await chat.wait_for_text("over")


async def test_a_stranger_decides_nothing_and_is_told_so_alone(
    opened: Opening, discord: DiscordEmulator, ada: Person
) -> None:
    room = ada.chat(discord.guild().channel("general"))
    mallory = discord.user("Mallory").chat(room.place)
    async with opened() as scene:
        await eventually(lambda: discord.registered_commands, "the commands")
        mallory.mention("/run touch made")
        used = mallory.slash("run", command="touch made")
        assert (await used.answer()) != ""
        assert used.answers[0].private
        room.mention("/run touch made")
        card = await room.wait_for_button("Approve once")
        press = mallory.press("Approve once", card)
        assert "may not decide" in await press.answer()
        assert press.answers[0].private
        asking = mallory.press("Deny with reason", card)
        assert (await asking.answer()) != ""
        assert asking.record.modal is None
        assert [one.id for one in room.from_bot] == [card.id]
        assert not (scene.bot.workspace / "made").exists()


async def test_two_cards_are_decided_each_for_itself(
    opened: Opening, discord: DiscordEmulator, ada: Person
) -> None:
    guild = discord.guild()
    rooms = [ada.chat(guild.channel(name)) for name in ("one", "two")]
    async with opened() as scene:
        for number, room in enumerate(rooms):
            room.mention(f"/run touch made{number}")
        cards = [await room.wait_for_button("Approve once") for room in rooms]
        rooms[1].press("Approve once", cards[1])
        await eventually((scene.bot.workspace / "made1").exists, "the second call")
        rooms[0].press("Deny", cards[0])
        await rooms[0].wait_for_text("denied")
        assert not (scene.bot.workspace / "made0").exists()


async def test_a_second_press_hears_who_decided(
    opened: Opening, chat: Conversation, decided: Decided
) -> None:
    async with opened():
        chat.say("/run true")
        card = await chat.wait_for_button("Approve once")
        token = card.custom_id("Deny")
        await chat.press("Approve once").answer()
        assert "already" in (await chat.press_id(token, card).answer()).lower()


@pytest.mark.parametrize("code", [10062, 10008, 50027])
async def test_a_press_that_discord_no_longer_answers_runs_the_command_and_closes_the_card(
    opened: Opening, discord: DiscordEmulator, chat: Conversation, code: int, decided: Decided
) -> None:
    async with opened() as scene:
        chat.say("/run touch made")
        await chat.wait_for_button("Approve once")
        discord.fail("*", "/interactions/*", 404, code=code, times=9)
        discord.fail("*", "/webhooks/*", 404, code=code, times=9)
        chat.press("Approve once")
        await eventually((scene.bot.workspace / "made").exists, "the call")
        await eventually(decided(chat), "the closed card")


async def test_a_card_that_cannot_be_edited_gets_a_reply(
    opened: Opening, discord: DiscordEmulator, chat: Conversation
) -> None:
    async with opened():
        chat.say("/run true")
        card = await chat.wait_for_button("Approve once")
        discord.fail("PATCH", "/channels/*/messages/*", 403, code=50005, times=9)
        chat.press("Approve once")
        said = await chat.wait_for(
            lambda one: "(discord:" in one.text and " by " in one.text and one.id != card.id, "the outcome"
        )
        assert said.answers == card.id


async def test_everything_of_a_thread_stays_in_it(
    opened: Opening, discord: DiscordEmulator, ada: Person, decided: Decided
) -> None:
    guild = discord.guild()
    room = ada.chat(guild.channel("general"))
    thread = ada.chat(guild.thread(room.place, "plan"))
    async with opened():
        thread.mention("/run echo inside")
        await thread.wait_for_button("Approve once")
        await thread.press("Approve once").answer()
        await thread.wait_for(
            lambda one: "inside" in one.text and one.message.reference is not None, "the reply"
        )
        await eventually(decided(thread), "the closed card")
        assert room.from_bot == []
        assert set(discord.typing) <= {thread.id}


async def test_in_a_channel_only_what_is_meant_for_the_bot_is_heard(
    opened: Opening, discord: DiscordEmulator, ada: Person
) -> None:
    room = ada.chat(discord.guild().channel("general"))
    async with opened():
        room.say("just talking")
        room.mention("/whoami")
        told = await room.wait_for_text(ada.id)
        room.say("/status", reply_to=told.message)
        await eventually(lambda: len(room.from_bot) == 2, "the second answer")
        assert told.answers != ""


async def test_other_bots_start_nothing(opened: Opening, discord: DiscordEmulator, ada: Person) -> None:
    room = ada.chat(discord.guild().channel("general"))
    robot = discord.user("Robot", is_bot=True)
    async with opened(channels__discord__allow_from=["*"]):
        for _ in range(3):
            robot.chat(room.place).mention("/whoami")
        room.mention("/whoami")
        await room.wait_for_text(ada.id)
        assert len(room.from_bot) == 1


async def test_an_edit_never_runs_a_command(opened: Opening, chat: Conversation) -> None:
    async with opened() as scene:
        message = chat.say("/whoami")
        await chat.wait_for_text("discord:")
        chat.edit(message, "/run touch made")
        chat.say("/status")
        await eventually(lambda: len(chat.from_bot) == 2, "the status")
        assert not (scene.bot.workspace / "made").exists()


async def test_received_files_reach_the_workspace(opened: Opening, chat: Conversation) -> None:
    async with opened() as scene:
        chat.say("/run ls -R", files=[("notes.txt", b"remember the milk")])
        await chat.wait_for_button("Approve once")
        await chat.press("Approve once").answer()
        await eventually(
            lambda: [
                path
                for path in scene.bot.workspace.rglob("*notes.txt")
                if path.read_bytes() == b"remember the milk"
            ],
            "the file",
        )


async def test_a_command_too_long_for_one_message_is_shown_whole_before_its_buttons(
    opened: Opening, chat: Conversation
) -> None:
    words = " ".join(f"word{number}" for number in range(400))
    async with opened():
        chat.say(f"/run echo {words[:1800]} `|| *x* ``` @everyone")
        await chat.wait_for_button("Approve once")
        shown = "".join(one.text for one in chat.from_bot)
        assert "word199" in shown
        assert "`|| *x* ``` @everyone" in shown
        assert all(len(one.content) <= 2000 and not one.pings for one in chat.from_bot)
        assert [bool(one.labels) for one in chat.from_bot][-1]
