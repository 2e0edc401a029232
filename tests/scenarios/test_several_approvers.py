"""A quorum: distinct people approve, everybody sees how far it is, one denial decides; and four eyes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from echo_bot.channel import ChannelCapabilities
from echo_bot.events import CardState, Identity
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus, GrantRecord, Ruling, Vote
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

TWO: Config = {
    "permissions.approval.quorum": {"exec": 2},
    "permissions.approval.approvers": ["telegram:7", "telegram:8", "telegram:9"],
}


async def pending(store: Store) -> ApprovalRecord:
    [record] = await store.approvals.pending()
    return record


async def clock_runs(store: Store) -> None:
    while (await pending(store)).deadline is None:
        await asyncio.sleep(0.01)


def in_chat(chat_id: str, channel: FakeChannel) -> FakeMessage:
    return next(m for m in channel.messages if m.card is not None and m.ref.address.chat_id == chat_id)


async def kinds(store: Store, kind: str) -> list[dict[str, object]]:
    return [json.loads(row.body_json) for row in await store.audit.of_kind(kind)]


async def test_two_of_three_approve_every_copy_shows_who_and_the_call_runs_once(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local | TWO) as bot:
        channel = bot.channel
        await channel.say("/run echo once >> log")
        await eventually(lambda: len(channel.cards) == 3, "three copies")
        await clock_runs(bot.store)
        copies = {chat: in_chat(chat, channel) for chat in "789"}
        assert [b.label for b in copies["7"].buttons] == ["Approve once", "Deny", "Deny with reason"]
        assert "0 of 2, 2 more needed" in copies["7"].body

        first = await channel.press("Approve once", sender_id="7", message=copies["7"])
        assert (first.ok, first.text) == (True, "Your approval counts; 1 more needed before it runs.")
        await eventually(
            lambda: all("1 of 2 (telegram:7), 1 more needed" in c.body for c in copies.values()), "all copies"
        )
        again = await channel.press("Approve once", sender_id="7", message=copies["7"])
        assert (again.ok, again.text) == (False, "You already approved this; 1 more needed.")
        assert not (bot.workspace / "log").exists()

        last = await channel.press("Approve once", sender_id="8", message=copies["8"])
        assert (last.ok, last.text) == (True, "Approved once, by telegram:7, telegram:8.")
        await channel.wait_for(says("no output"))
        assert (bot.workspace / "log").read_text() == "once\n"
        await eventually(
            lambda: all("Approved once by telegram:7, telegram:8 at" in c.body for c in copies.values()),
            "all copies closed",
        )
        assert all(c.card is not None and c.card.state is CardState.APPROVED for c in copies.values())
        late = await channel.press_token("x", copies["9"].ref, sender_id="9")
        assert not late.ok
        assert [(v["by"], v["count"], v["quorum"]) for v in await kinds(bot.store, "vote")] == [
            ("telegram:7", 1, 2),
            ("telegram:8", 2, 2),
        ]
        [gate] = [row for row in await kinds(bot.store, "gate") if row["tool"] == "exec"]
        assert (gate["source"], gate["by"]) == ("human", "telegram:7, telegram:8")


async def test_any_one_denial_decides_also_after_an_approval(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local | TWO) as bot:
        await bot.channel.say("/run touch made")
        await eventually(lambda: len(bot.channel.cards) == 3, "three copies")
        assert (await bot.channel.press("Approve once", sender_id="7")).ok
        assert (await bot.channel.press("Deny", sender_id="9")).ok
        await bot.channel.wait_for(says("telegram:9 denied it"))
        assert not (bot.workspace / "made").exists()


async def test_two_last_votes_at_once_are_counted_one_after_the_other(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local | TWO) as bot:
        await bot.channel.say("/run echo once >> log")
        await eventually(lambda: len(bot.channel.cards) == 3, "three copies")
        replies = await asyncio.gather(
            *(bot.channel.press("Approve once", sender_id=who) for who in ("7", "8", "9", "7", "8"))
        )
        assert sum(reply.ok for reply in replies) == 2
        await bot.channel.wait_for(says("no output"))
        assert (bot.workspace / "log").read_text() == "once\n"


async def test_votes_survive_a_restart(tmp_path: Path, local: Config, says: Says) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local | TWO, channel=channel) as bot:
        await channel.say("/run echo once >> log")
        await eventually(lambda: len(channel.cards) == 3, "three copies")
        await clock_runs(bot.store)
        await channel.press("Approve once", sender_id="7")
    async with running_bot(tmp_path, local | TWO, channel=channel) as bot:
        await eventually(lambda: bot.parts.queues.total() == (1, 0), "the turn to be revived")
        assert not (await channel.press("Approve once", sender_id="7")).ok
        assert (await channel.press("Approve once", sender_id="8")).ok
        await channel.wait_for(says("no output"))
        assert (bot.workspace / "log").read_text() == "once\n"
        assert sum(m.card is not None for m in channel.messages) == 3


async def test_an_impossible_quorum_denies_at_once_with_the_reason(
    tmp_path: Path, local: Config, says: Says
) -> None:
    config = local | {"permissions.approval.quorum": {"exec": 2}}
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/run touch made")
        reply = await bot.channel.wait_for(says("2 people must approve this, and only 1 person may"))
        assert "permissions.approval.quorum" in reply.body
        assert not bot.channel.cards
        assert not (bot.workspace / "made").exists()


async def test_the_vote_of_somebody_who_lost_the_right_does_not_count_any_more(
    tmp_path: Path, local: Config
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local | TWO, channel=channel) as bot:
        await channel.say("/run touch made")
        await eventually(lambda: len(channel.cards) == 3, "three copies")
        await clock_runs(bot.store)
        await channel.press("Approve once", sender_id="7")
    fewer = local | TWO | {"permissions.approval.approvers": ["telegram:8", "telegram:9"]}
    async with running_bot(tmp_path, fewer, channel=channel) as bot:
        await eventually(lambda: bot.parts.queues.total() == (1, 0), "the turn to be revived")
        reply = await channel.press("Approve once", sender_id="8")
        assert "1 more needed" in reply.text
        assert not (bot.workspace / "made").exists()


async def test_a_grant_from_before_does_not_stand_for_several_people(
    tmp_path: Path, local: Config, is_open: Is
) -> None:
    config = local | {"permissions.approval.approvers": ["telegram:1", "telegram:7"]}
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, config, channel=channel) as bot:
        await bot.channel.say("/run echo hi")
        await channel.wait_for(is_open)
        record = await pending(bot.store)
        await bot.channel.press("Deny")
        now = record.created_at
        await bot.store.grants.add(
            GrantRecord("g1", "telegram:1", record.digest, "exec", "s", "always", now, "telegram:1")
        )
    stricter = config | {"permissions.approval.quorum": {"exec": 2}}
    async with running_bot(tmp_path, stricter, channel=channel) as bot:
        await bot.channel.say("/run echo hi")
        await bot.channel.wait_for(is_open)


async def test_a_row_that_says_approved_without_its_votes_runs_nothing(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local | TWO) as bot:
        await bot.channel.say("/run touch made")
        await eventually(lambda: len(bot.channel.cards) == 3, "three copies")
        record = await pending(bot.store)
        ruling = Ruling(ApprovalStatus.APPROVED, "telegram:7", "once", record.created_at)
        await bot.store.approvals.decide(record.approval_id, ruling)
        await bot.parts.broker.catch_up()
        await bot.channel.wait_for(says("nobody consented"))
        assert not (bot.workspace / "made").exists()


async def test_a_vote_of_the_command_line_is_shown_within_a_moment(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local | TWO) as bot:
        await bot.channel.say("/run touch made")
        await eventually(lambda: len(bot.channel.cards) == 3, "three copies")
        await clock_runs(bot.store)
        record = await pending(bot.store)
        now = record.created_at
        ruling = Ruling(ApprovalStatus.APPROVED, "cli:local", "once", now)
        await bot.store.approvals.vote(
            record.approval_id, Vote("local", "cli:local", record.digest, now), ruling
        )
        await bot.parts.broker.catch_up()
        await eventually(lambda: "1 of 2 (cli:local)" in in_chat("9", bot.channel).body, "the vote")


async def test_without_buttons_the_votes_are_typed_and_progress_is_a_line(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = FakeChannel("telegram", capabilities=ChannelCapabilities(max_length=4000))
    config = local | TWO | {"channels.telegram.allow_from": ["1", "7", "8"]}
    async with running_bot(tmp_path, config, channel=channel) as bot:
        await channel.say("/run echo hi")
        await channel.wait_for(says("/approve"))
        await clock_runs(bot.store)
        short = (await pending(bot.store)).approval_id[-6:]
        await channel.say(f"/approve {short}", sender_id="7", chat_id="7")
        await channel.wait_for(says("Approved by telegram:7; 1 more needed"))
        await channel.say("/approvals", sender_id="8", chat_id="8")
        await channel.wait_for(says("(1 of 2 approved)"))
        await channel.say(f"/approve {short}", sender_id="8", chat_id="8")
        await channel.wait_for(says("hi\n"))


class TestFourEyes:
    CONFIG: ClassVar[Config] = {"permissions.approval.requester_may_approve": {"exec": False}}

    async def test_the_card_goes_to_somebody_else_and_the_requester_hears_why_not(
        self, tmp_path: Path, local: Config, is_open: Is, says: Says
    ) -> None:
        config = local | self.CONFIG | {"permissions.admin_users": ["telegram:1", "telegram:7"]}
        async with running_bot(tmp_path, config) as bot:
            await bot.channel.say("/run echo hi")
            card = await bot.channel.wait_for(is_open)
            assert card.ref.address.chat_id == "7"
            await bot.channel.wait_for(says("Waiting for approval"))
            reply = await bot.channel.press("Approve once", sender_id="1")
            assert reply.text == "You asked for this call, so somebody else must decide it."
            assert (await bot.channel.press("Approve once", sender_id="7")).ok
            await bot.channel.wait_for(says("hi\n"))

    async def test_with_nobody_else_the_call_is_denied_at_once(
        self, tmp_path: Path, local: Config, says: Says
    ) -> None:
        async with running_bot(tmp_path, local | self.CONFIG) as bot:
            await bot.channel.say("/run touch made")
            await bot.channel.wait_for(says("no approver could be reached"))

    async def test_whoever_changed_the_call_may_not_approve_it(
        self, tmp_path: Path, local: Config, is_open: Is, says: Says
    ) -> None:
        config = local | self.CONFIG | {"permissions.approval.approvers": ["telegram:7", "telegram:8"]}
        async with running_bot(tmp_path, config) as bot:
            await bot.channel.say("/run echo one")
            await eventually(lambda: len(bot.channel.cards) == 2, "two copies")
            await clock_runs(bot.store)
            assert (await bot.channel.press("Edit", sender_id="7", text="echo two")).ok
            card = await bot.channel.wait_for(lambda m: is_open(m) and "echo two" in m.body)
            assert card.ref.address.chat_id == "8"
            reply = await bot.channel.press("Approve once", sender_id="7", message=card)
            assert reply.text == "You changed this call, so somebody else must decide it."
            assert (await bot.channel.press("Approve once", sender_id="8", message=card)).ok
            await bot.channel.wait_for(says("two\n"))

    async def test_the_pending_list_of_the_requester_does_not_hold_it(
        self, tmp_path: Path, local: Config, is_open: Is
    ) -> None:
        config = local | self.CONFIG | {"permissions.approval.approvers": ["telegram:1", "telegram:7"]}
        async with running_bot(tmp_path, config) as bot:
            await bot.channel.say("/run echo hi")
            await bot.channel.wait_for(is_open)
            assert await bot.parts.inbox.pending(Identity("telegram", "1")) == ()
            assert len(await bot.parts.inbox.pending(Identity("telegram", "7"))) == 1
