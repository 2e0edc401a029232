"""A terminal in memory: keys are sent through a pipe, what was printed is kept without colours."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext

import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from channels.cli.adapter import TerminalChannel
from channels.cli.inbound import CHAT
from echo_bot.events import Address
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import eventually

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class PrintedOutput(DummyOutput):
    """Keeps what is printed in `raw`, each print as one entry, and the prompts in `drawn`."""

    def __init__(self) -> None:
        self.raw: list[str] = []
        self.drawn = ""

    def write(self, data: str) -> None:
        self.drawn += data

    def write_raw(self, data: str) -> None:
        self.raw.append(data)

    def get_size(self) -> Size:
        return Size(rows=40, columns=90)


class Terminal:
    """A `Stage` of the channel contract with a person at the keys."""

    def __init__(self, source: PipeInput) -> None:
        self.output, self.source, self.port = PrintedOutput(), source, FakePort()
        self.leaves: list[str] = []
        self.channel = TerminalChannel(source, self.output, lambda: self.leaves.append("left"), nullcontext)

    @property
    def address(self) -> Address:
        return CHAT

    def keys(self, text: str) -> None:
        self.source.send_text(text)

    def printed(self) -> list[str]:
        return [_COLOUR.sub("", text) for text in self.output.raw]

    async def wait_for(self, part: str, count: int = 1) -> str:
        """The newest print that holds `part`, once there are `count`."""

        def found() -> str | None:
            those = [text for text in self.printed() if part in text]
            return those[-1] if len(those) >= count else None

        return await eventually(found, f"{part!r} on the screen; there is {self.printed()}")

    async def asked(self, words: str = "then Enter") -> None:
        """A prompt with these words was drawn since the last time one was waited for."""
        await eventually(lambda: words in self.output.drawn, f"a prompt with {words!r}")
        self.output.drawn = ""

    # The Stage of the contract

    async def say(self, text: str) -> None:
        self.keys(f"{text}\r")

    async def press(self, label: str) -> str:
        await self.asked()
        before = len(self.printed())
        keys = {"Approve once": "o", "Deny": "d"}
        self.keys(f"{keys[label]}\r")
        await eventually(lambda: len(self.printed()) > before, "the answer to the press")
        return self.printed()[before].strip()

    def shown(self) -> list[str]:
        return [text.strip() for text in self.printed()]

    def labels(self) -> list[str]:
        asked = self.channel._cards.first()
        return [button.label for button in asked.card.buttons] if asked else []

    def file_names(self) -> list[str]:
        return [text.split()[1] for text in self.printed() if text.startswith("File ")]


@pytest.fixture
def source() -> Iterator[PipeInput]:
    with create_pipe_input() as source:
        yield source


@pytest.fixture
async def stage(source: PipeInput) -> AsyncIterator[Terminal]:
    terminal = Terminal(source)
    await terminal.channel.start(terminal.port)
    await terminal.asked("Write a message")
    yield terminal
    await terminal.channel.stop()
