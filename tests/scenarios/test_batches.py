"""Several calls on one card: only whole ones, one decision for each, decided meanwhile they are named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from echo_bot.channel import ChannelCapabilities
from echo_bot.events import CardState, Identity
from echo_bot.storage.peek import peek
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FULL_CAPABILITIES, FakeChannel, FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

ALL = "Approve all shown"


async def waiting(store: Store) -> list[ApprovalRecord]:
    return [r for r in await store.approvals.pending() if r.kind == "approval" and r.deadline is not None]


async def ask(bot: RunningBot, *commands: str) -> dict[str, ApprovalRecord]:
    """Each command in a chat of its own, until all wait; by command."""
    for number, command in enumerate(commands):
        await bot.channel.say(f"/run {command}", chat_id=str(100 + number))

    async def all_wait() -> list[ApprovalRecord]:
        return await waiting(bot.store)

    found: list[ApprovalRecord] = []
    for _ in range(2000):
        found = await all_wait()
        if len(found) == len(commands):
            break
        await eventually(lambda: True, "a moment")
    return {json.loads(r.request_json)["args"]["command"]: r for r in found}


async def test_all_shown_calls_are_approved_each_with_a_decision_of_its_own(
    tmp_path: Path, local: Config, is_open: Is, is_closed: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        calls = await ask(bot, "touch a", "touch b", "touch c")
        await bot.channel.say("/approvals")
        await bot.channel.wait_for(says("One card decides 3 of them together"))
        card = await bot.channel.wait_for_button(ALL)
        for command, record in calls.items():
            assert command in card.body
            assert record.approval_id[-6:] in card.body
        reply = await bot.channel.press(ALL)
        assert reply.ok
        assert all(record.approval_id[-6:] in reply.text for record in calls.values())
        await eventually(lambda: all((bot.workspace / name).exists() for name in "abc"), "all three to run")
        await eventually(lambda: not any(is_open(m) for m in bot.channel.messages), "every card closed")
        for record in calls.values():
            decided = await bot.store.approvals.get(record.approval_id)
            assert decided is not None
            assert (decided.decided_by, decided.decision) == ("telegram:1", "once")
        rows = [json.loads(row.body_json) for row in await bot.store.audit.of_kind("decision")]
        assert {row["digest"] for row in rows} == {record.digest for record in calls.values()}
        closed = bot.channel.message(card.ref)
        assert closed.card is not None
        assert (closed.card.state, closed.card.buttons) == (CardState.APPROVED, ())


async def test_calls_decided_meanwhile_are_named(tmp_path: Path, local: Config, is_open: Is) -> None:
    async with running_bot(tmp_path, local) as bot:
        calls = await ask(bot, "touch a", "touch b")
        await bot.channel.say("/approvals")
        await bot.channel.wait_for_button(ALL)
        gone = calls["touch a"].approval_id[-6:]
        await bot.channel.say(f"/deny {gone}", chat_id="100")
        await eventually(
            lambda: any("denied it" in m.body for m in bot.channel.messages), "the first call to be denied"
        )
        reply = await bot.channel.press(ALL)
        assert reply.ok
        assert f"Not decided by this: {gone}: Already denied by telegram:1." in reply.text
        await eventually(lambda: (bot.workspace / "b").exists(), "the other to run")
        assert not (bot.workspace / "a").exists()


async def test_a_list_is_no_open_approval_of_its_own(tmp_path: Path, local: Config, says: Says) -> None:
    async with running_bot(tmp_path, local) as bot:
        await ask(bot, "touch a", "touch b")
        await bot.channel.say("/approvals")
        await bot.channel.wait_for_button(ALL)
        await bot.channel.say("/status")
        await bot.channel.wait_for(says("Open approvals: 2."))
        assert len(await bot.parts.inbox.pending(Identity("telegram", "1"))) == 2
        seen = peek(bot.store.path)
        assert seen is not None
        assert len(seen.pending) == 2


async def test_all_shown_are_denied(tmp_path: Path, local: Config, says: Says) -> None:
    async with running_bot(tmp_path, local) as bot:
        await ask(bot, "touch a", "touch b")
        await bot.channel.say("/approvals")
        await bot.channel.wait_for_button(ALL)
        assert (await bot.channel.press("Deny all shown")).text.startswith("Denied: ")
        await eventually(lambda: sum("denied it" in m.body for m in bot.channel.messages) == 2, "both denied")
        assert not list(bot.workspace.iterdir())


async def test_a_second_press_decides_nothing_more(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        await ask(bot, "touch a", "touch b")
        await bot.channel.say("/approvals")
        card = await bot.channel.wait_for_button(ALL)
        token = next(b.token for b in card.buttons if b.label == ALL)
        assert (await bot.channel.press_token(token, card.ref)).ok
        late = await bot.channel.press_token(token, card.ref)
        assert (late.ok, "Already approved by telegram:1" in late.text) == (False, True)


async def test_only_whoever_asked_for_the_list_decides_with_it(tmp_path: Path, local: Config) -> None:
    config = local | {"permissions.admin_users": ["telegram:1", "telegram:7"]}
    async with running_bot(tmp_path, config) as bot:
        await ask(bot, "touch a", "touch b")
        await bot.channel.say("/approvals")
        await bot.channel.wait_for_button(ALL)
        reply = await bot.channel.press(ALL, sender_id="7")
        assert (reply.ok, "was made for telegram:1" in reply.text) == (False, True)


async def test_a_call_that_does_not_fit_whole_is_left_out_and_named(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        calls = await ask(bot, "touch a", f"echo {'x' * 3500}", "touch b")
        await bot.channel.say("/approvals")
        big = next(r for command, r in calls.items() if command.startswith("echo"))
        await bot.channel.wait_for(says(f"they do not fit whole: {big.approval_id[-6:]}"))
        card = await bot.channel.wait_for_button(ALL)
        assert "xxxx" not in card.body
        await bot.channel.press(ALL)
        await eventually(lambda: (bot.workspace / "b").exists(), "the small ones to run")
        assert [r.approval_id for r in await waiting(bot.store)] == [big.approval_id]


async def test_one_call_alone_or_one_with_a_quorum_makes_no_list(
    tmp_path: Path, local: Config, says: Says
) -> None:
    config = local | {
        "permissions.approval.quorum": {"exec": 2},
        "permissions.admin_users": ["telegram:1", "telegram:7"],
    }
    async with running_bot(tmp_path, local) as bot:
        await ask(bot, "touch a")
        await bot.channel.say("/approvals")
        await bot.channel.wait_for(says("Open approvals"))
        assert not any(b.label == ALL for m in bot.channel.messages for b in m.buttons)
    (tmp_path / "other").mkdir()
    async with running_bot(tmp_path / "other", config) as bot:
        await ask(bot, "touch a", "touch b")
        await bot.channel.say("/approvals")
        await bot.channel.wait_for(says("Open approvals"))
        assert not any(b.label == ALL for m in bot.channel.messages for b in m.buttons)


async def test_the_list_closes_when_the_last_of_its_calls_is_over(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        calls = await ask(bot, "touch a", "touch b")
        await bot.channel.say("/approvals")
        card = await bot.channel.wait_for_button(ALL)
        for record in calls.values():
            await bot.channel.say(f"/deny {record.approval_id[-6:]}")
        await eventually(lambda: not bot.channel.message(card.ref).buttons, "the list to close")
        closed = bot.channel.message(card.ref).card
        assert closed is not None
        assert closed.state is CardState.CLOSED


async def test_a_newer_list_takes_the_place_of_the_older(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        await ask(bot, "touch a", "touch b")
        await bot.channel.say("/approvals")
        first = await bot.channel.wait_for_button(ALL)
        await bot.channel.say("/approvals")
        await eventually(lambda: not bot.channel.message(first.ref).buttons, "the first list to close")
        second = await bot.channel.wait_for_button(ALL)
        assert second.ref != first.ref


async def test_a_list_works_after_a_restart(tmp_path: Path, local: Config) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await ask(bot, "touch a", "touch b")
        await channel.say("/approvals")
        await channel.wait_for_button(ALL)
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await eventually(lambda: bot.parts.queues.total()[0] == 2, "the turns to be revived")
        assert (await channel.press(ALL)).ok
        await eventually(lambda: all((bot.workspace / name).exists() for name in "ab"), "both to run")


async def test_a_call_that_changed_since_it_was_shown_is_not_decided(
    tmp_path: Path, local: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await ask(bot, "touch a", "touch b")
        await bot.channel.say("/approvals")
        await bot.channel.wait_for_button(ALL)
        edit = next(m for m in bot.channel.messages if is_open(m) and "touch a" in m.body and m.card)
        await bot.channel.press("Edit", text="touch evil", message=edit)
        await bot.channel.wait_for(lambda m: is_open(m) and "touch evil" in m.body)
        reply = await bot.channel.press(ALL)
        assert "Already changed by telegram:1" in reply.text
        await eventually(lambda: (bot.workspace / "b").exists(), "the other to run")
        assert not (bot.workspace / "evil").exists()


async def test_without_buttons_the_list_has_an_id_to_type(tmp_path: Path, local: Config, says: Says) -> None:
    channel = FakeChannel("telegram", capabilities=ChannelCapabilities(max_length=4000))
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await ask(bot, "touch a", "touch b")
        await channel.say("/approvals")
        listed = await channel.wait_for(says("2 calls at once?"))
        [batch] = [r for r in await bot.store.approvals.pending() if r.kind == "batch"]
        assert f"/approve {batch.approval_id[-6:]} once" in listed.body
        await channel.say(f"/approve {batch.approval_id[-6:]}")
        await eventually(lambda: all((bot.workspace / name).exists() for name in "ab"), "both to run")


async def test_a_small_message_limit_makes_no_list(tmp_path: Path, local: Config, says: Says) -> None:
    small = FakeChannel("telegram", capabilities=replace(FULL_CAPABILITIES, max_length=600))
    async with running_bot(tmp_path, local, channel=small) as bot:
        await ask(bot, "touch a", "touch b", "touch c")
        await small.say("/approvals")
        await small.wait_for(says("Open approvals"))
        assert not any(b.label == ALL for m in small.messages for b in m.buttons)
