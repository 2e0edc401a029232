"""The channel on a pipe: lines in, plain text out, the end of the input ends only the reading."""

from __future__ import annotations

import io
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from channels.cli.inbound import CHAT
from channels.cli.plain import PlainChannel
from echo_bot.channel import ChannelState
from echo_bot.errors import StorageError, TargetGone, TemporaryFailure
from echo_bot.events import Card, MessageRef, OutboundFile, OutboundText
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import eventually


@dataclass
class Piped:
    channel: PlainChannel
    write_end: int
    target: io.StringIO
    port: FakePort = field(default_factory=FakePort)


@pytest.fixture
async def piped() -> AsyncIterator[Piped]:
    read_end, write_end = os.pipe()
    target = io.StringIO()
    piped = Piped(PlainChannel(read_end, target), write_end, target)
    await piped.channel.start(piped.port)
    yield piped
    await piped.channel.stop()
    await piped.channel.stop()
    os.close(read_end)


async def test_lines_are_messages_and_the_end_is_not_the_end_of_the_channel(piped: Piped) -> None:
    os.write(piped.write_end, b"one\n\n  \nt")
    await piped.port.wait_for_event("one")
    os.write(piped.write_end, b"wo \xff\nthree")
    os.close(piped.write_end)
    await piped.port.wait_for_event("three")
    assert [event.text for event in piped.port.stored] == ["one", "two \ufffd", "three"]
    assert piped.channel.health().state is ChannelState.CONNECTED
    await piped.channel.send_text(CHAT, OutboundText("**still** here"))
    assert piped.target.getvalue() == "still here\n\n"


async def test_a_card_is_its_text_with_the_commands_to_type(piped: Piped) -> None:
    assert not piped.channel.capabilities.buttons
    await piped.channel.send_card(CHAT, Card("c", "Run?", (), fallback="Run?\n/approve abc\x1b[2J"))
    assert piped.target.getvalue() == "Run?\n/approve abc\\u{1B}[2J\n\n"


async def test_what_was_not_stored_is_said(piped: Piped) -> None:
    piped.port.fail(StorageError("the disk is full"))
    os.write(piped.write_end, b"hello\n")
    await eventually(lambda: "Not stored: the disk is full" in piped.target.getvalue(), "the sentence")


async def test_a_stranger_is_told(piped: Piped) -> None:
    piped.port.strangers.add("local")
    os.write(piped.write_end, b"hello\n")
    await eventually(lambda: "may not write here" in piped.target.getvalue(), "the sentence")


async def test_an_edit_is_a_new_text(piped: Piped) -> None:
    await piped.channel.edit_text(MessageRef(CHAT, "m"), OutboundText("<b>", markdown=False))
    assert piped.target.getvalue() == "<b>\n\n"


async def test_a_file_is_named(piped: Piped, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("x")
    await piped.channel.send_file(CHAT, OutboundFile(str(path), "report.txt"))
    assert piped.target.getvalue() == f"File report.txt: {path}\n\n"
    with pytest.raises(TargetGone):
        await piped.channel.send_file(CHAT, OutboundFile(str(tmp_path / "gone"), "gone"))


async def test_a_closed_output_is_a_failure_to_try_again(piped: Piped) -> None:
    piped.target.close()
    with pytest.raises(TemporaryFailure):
        await piped.channel.send_text(CHAT, OutboundText("x"))
    piped.target = io.StringIO()


async def test_a_regular_file_can_be_the_input(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("from a file\n")
    port = FakePort()
    with path.open() as source:
        channel = PlainChannel(source.fileno(), io.StringIO())
        await channel.start(port)
        await port.wait_for_event("from a file")
        await channel.stop()
    assert channel.health().state is ChannelState.STOPPED
