"""The terminal channel with a person at the keys: what is said, asked, decided, stopped."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol

import pytest

from channels.cli import MANIFEST
from channels.cli.adapter import TerminalChannel
from channels.cli.inbound import CHAT
from echo_bot.channel import Prompt, TranscriptEntry
from echo_bot.errors import StorageError, TargetGone
from echo_bot.events import (
    Button,
    Card,
    CardState,
    Identity,
    MessageRef,
    OutboundFile,
    OutboundText,
    Paragraph,
    PressReply,
)
from echo_bot.testing.channel_contract import CARD, CARD_WORDS, CLOSED_CARD, ChannelContract, Stage
from echo_bot.testing.waiting import eventually

CTRL_C, CTRL_D, ALT_ENTER = "\x03", "\x04", "\x1b\r"
REASON = Card(
    "card-2", "Deny?", (), (Button("Deny with reason", "t-reason", prompt="Why not?"),), short_id="r2"
)


class TestContract(ChannelContract):
    async def test_a_card_shows_its_call_whole_and_its_buttons(self, stage: Stage) -> None:
        """It is printed when its turn comes: here, at once."""
        await stage.channel.send_card(stage.address, CARD)
        await eventually(stage.shown, "the card")
        assert all(words in stage.shown()[0] for words in CARD_WORDS)
        assert stage.labels() == ["Approve once", "Deny"]

    async def test_a_closed_card_has_no_buttons(self, stage: Stage) -> None:
        """What was printed stays; the outcome follows as a line."""
        ref = await stage.channel.send_card(stage.address, CARD)
        await stage.channel.edit_card(ref, CLOSED_CARD)
        assert stage.labels() == []
        assert stage.shown()[-1] == "✓ Approved once by Ada"


class Terminal(Stage, Protocol):
    @property
    def channel(self) -> TerminalChannel: ...

    leaves: list[str]

    def keys(self, text: str) -> None: ...

    def printed(self) -> list[str]: ...

    async def wait_for(self, part: str, count: int = 1) -> str: ...

    async def asked(self, words: str = "then Enter") -> None: ...


def test_the_manifest_names_the_adapter() -> None:
    assert (MANIFEST.name, MANIFEST.build) == ("cli", "channels.cli.adapter:build")


async def test_a_message_may_have_several_lines(stage: Terminal) -> None:
    stage.keys(f"one{ALT_ENTER}two\r")
    assert (await stage.port.wait_for_event("one")).text == "one\ntwo"


async def test_a_pasted_text_is_one_message(stage: Terminal) -> None:
    stage.keys("\x1b[200~one\ntwo\n\x1b[201~\r")
    assert (await stage.port.wait_for_event("one")).text == "one\ntwo"


async def test_enter_alone_says_nothing(stage: Terminal) -> None:
    stage.keys("\r  \rhello\r")
    await stage.port.wait_for_event("hello")
    assert [event.text for event in stage.port.stored] == ["hello"]


async def test_a_message_that_could_not_be_stored_is_said_so(stage: Terminal) -> None:
    stage.port.fail(StorageError("the disk is full"))
    stage.keys("hello\r")
    await stage.wait_for("Not stored: the disk is full")


async def test_a_draft_is_not_printed_and_its_final_text_once(stage: Terminal) -> None:
    ref = await stage.channel.send_text(CHAT, OutboundText("thin", markdown=False, is_draft=True))
    await stage.asked("thin")
    await stage.channel.edit_text(ref, OutboundText("thinking done"))
    await stage.channel.edit_text(ref, OutboundText("thinking done"))
    assert [text.strip() for text in stage.printed()] == ["thinking done"]


async def test_free_text_never_decides_a_card(stage: Terminal) -> None:
    await stage.channel.send_card(CHAT, CARD)
    await stage.asked()
    stage.keys("yes please\r")
    assert "o, d" in await stage.wait_for("Nothing was decided")
    await stage.asked()
    stage.keys("\r\rd\r")
    assert (await stage.port.wait_for_press()).token == "token-deny"
    assert len(stage.port.presses) == 1


async def test_keys_pressed_before_the_card_was_drawn_are_dropped(stage: Terminal) -> None:
    stage.keys("half a mess")
    await stage.asked("half a mess")
    await stage.channel.send_card(CHAT, CARD)
    stage.keys("o\r")  # meant for the message, and there before the prompt of the card is
    await stage.asked()
    stage.keys("d\r")
    assert (await stage.port.wait_for_press()).token == "token-deny"


async def test_a_half_written_message_comes_back_after_the_card(stage: Terminal) -> None:
    stage.keys("half")
    await stage.asked("half")
    ref = await stage.channel.send_card(CHAT, CARD)
    await stage.asked()
    await stage.channel.edit_card(ref, replace(CARD, state=CardState.DENIED, buttons=()))
    await stage.asked("half")
    stage.keys(" done\r")
    assert (await stage.port.wait_for_event("half")).text == "half done"


async def test_commands_work_while_a_card_is_open(stage: Terminal) -> None:
    await stage.channel.send_card(CHAT, CARD)
    await stage.asked()
    stage.keys("/status\r")
    await stage.port.wait_for_event("/status")
    assert stage.port.presses == []


async def test_a_button_with_a_prompt_asks_for_its_text(stage: Terminal) -> None:
    await stage.channel.send_card(CHAT, REASON)
    await stage.asked()
    stage.keys("r\r")
    await stage.asked("Why?")
    stage.keys("not today\r")
    press = await stage.port.wait_for_press()
    assert (press.token, press.text, press.presser) == ("t-reason", "not today", Identity("cli", "local"))


EDIT = Card("card-3", "Run?", (), (Button("Edit", "t-edit", prompt="Change it."),), short_id="e3")


async def test_an_edit_begins_with_the_call_and_a_refused_one_with_its_words(stage: Terminal) -> None:
    stage.port.asks = Prompt("Change the call.", initial="ls -la", title="Edit exec")
    stage.port._reply = PressReply("That does not fit.", ok=False)
    await stage.channel.send_card(CHAT, EDIT)
    await stage.asked()
    stage.keys("e\r")
    await stage.asked("ls -la")
    stage.keys(" x\r")
    await stage.wait_for("That does not fit.")
    assert stage.port.presses[-1].text == "ls -la x"
    await stage.asked()
    stage.port._reply = PressReply("Changed.")
    stage.keys("e\r")
    await stage.asked("ls -la x")
    stage.keys("\x7f\x7fy\r")
    assert (await stage.port.wait_for_press(2)).text == "ls -lay"


async def test_who_may_not_decide_is_told_before_writing(stage: Terminal) -> None:
    stage.port.asks = PressReply("You may not decide this.", ok=False)
    await stage.channel.send_card(CHAT, EDIT)
    await stage.asked()
    stage.keys("e\r")
    await stage.wait_for("You may not decide this.")
    await stage.asked()
    assert stage.port.presses == []


async def test_an_approval_that_is_one_of_several_is_not_asked_for_again(stage: Terminal) -> None:
    stage.port._reply = PressReply("Your approval counts; 1 more needed before it runs.")
    ref = await stage.channel.send_card(CHAT, CARD)
    await stage.asked()
    stage.keys("o\r")
    await stage.wait_for("Your approval counts")
    await stage.channel.edit_card(ref, CARD)
    assert stage.labels() == []
    await stage.channel.edit_card(ref, CLOSED_CARD)
    await stage.wait_for("Approved once by Ada")


async def test_a_card_that_was_asked_for_by_a_command_comes_first(stage: Terminal) -> None:
    await stage.channel.send_card(CHAT, CARD)
    await stage.asked()
    stage.keys("/approvals\r")
    await stage.port.wait_for_event("/approvals")
    await stage.channel.send_card(CHAT, REASON)
    await stage.asked("(r2)")
    await stage.channel.send_card(CHAT, EDIT)
    assert stage.labels() == ["Deny with reason"]


async def test_a_refused_press_is_told_and_asked_again(stage: Terminal) -> None:
    stage.port._reply = PressReply("You may not decide this.", ok=False)
    await stage.channel.send_card(CHAT, CARD)
    await stage.asked()
    stage.keys("o\r")
    await stage.wait_for("You may not decide this.")
    await stage.asked()
    assert stage.labels() == ["Approve once", "Deny"]


async def test_cards_are_asked_one_after_the_other(stage: Terminal) -> None:
    ref = await stage.channel.send_card(CHAT, CARD)
    await stage.asked()
    await stage.channel.send_card(CHAT, REASON)
    assert not any("Deny?" in text for text in stage.printed())
    await stage.channel.edit_card(ref, CLOSED_CARD)
    await stage.wait_for("Deny?")
    await stage.asked("(r2)")


async def test_a_waiting_card_decided_elsewhere_leaves_the_asked_one_alone(stage: Terminal) -> None:
    await stage.channel.send_card(CHAT, CARD)
    second = await stage.channel.send_card(CHAT, REASON)
    await stage.asked()
    await stage.channel.edit_card(second, replace(REASON, state=CardState.APPROVED, buttons=()))
    assert stage.labels() == ["Approve once", "Deny"]


async def test_an_outcome_is_told_once(stage: Terminal) -> None:
    ref = MessageRef(CHAT, "card:card-1")
    await stage.channel.edit_card(ref, CLOSED_CARD)
    await stage.channel.edit_card(ref, CLOSED_CARD)
    assert len(stage.printed()) == 1


async def test_the_buttons_of_a_closed_card_are_commands(stage: Terminal) -> None:
    closed = Card("c", "Old", (), (Button("Ask again", "t-again"),), state=CardState.EXPIRED)
    await stage.channel.edit_card(MessageRef(CHAT, "card:c"), closed)
    await stage.wait_for("/ask-again")
    stage.keys("/ask-again\r")
    assert (await stage.port.wait_for_press()).token == "t-again"
    assert stage.port.stored == []


async def test_ctrl_c_stops_the_turn_first_and_the_bot_at_the_second_time(stage: Terminal) -> None:
    await stage.channel.typing(CHAT)
    stage.keys(CTRL_C)
    await stage.port.wait_for_event("/stop")
    stage.keys(CTRL_C)
    await stage.asked("Press Ctrl-C again")
    assert stage.leaves == []
    stage.keys(CTRL_C)
    await eventually(lambda: stage.leaves, "the leave")


async def test_ctrl_c_clears_a_line_first(stage: Terminal) -> None:
    stage.keys(f"oops{CTRL_C}hello\r")
    assert (await stage.port.wait_for_event("hello")).text == "hello"


@pytest.mark.parametrize("keys", [CTRL_D, "/exit\r", "/quit\r"])
async def test_leaving(stage: Terminal, keys: str) -> None:
    stage.keys(keys)
    await eventually(lambda: stage.leaves, "the leave")
    assert stage.port.stored == []


async def test_leaving_from_a_card(stage: Terminal) -> None:
    await stage.channel.send_card(CHAT, CARD)
    await stage.asked()
    stage.keys(CTRL_D)
    await eventually(lambda: stage.leaves, "the leave")
    assert stage.port.presses == []


async def test_a_stop_takes_an_open_card_prompt_away(stage: Terminal) -> None:
    await stage.channel.send_card(CHAT, CARD)
    await stage.asked()
    await stage.channel.stop()
    assert stage.port.presses == []


async def test_open_cards_of_an_earlier_run_are_asked_again(stage: Terminal) -> None:
    await stage.channel.stop()
    stage.port.entries = (TranscriptEntry("card:card-1", "card", "", datetime.now(UTC), CARD),)
    await stage.channel.start(stage.port)
    await stage.asked()
    stage.keys("o\r")
    assert (await stage.port.wait_for_press()).message_id == "card:card-1"


async def test_a_card_learns_its_end_once_its_clock_runs(stage: Terminal) -> None:
    stage.port.open_cards = (replace(CARD, deadline=datetime(2100, 1, 1, tzinfo=UTC)),)
    await stage.channel.send_card(CHAT, CARD)
    await stage.asked("s left")


async def test_a_file_that_is_gone_is_no_message(stage: Terminal) -> None:
    with pytest.raises(TargetGone):
        await stage.channel.send_file(CHAT, OutboundFile("/nonexistent/x", "x"))


async def test_a_card_without_buttons_is_only_shown(stage: Terminal) -> None:
    await stage.channel.send_card(CHAT, Card("c", "Part 1", (Paragraph("words"),)))
    assert "words" in stage.printed()[0]
    assert stage.labels() == []
