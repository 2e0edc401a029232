"""Whoever decided is named as people know them, with the identity that counts, wherever it is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

TWO: Config = {
    "permissions.approval.quorum": {"exec": 2},
    "permissions.approval.approvers": ["telegram:7", "telegram:8", "telegram:9"],
}
ELSEWHERE: Config = {"permissions.approval.approvers": ["telegram:7"]}


async def test_the_closed_card_and_a_second_press_name_whoever_was_first(
    tmp_path: Path, local: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo hi", sender_name="Ada")
        card = await bot.channel.wait_for(is_open)
        deny = next(button.token for button in card.buttons if button.label == "Deny")
        await bot.channel.press("Approve once", message=card, sender_name="Ada\nLovelace")
        await eventually(lambda: "Approved once by Ada Lovelace (telegram:1) at" in card.body, "the card")
        late = await bot.channel.press_token(deny, card.ref, sender_name="somebody else")
        assert late.text == "Already approved by Ada Lovelace (telegram:1)."


@pytest.mark.parametrize("command", ["/approve {id}", "/deny {id} not now"])
async def test_a_decision_by_command_is_named_too(
    tmp_path: Path, local: Config, is_open: Is, command: str
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo hi")
        card = await bot.channel.wait_for(is_open)
        assert card.card is not None
        await bot.channel.say(command.format(id=card.card.short_id), sender_name="Ada")
        await eventually(lambda: " by Ada (telegram:1) at" in card.body, "the card")


async def test_the_requesters_chat_hears_the_name_of_whoever_denied(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local | ELSEWHERE) as bot:
        await bot.channel.say("/run echo hi")
        card = await bot.channel.wait_for(is_open)
        await bot.channel.press("Deny", message=card, sender_id="7", sender_name="Eve (telegram:1)")
        await bot.channel.wait_for(says("Denied by Eve [telegram:1] (telegram:7) at"))
        await bot.channel.wait_for(says("Not executed: Eve [telegram:1] (telegram:7) denied it."))


async def test_votes_are_named_on_every_copy(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local | TWO) as bot:
        channel = bot.channel
        await channel.say("/run echo hi")
        await eventually(lambda: len(channel.cards) == 3, "three copies")
        seven, eight, nine = (
            next(m for m in channel.messages if m.card is not None and m.ref.address.chat_id == chat)
            for chat in "789"
        )
        await channel.press("Approve once", message=seven, sender_id="7", sender_name="Ada")
        await eventually(lambda: "1 of 2 (Ada (telegram:7))" in nine.body, "the first vote")
        last = await channel.press("Approve once", message=eight, sender_id="8", sender_name="\u202ebO")
        names = "Ada (telegram:7), \\u{202E}bO (telegram:8)"
        assert last.text == f"Approved once, by {names}."
        await eventually(lambda: f"Approved once by {names} at" in nine.body, "the decision")


async def test_an_edited_call_names_who_wrote_it(tmp_path: Path, local: Config, is_open: Is) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo one")
        first = await bot.channel.wait_for(is_open)
        await bot.channel.press("Edit", message=first, text="echo two", sender_name="Ada")
        second = await bot.channel.wait_for(lambda m: is_open(m) and "echo two" in m.body)
        assert "Edited by: Ada (telegram:1)" in second.body
        await eventually(lambda: "Edited by Ada (telegram:1) at" in first.body, "the first card")


async def test_the_list_of_approvals_and_the_result_of_an_edit_name_people_as_cards_do(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo one", sender_name="Ada")
        first = await bot.channel.wait_for(is_open)
        assert "Asked by: Ada (telegram:1)" in first.body
        await bot.channel.say("/approvals")
        await bot.channel.wait_for(says("asked by `Ada (telegram:1)`"))
        await bot.channel.press("Edit", message=first, text="echo two", sender_name="Ada")
        await bot.channel.press(
            "Approve once", message=await bot.channel.wait_for(lambda m: is_open(m) and "echo two" in m.body)
        )
        await bot.channel.wait_for(says("Ada (telegram:1) changed the arguments of this call"))


async def test_the_requesters_chat_is_told_which_call_waits_elsewhere(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local | ELSEWHERE) as bot:
        await bot.channel.say("/run echo hi")
        card = await bot.channel.wait_for(is_open)
        assert card.card is not None
        told = f"Waiting for approval of exec ({card.card.short_id}); the card is in another chat."
        await bot.channel.wait_for(says(told))
        await bot.channel.press("Deny", message=card, sender_id="7")
        outcome = await bot.channel.wait_for(says("Denied by telegram:7 at"))
        assert outcome.body.endswith(f" – exec ({card.card.short_id})")
