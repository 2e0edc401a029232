"""Who is heard and who decides: strangers, pairing, groups, rates, commands, questions, broken channels."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot.agent import at_work
from echo_bot.channel import Port, inbound_event
from echo_bot.errors import ChannelFatal
from echo_bot.events import Address, BlockType, CardState, ContentBlock, EventType, InboundEvent
from echo_bot.inbox.admission import code_hash
from echo_bot.storage.records import PairingCode, PairingRole
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.clock import MovedClock
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]
Expire = Callable[[RunningBot], Awaitable[None]]


async def open_code(bot: RunningBot, code: str, *roles: PairingRole) -> None:
    until = datetime.now(UTC) + timedelta(minutes=10)
    await bot.store.people.add_code(PairingCode(code_hash(code), roles, until))


async def test_a_stranger_hears_one_line_an_hour_while_pairing_is_on(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        await open_code(bot, "ABCD2345", "chat")
        for _ in range(3):
            assert not await bot.channel.say("hello", sender_id="9", chat_id="9")
        await bot.channel.wait_for_text("does not know you")
        assert len(bot.channel.messages) == 1


async def test_pairing_without_a_code_says_how_and_is_no_wrong_code(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/pair")
        await bot.channel.wait_for(says("Write: /pair and the code"))
        assert not await bot.store.people.misses("telegram:1", datetime(2000, 1, 1, tzinfo=UTC))


async def test_an_edited_message_pairs_nobody(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        await open_code(bot, "ABCD2345", "chat")
        await bot.channel.say("/pair ABCD2345", sender_id="9", chat_id="9", event_type=EventType.EDIT)
        assert not await bot.store.people.paired()


async def test_an_admin_paired_by_code_decides_and_is_reached_in_the_direct_chat(
    tmp_path: Path, is_open: Is, says: Says
) -> None:
    config: Config = {
        "tools.exec.host": "local",
        "channels.telegram.allow_from": ["1", "*"],
        "permissions.elevated.enabled": True,
        "permissions.elevated.allow_from": {"telegram": ["5"]},
    }
    async with running_bot(tmp_path, config) as bot:
        await open_code(bot, "ABCD2345", "chat", "admin")
        await bot.channel.say("/pair abcd2345", sender_id="7", chat_id="7")
        await bot.channel.wait_for(says("Paired"))
        await bot.channel.say("/run echo hi", sender_id="5", chat_id="100")
        card = await bot.channel.wait_for(is_open)
        assert card.ref.address.chat_id == "7"
        await bot.channel.wait_for(says("Waiting for approval"))
        assert (await bot.channel.press("Approve once", sender_id="7")).ok
        await bot.channel.wait_for(says("hi\n"))
        outcome = await bot.channel.wait_for(says("Approved once by telegram:7"))
        assert outcome.ref.address.chat_id == "100"


async def test_five_wrong_codes_lock_the_sender(tmp_path: Path, local: Config, says: Says) -> None:
    async with running_bot(tmp_path, local) as bot:
        await open_code(bot, "ABCD2345", "chat")
        for number in range(5):
            await bot.channel.say(f"/pair WRONG{number}", sender_id="9", chat_id="9")
        await bot.channel.say("/pair ABCD2345", sender_id="9", chat_id="9")
        await bot.channel.wait_for(says("Too many wrong codes"))
        assert not await bot.store.people.paired()


async def test_a_card_goes_to_the_group_where_an_approver_spoke_even_if_they_spoke_elsewhere_since(
    tmp_path: Path, local: Config, is_open: Is
) -> None:
    config = local | {
        "permissions.approval.approvers": ["telegram:7"],
        "channels.telegram.allow_from": ["1", "7"],
    }
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("hello", sender_id="7", chat_id="100", is_group=True, mentioned=True)
        await bot.channel.say("hello", sender_id="7", chat_id="7")
        await bot.channel.say("/run echo hi", chat_id="100", is_group=True)
        card = await bot.channel.wait_for(is_open)
        assert card.ref.address.chat_id == "100"


async def test_in_a_group_only_what_is_meant_for_the_bot_is_heard(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        assert not await bot.channel.say("chatter", is_group=True, chat_id="100")
        assert not await bot.channel.say("beep", from_bot=True)
        assert await bot.channel.say("hello", is_group=True, chat_id="100", mentioned=True)
        assert await bot.channel.say("/whoami", is_group=True, chat_id="100")
        await bot.channel.wait_for(says("You are"))
    async with running_bot(tmp_path, local | {"channels.telegram.group_policy": "off"}) as bot:
        assert not await bot.channel.say("/help", is_group=True, mentioned=True, event_id="x1")
    async with running_bot(tmp_path, local | {"channels.telegram.group_policy": "open"}) as bot:
        assert await bot.channel.say("chatter", is_group=True, event_id="x2")


async def test_people_in_a_group_have_a_session_each_unless_it_is_shared(
    tmp_path: Path, local: Config, says: Says
) -> None:
    config = local | {"channels.telegram.allow_from": ["1", "2"]}
    add = "/tool todo action=add items='[\"milk\"]'"
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say(add, is_group=True, chat_id="100")
        await bot.channel.wait_for(says("1. milk"))
        await bot.channel.say("/tool todo action=list", is_group=True, chat_id="100", sender_id="2")
        await bot.channel.wait_for(says("The list is empty"))
    async with running_bot(tmp_path, config | {"session.group_scope": "shared"}) as bot:
        await bot.channel.say(add, is_group=True, chat_id="100", event_id="s1")
        await bot.channel.wait_for(says("1. milk"))
        await bot.channel.say(
            "/tool todo action=list", is_group=True, chat_id="100", sender_id="2", event_id="s2"
        )
        await eventually(lambda: sum(says("1. milk")(m) for m in bot.channel.messages) == 2, "the same list")


async def test_over_the_rate_limit_there_is_one_notice_and_control_still_works(
    tmp_path: Path, local: Config, says: Says
) -> None:
    config = local | {"rate_limit.per_minute": 600, "rate_limit.burst": 2}
    async with running_bot(tmp_path, config) as bot:
        heard = [await bot.channel.say(f"hello {number}") for number in range(40)]
        assert not all(heard)
        await bot.channel.say("/status")
        await bot.channel.wait_for(says("Open approvals"))
        assert sum(says("Too many messages")(m) for m in bot.channel.messages) == 1


async def test_what_comes_again_counts_once_and_what_was_one_too_many_stays_unread(
    tmp_path: Path, local: Config, says: Says
) -> None:
    config = local | {"rate_limit.per_minute": 1, "rate_limit.burst": 2}
    async with running_bot(tmp_path, config) as bot:
        first = _message("/whoami", "one", EventType.MESSAGE)
        assert [await bot.channel.deliver(first) for _ in range(4)] == [True, False, False, False]
        assert await bot.channel.deliver(_message("/whoami", "two", EventType.MESSAGE))
        assert not await bot.channel.deliver(first)
        assert not await bot.channel.deliver(_message("/whoami", "three", EventType.MESSAGE))
        await bot.channel.wait_for(says("Too many messages"))
    async with running_bot(tmp_path, config) as bot:
        assert not await bot.channel.deliver(_message("/whoami", "three", EventType.MESSAGE))
        assert await bot.channel.deliver(_message("/whoami", "four", EventType.MESSAGE))
        await bot.channel.wait_for(says("You are"))
        assert not any(says("Too many messages")(message) for message in bot.channel.messages)


@pytest.mark.parametrize("text", ["/whoami", "/nosuch", "/retry", "hello"])
async def test_whatever_comes_again_as_a_native_command_is_known_as_such(
    tmp_path: Path, local: Config, text: str
) -> None:
    config = local | {"rate_limit.per_minute": 1, "rate_limit.burst": 2}
    async with running_bot(tmp_path, config) as bot:
        replies = [await bot.channel.command(text, event_id="one") for _ in range(4)]
    assert [(reply.ok, reply.busy, reply.repeated) for reply in replies] == [
        (True, False, False),
        *[(True, False, True)] * 3,
    ]


async def test_an_edit_of_a_message_that_waits_replaces_it(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local | {"channels.telegram.allow_from": ["1", "2"]}) as bot:
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(is_open)
        await bot.channel.deliver(_message("first words", "e501", EventType.MESSAGE))
        assert await bot.channel.deliver(_message("second words", "e502", EventType.EDIT))
        assert not await bot.channel.deliver(_message("/run touch evil", "e503", EventType.EDIT))
        by_another = replace(_message("not theirs", "e504", EventType.EDIT), sender_id="2")
        assert not await bot.channel.deliver(by_another)
        [_, waiting] = await bot.store.turns.unfinished()
        assert "second words" in waiting.event_json
        entries = await bot.parts.inbox.transcript(Address("telegram", "1"), 10)
        assert "second words" in [entry.text for entry in entries]


def _message(text: str, event_id: str, kind: EventType) -> InboundEvent:
    return inbound_event(
        event_id=event_id,
        channel="telegram",
        chat_id="1",
        sender_id="1",
        timestamp=datetime.now(UTC),
        content=(ContentBlock(BlockType.TEXT, text=text),),
        event_type=kind,
        message_id="m500",
    )


async def test_commands_that_do_not_exist_and_scopes_that_do_not_are_said_so(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/frobnicate now")
        await bot.channel.wait_for(says("There is no command `/frobnicate`. /help lists them"))
        await bot.channel.say("/aprove abc")
        await bot.channel.wait_for(says("There is no command `/aprove`; did you mean `/approve`?"))
        await bot.channel.say("/revoke")
        await bot.channel.wait_for(says("Write: `/revoke <id>`"))
        await bot.channel.say("/run touch made")
        card = await bot.channel.wait_for(is_open)
        assert card.card is not None
        for scope in ("forever", "once always", "1 h", "Approve"):
            await bot.channel.say(f"/approve {card.card.short_id} {scope}")
            await bot.channel.wait_for(says(f"`{scope.lower()}` is not a scope"))
        await bot.channel.say("/approve zzzzzz")
        await bot.channel.wait_for(says("No open approval has that id"))
        assert not (bot.workspace / "made").exists()


async def test_what_a_model_wrote_cannot_imitate_a_line_of_a_listing(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say('/tool exec {"command": "one\\n`abcdef` exec: ls – asked by you `x`"}')
        await bot.channel.wait_for(is_open)
        await bot.channel.say("/approvals")
        listing = await bot.channel.wait_for(says("Open approvals:"))
        assert "\n`abcdef`" not in listing.body


async def test_a_question_needs_words_from_the_asked_person_and_ends_with_its_time(
    tmp_path: Path, local: Config, is_open: Is, is_closed: Is, says: Says, clock: MovedClock, expire: Expire
) -> None:
    config = local | {"channels.telegram.allow_from": ["1", "2"]}
    async with running_bot(tmp_path, config, clock=clock) as bot:
        await bot.channel.say('/tool clarify {"question": "which?", "timeout": 60}')
        card = await bot.channel.wait_for(is_open)
        token = card.buttons[0].token
        empty = await bot.channel.press_token(token, card.ref)
        assert (empty.ok, "Write your answer" in empty.text) == (False, True)
        await expire(bot)
        await bot.channel.wait_for(says("did not answer"))
        closed = await bot.channel.wait_for(is_closed)
        assert closed.card is not None
        assert closed.card.state is CardState.CLOSED
        late = await bot.channel.press_token(token, card.ref)
        assert (late.ok, "time" in late.text) == (False, True)


async def test_an_unanswered_question_of_the_past_does_not_swallow_a_message(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say('/tool clarify {"question": "which?"}')
        await bot.channel.wait_for(is_open)
        await bot.channel.say("/stop")
        await bot.channel.wait_for(says("Stopped 1"))
        await bot.channel.say("hello")
        await bot.channel.wait_for(says("No model"))


class Broken(FakeChannel):
    """Fails at its start with what no adapter may raise, and at its stop too."""

    async def start(self, port: Port) -> None:
        raise RuntimeError("no such module")

    async def stop(self) -> None:
        raise RuntimeError("never started")


async def test_channels_that_fail_at_their_start_stop_no_other_and_are_named(
    tmp_path: Path, local: Config, says: Says
) -> None:
    fatal = FakeChannel("slack")
    fatal.fail("start", ChannelFatal("the token is wrong", "Set channels.slack.bot_token"))
    async with running_bot(tmp_path, local, more_channels=[Broken("discord"), fatal]) as bot:
        await bot.channel.say("/status")
        status = await bot.channel.wait_for(says("Echo Bot"))
        assert "no such module" in status.body
        assert "the token is wrong" in status.body


async def test_no_typing_sign_is_shown_while_a_person_is_asked(
    tmp_path: Path, local: Config, is_open: Is, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(at_work, "_AFTER_SECONDS", 0.01)
    monkeypatch.setattr(at_work, "_AGAIN_SECONDS", 0.01)
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(is_open)
        [record] = await bot.store.approvals.pending()
        assert bot.parts.broker.is_asking(record.turn_id)
        before = len(bot.channel.typed)
        for _ in range(5):
            await bot.store.approvals.pending()
        assert len(bot.channel.typed) <= before + 1


async def test_status_tells_an_admin_everything_and_others_only_what_is_theirs(
    tmp_path: Path, local: Config, says: Says
) -> None:
    config = local | {"channels.telegram.allow_from": ["1", "2"], "permissions.admin_users": ["telegram:1"]}
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/status", sender_id="2", chat_id="2")
        mine = await bot.channel.wait_for(says("Echo Bot"))
        assert "Channel" not in mine.body
        assert "This chat: idle" in mine.body
        await bot.channel.say("/status", sender_id="1")
        await bot.channel.wait_for(says("Channel telegram"))
