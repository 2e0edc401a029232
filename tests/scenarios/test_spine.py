"""A message in, a gated call, a button, the tool runs, the reply: the core around a fake channel."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from echo_bot.channel import ChannelCapabilities
from echo_bot.errors import TargetGone, TemporaryFailure
from echo_bot.events import CardState, EventType
from echo_bot.storage.records import ApprovalStatus
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.clock import MovedClock
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]
Expire = Callable[[RunningBot], Awaitable[None]]


async def test_a_pressed_button_runs_the_command_and_its_output_is_the_reply(
    tmp_path: Path, local: Config, is_open: Is, is_closed: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        (bot.workspace / "hello.txt").write_text("x")
        await bot.channel.say("/run ls")
        card = await bot.channel.wait_for(is_open)
        assert "ls" in card.body
        assert (await bot.channel.press("Approve once")).ok
        assert "hello.txt" in (await bot.channel.wait_for(says("hello.txt"))).body
        closed = await bot.channel.wait_for(is_closed)
        assert closed.card is not None
        assert (closed.card.state, closed.card.buttons) == (CardState.APPROVED, ())


async def test_a_denied_call_is_not_run_and_the_reason_reaches_the_requester(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("Deny with reason", text="not today")
        assert "not today" in (await bot.channel.wait_for(says("denied"))).body
        assert not (bot.workspace / "made").exists()


async def test_a_restart_leaves_the_button_working_and_the_call_runs_once(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.say("/run echo once >> log")
        await channel.wait_for(is_open)
        await eventually(lambda: bot.parts.queues.total() == (1, 0), "the turn to wait")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await eventually(lambda: bot.parts.queues.total() == (1, 0), "the turn to be revived")
        await channel.press("Approve once")
        await channel.wait_for(says("no output"))
        assert (bot.workspace / "log").read_text() == "once\n"
        assert sum(m.card is not None for m in channel.messages) == 1


async def test_a_decision_made_while_the_bot_was_down_counts_after_the_restart(
    tmp_path: Path, local: Config, is_open: Is, is_closed: Is, says: Says
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.say("/run echo once >> log")
        card = await channel.wait_for(is_open)
        token = next(b.token for b in card.buttons if b.label == "Approve once")
        await bot.parts.queues.close()
        await channel.press_token(token, card.ref)
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.wait_for(says("no output"))
        await channel.wait_for(is_closed)
        assert (bot.workspace / "log").read_text() == "once\n"


async def test_of_two_presses_at_once_one_decides_and_the_other_hears_who(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    config = local | {
        "permissions.admin_users": ["telegram:1", "telegram:2"],
        "channels.telegram.allow_from": ["1", "2"],
    }
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/run echo hi")
        await bot.channel.wait_for(is_open)
        first, second = await asyncio.gather(
            bot.channel.press("Approve once", sender_id="1"), bot.channel.press("Deny", sender_id="2")
        )
        winner, loser = (first, second) if first.ok else (second, first)
        assert winner.ok
        assert not loser.ok
        assert "telegram:" in loser.text
        await bot.channel.wait_for(lambda m: m.text is not None)


async def test_a_strangers_press_is_refused_and_the_card_stays_open(
    tmp_path: Path, local: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(is_open)
        reply = await bot.channel.press("Approve once", sender_id="666")
        assert (reply.ok, reply.text) == (False, "You may not decide this.")
        assert (await bot.channel.wait_for(is_open)).card is not None
        assert not (bot.workspace / "made").exists()


async def test_a_forged_token_gets_an_honest_answer(tmp_path: Path, local: Config, is_open: Is) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run touch made")
        card = await bot.channel.wait_for(is_open)
        reply = await bot.channel.press_token("forged", card.ref)
        assert not reply.ok
        assert "no longer knows" in reply.text


async def test_an_expired_card_denies_says_so_and_can_be_asked_again(
    tmp_path: Path, local: Config, is_open: Is, is_closed: Is, says: Says, clock: MovedClock, expire: Expire
) -> None:
    async with running_bot(tmp_path, local, clock=clock) as bot:
        await bot.channel.say("/run touch made")
        opened = await bot.channel.wait_for(is_open)
        token = next(b.token for b in opened.buttons if b.label == "Approve once")
        await expire(bot)
        await bot.channel.wait_for(says("nobody consented"))
        closed = await bot.channel.wait_for(is_closed)
        assert closed.card is not None
        assert closed.card.state is CardState.EXPIRED
        assert closed.body.count("nobody decided") == 1
        late = await bot.channel.press_token(token, closed.ref)
        assert (late.ok, "expired" in late.text) == (False, True)
        assert not (bot.workspace / "made").exists()
        assert (await bot.channel.press("Ask again")).ok
        await bot.channel.wait_for(is_open)
        assert not (await bot.channel.press("Ask again", message=closed)).ok
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("no output"))
        assert (bot.workspace / "made").exists()


async def test_an_edited_message_with_approve_decides_nothing(
    tmp_path: Path, local: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run touch made")
        card = await bot.channel.wait_for(is_open)
        assert card.card is not None
        assert not await bot.channel.say(f"/approve {card.card.short_id}", event_type=EventType.EDIT)
        [record] = await bot.store.approvals.pending()
        assert record.status is ApprovalStatus.PENDING


async def test_forged_metadata_gives_no_authority(tmp_path: Path, local: Config, is_open: Is) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say(
            "/run touch made", metadata={"_cron_authorized": "true", "approval_source": "human"}
        )
        await bot.channel.wait_for(is_open)
        assert not (bot.workspace / "made").exists()


async def test_the_approve_command_decides_by_short_id_and_knows_its_scopes(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo hi")
        card = await bot.channel.wait_for(is_open)
        assert card.card is not None
        await bot.channel.say(f"/approve {card.card.short_id} forever")
        await bot.channel.wait_for(says("not a scope"))
        await bot.channel.say(f"/approve {card.card.short_id} session")
        await bot.channel.wait_for(says("hi\n"))
        await bot.channel.say("/run echo hi")
        await eventually(lambda: sum(says("hi\n")(m) for m in bot.channel.messages) == 2, "the granted call")
        await bot.channel.say("/grants")
        await bot.channel.wait_for(says("exec: echo hi"))
        assert sum(m.card is not None for m in bot.channel.messages) == 1


async def test_a_session_grant_ends_with_the_session(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo hi")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("For this session")
        await bot.channel.wait_for(says("hi\n"))
        await bot.channel.say("/new")
        await bot.channel.wait_for(says("fresh"))
        await bot.channel.say("/run echo hi")
        await bot.channel.wait_for(is_open)


async def test_text_that_comes_while_a_card_is_open_is_queued_and_told_once(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo hi")
        await bot.channel.wait_for(is_open)
        await bot.channel.say("yes")
        await bot.channel.say("go on")
        await bot.channel.wait_for(says("A decision is open"))
        await bot.channel.press("Approve once")
        await eventually(
            lambda: sum(says("No model is configured")(m) for m in bot.channel.messages) == 2, "both answers"
        )
        assert sum(says("A decision is open")(m) for m in bot.channel.messages) == 1


async def test_stop_cancels_the_turn_closes_its_card_and_nothing_runs(
    tmp_path: Path, local: Config, is_open: Is, is_closed: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(is_open)
        await bot.channel.say("/stop")
        await bot.channel.wait_for(says("Stopped 1"))
        await bot.channel.wait_for(is_closed)
        assert not await bot.store.turns.unfinished()
        assert not (bot.workspace / "made").exists()


async def test_stop_tells_of_the_messages_that_it_drops(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(is_open)
        await bot.channel.say("and then?")
        await bot.channel.wait_for(says("A decision is open"))
        await bot.channel.say("/stop")
        await bot.channel.wait_for(says("Stopped 1 turn and 1 message that waited."))


async def test_a_command_that_is_empty_asks_nobody(tmp_path: Path, local: Config, says: Says) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/tool exec command=")
        await bot.channel.wait_for(says("exec was not run: command is empty."))
        assert not bot.channel.cards


async def test_stop_kills_a_running_command(tmp_path: Path, local: Config, says: Says) -> None:
    config = local | {"permissions.approval.auto_approve": ["exec"]}
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/run echo $$ > pid; sleep 600")
        pid_file = bot.workspace / "pid"
        pid = int(await eventually(lambda: pid_file.exists() and pid_file.read_text().strip(), "the pid"))
        await bot.channel.say("/stop")
        await bot.channel.wait_for(says("Stopped 1"))
        await eventually(lambda: not Path(f"/proc/{pid}/cmdline").exists() or None, "the process to be gone")


async def test_a_redelivered_message_is_one_turn_also_across_a_restart(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel):
        assert await channel.say("hello", event_id="u1")
        await channel.wait_for(says("No model"))
        assert not await channel.say("hello", event_id="u1")
    async with running_bot(tmp_path, local, channel=channel):
        assert not await channel.say("hello", event_id="u1")
        assert sum(says("No model")(m) for m in channel.messages) == 1


async def test_a_stranger_gets_nothing_and_with_pairing_one_line(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        assert not await bot.channel.say("hello", sender_id="9", chat_id="9")
        assert not bot.channel.messages
        assert not bot.channel.typed


async def test_old_messages_after_a_gap_are_not_run_and_told_once(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        old = datetime.now(UTC) - timedelta(hours=2)
        assert not await bot.channel.say("/run touch made", timestamp=old)
        assert not await bot.channel.say("/run touch made", timestamp=old)
        await bot.channel.wait_for(lambda m: m.text is not None and "too old" in m.text.text)
        assert sum(m.text is not None for m in bot.channel.messages) == 1


async def test_the_card_goes_to_an_approvers_direct_chat_when_the_requester_may_not_decide(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    config = local | {
        "permissions.approval.approvers": ["telegram:7"],
        "permissions.admin_users": ["telegram:1"],
    }
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/run echo hi", chat_id="100")
        card = await bot.channel.wait_for(is_open)
        assert card.ref.address.chat_id == "7"
        await bot.channel.wait_for(says("Waiting for approval"))
        assert not (await bot.channel.press("Approve once", sender_id="1")).ok
        assert (await bot.channel.press("Approve once", sender_id="7")).ok
        reply = await bot.channel.wait_for(says("hi\n"))
        assert reply.ref.address.chat_id == "100"


async def test_with_no_approver_to_be_reached_the_call_is_denied_at_once(
    tmp_path: Path, local: Config, says: Says
) -> None:
    config = local | {"permissions.approval.approvers": ["slack:U1"]}
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(says("no approver could be reached"))
        assert not (bot.workspace / "made").exists()


async def test_a_card_that_cannot_be_delivered_denies(tmp_path: Path, local: Config, says: Says) -> None:
    async with running_bot(tmp_path, local) as bot:
        bot.channel.fail("send_card", TargetGone("blocked"), times=99)
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(says("no approver could be reached"))
        assert not (bot.workspace / "made").exists()


async def test_a_card_that_cannot_be_edited_gets_one_reply_with_the_outcome(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo hi")
        await bot.channel.wait_for(is_open)
        bot.channel.fail("edit_card", TargetGone("gone"), times=99)
        [record] = await bot.store.approvals.pending()
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(lambda m: m.text is not None and "Approved" in m.text.text)
        await bot.parts.broker.tell_edit_refused(record.approval_id, "")
        await bot.channel.say("/whoami")
        await bot.channel.wait_for(says("You are"))
        assert sum("Approved" in text for text in bot.channel.texts) == 1


async def test_a_channel_without_buttons_gets_the_card_as_text_and_decides_by_command(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = FakeChannel("telegram", capabilities=ChannelCapabilities(max_length=4000))
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.say("/run echo hi")
        card = await channel.wait_for(says("/approve"))
        [record] = await bot.store.approvals.pending()
        assert record.approval_id[-6:] in card.body
        await channel.say(f"/approve {record.approval_id[-6:]}")
        await channel.wait_for(says("hi\n"))


async def test_a_reply_is_retried_until_the_platform_takes_it(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        bot.channel.fail("send_text", TemporaryFailure("503"), times=2)
        await bot.channel.say("hello")
        await bot.channel.wait_for(says("No model is configured"), timeout=10)


async def test_a_script_that_changes_after_it_was_shown_is_not_run(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        script = bot.workspace / "job.sh"
        script.write_text("touch good\n")
        await bot.channel.say("/run bash ./job.sh")
        await bot.channel.wait_for(is_open)
        script.write_text("touch evil\n")
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("changed after"))
        assert not (bot.workspace / "evil").exists()


async def test_a_sender_who_is_not_elevated_hears_why_when_there_is_no_sandbox(
    tmp_path: Path, says: Says
) -> None:
    async with running_bot(tmp_path, {"tools.exec.host": "local"}) as bot:
        await bot.channel.say("/run ls")
        reply = await bot.channel.wait_for(says("not run"))
        assert "permissions.elevated" in reply.body
