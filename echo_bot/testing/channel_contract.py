"""What every channel must do, as pytest tests: subclass `ChannelContract` and give it a `stage`.

What a channel's `capabilities` say it cannot do is not asked of it: without `edits` new text is said below
the old one, without `buttons` a card is its words, without `files` sending one raises `TargetGone`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from echo_bot.channel import Channel, ChannelState
from echo_bot.errors import TargetGone
from echo_bot.events import (
    Address,
    Button,
    ButtonStyle,
    Card,
    CardState,
    CodeBlock,
    Fields,
    OutboundFile,
    OutboundText,
    Paragraph,
    PressReply,
)
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import eventually

CARD = Card(
    card_id="card-1",
    title="exec wants to run",
    blocks=(
        Paragraph("Asked by Ada", strong=True),
        CodeBlock("rm -r build\n*not bold* @everyone <b>", language="bash", label="Command"),
        Fields((("Risk", "exec"), ("Folder", "/srv"))),
    ),
    buttons=(
        Button("Approve once", "token-once", ButtonStyle.PRIMARY),
        Button("Deny", "token-deny", ButtonStyle.DANGER),
    ),
    short_id="abc123",
)
CARD_WORDS = ("exec wants to run", "Asked by Ada", "rm -r build", "*not bold* @everyone <b>", "Risk", "/srv")
_SETTLING_SECONDS = 5.0
CLOSED_CARD = Card(card_id="card-1", title="Approved once by Ada", blocks=(), state=CardState.APPROVED)


class Stage(Protocol):
    """One channel under test with its platform behind it, and one person at the other end."""

    @property
    def channel(self) -> Channel: ...

    @property
    def port(self) -> FakePort: ...

    @property
    def address(self) -> Address: ...

    async def say(self, text: str) -> None: ...

    async def press(self, label: str) -> str:
        """Press a button of the newest message that has it; returns what the presser is told."""
        ...

    def shown(self) -> list[str]:
        """The words of the bot's messages as they stand, oldest first."""
        ...

    def labels(self) -> list[str]:
        """The labels of all buttons that can be pressed now."""
        ...

    def file_names(self) -> list[str]: ...


class ChannelContract:
    """Subclasses provide the fixture `stage`, started."""

    async def test_it_says_that_it_is_connected(self, stage: Stage) -> None:
        await eventually(lambda: stage.channel.health().state is ChannelState.CONNECTED, "a connection")

    async def test_what_a_person_says_is_stored_once(self, stage: Stage) -> None:
        await stage.say("hello")
        event = await stage.port.wait_for_event("hello")
        assert event.address == stage.address
        assert event.channel == stage.channel.name
        assert event.timestamp.tzinfo is not None
        assert (event.unattended, event.cron_authorized, event.is_control) == (False, False, False)
        assert [stored.text for stored in stage.port.stored] == ["hello"]

    async def test_messages_keep_their_order(self, stage: Stage) -> None:
        for number in range(5):
            await stage.say(f"line {number}")
        await stage.port.wait_for_event("line 4")
        assert [event.text for event in stage.port.stored] == [f"line {number}" for number in range(5)]

    async def test_text_is_sent_and_changed_where_it_stands(self, stage: Stage) -> None:
        ref = await stage.channel.send_text(stage.address, OutboundText("thinking", is_draft=True))
        await stage.channel.edit_text(ref, OutboundText("the answer"))
        await _settles(stage.shown, ["the answer"] if _edits(stage) else ["thinking", "the answer"])
        assert ref.address == stage.address

    async def test_an_edit_that_changes_nothing_is_no_error(self, stage: Stage) -> None:
        ref = await stage.channel.send_text(stage.address, OutboundText("same"))
        await stage.channel.edit_text(ref, OutboundText("same"))
        await _settles(lambda: stage.shown()[:1], ["same"])
        assert len(stage.shown()) == 1 or not _edits(stage)

    async def test_literal_text_stays_literal(self, stage: Stage) -> None:
        await stage.channel.send_text(stage.address, OutboundText("*a* <b> `c`", markdown=False))
        await _settles(stage.shown, ["*a* <b> `c`"])

    async def test_a_card_shows_its_call_whole_and_its_buttons(self, stage: Stage) -> None:
        await stage.channel.send_card(stage.address, CARD)
        await eventually(stage.shown, "the card", _SETTLING_SECONDS)
        assert [words for words in CARD_WORDS if words not in stage.shown()[0]] == []
        await _settles(stage.labels, ["Approve once", "Deny"] if stage.channel.capabilities.buttons else [])

    async def test_a_press_reaches_the_port_and_its_answer_the_presser(self, stage: Stage) -> None:
        if not stage.channel.capabilities.buttons:
            return
        ref = await stage.channel.send_card(stage.address, CARD)
        await _settles(stage.labels, ["Approve once", "Deny"])
        told = await stage.press("Approve once")
        press = await stage.port.wait_for_press()
        assert (press.token, press.address, press.message_id) == (
            "token-once",
            stage.address,
            ref.message_id,
        )
        assert told == PressReply("Approved once").text

    async def test_a_closed_card_has_no_buttons(self, stage: Stage) -> None:
        ref = await stage.channel.send_card(stage.address, CARD)
        await stage.channel.edit_card(ref, CLOSED_CARD)
        await _settles(lambda: stage.shown()[-1:], ["Approved once by Ada"])
        assert stage.labels() == []
        assert len(stage.shown()) == 1 or not _edits(stage)

    async def test_a_file_arrives_under_its_name(self, stage: Stage, tmp_path: Path) -> None:
        path = tmp_path / "x7f3"
        path.write_bytes(b"one\r\ntwo\x00")
        file = OutboundFile(str(path), "report.txt", "text/plain")
        if not stage.channel.capabilities.files:
            await _refuses(stage, file)
            return
        await stage.channel.send_file(stage.address, file)
        await _settles(stage.file_names, ["report.txt"])

    async def test_a_typing_sign_is_no_message(self, stage: Stage) -> None:
        await stage.channel.typing(stage.address)
        assert stage.shown() == []

    async def test_stopping_twice_leaves_nothing_behind(self, stage: Stage) -> None:
        await stage.channel.stop()
        await stage.channel.stop()
        assert stage.channel.health().state is ChannelState.STOPPED
        left = [task.get_name() for task in asyncio.all_tasks() if stage.channel.name in task.get_name()]
        assert left == []

    async def test_it_starts_again_after_a_stop(self, stage: Stage) -> None:
        await stage.channel.stop()
        await stage.channel.start(stage.port)
        await stage.say("again")
        await stage.port.wait_for_event("again")
        assert [event.text for event in stage.port.stored] == ["again"]


def _edits(stage: Stage) -> bool:
    return stage.channel.capabilities.edits


async def _settles(look: Callable[[], list[str]], expected: list[str]) -> None:
    """A platform may show what it took a moment later."""
    with suppress(AssertionError):
        await eventually(lambda: look() == expected, "it", _SETTLING_SECONDS)
    assert look() == expected


async def _refuses(stage: Stage, file: OutboundFile) -> None:
    try:
        await stage.channel.send_file(stage.address, file)
    except TargetGone:
        return
    raise AssertionError("a channel that sends no files raises TargetGone, so that the core says so")
