"""The channel without a terminal: lines in from a pipe, plain text out, cards answered by command."""

from __future__ import annotations

import asyncio
import os
import select
import threading
import uuid
from datetime import UTC, datetime
from typing import TextIO

from channels.cli.clean import clean, clean_line
from channels.cli.inbound import CHAT, event_of
from echo_bot.channel import ChannelCapabilities, ChannelHealth, ChannelState, Port
from echo_bot.errors import EchoBotError, TargetGone, TemporaryFailure
from echo_bot.events import Address, Card, MessageRef, OutboundFile, OutboundText
from echo_bot.text import strip_markup
from echo_bot.text.language import _

_CHUNK = 65536
_JOIN_SECONDS = 0.8


class PlainChannel:
    """Implements Channel. The end of the input ends the reading; answers are printed until the stop."""

    name = "cli"
    account = ""
    capabilities = ChannelCapabilities(max_length=100_000, files=True)

    def __init__(self, source: int, target: TextIO) -> None:
        self._source, self._target = source, target
        self._state = ChannelState.STOPPED
        self._last_event_at: datetime | None = None
        self._reader: asyncio.Task[None] | None = None

    async def start(self, port: Port) -> None:
        self._reader = asyncio.create_task(self._read(port), name="cli reader")
        self._state = ChannelState.CONNECTED

    async def stop(self) -> None:
        self._state = ChannelState.STOPPED
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.cancel()
            await asyncio.wait({reader})

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        self._print(strip_markup(message.text) if message.markdown else message.text)
        return MessageRef(address, message.dedup_key or uuid.uuid4().hex)

    async def edit_text(self, ref: MessageRef, message: OutboundText) -> None:
        await self.send_text(ref.address, message)

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        self._print(card.fallback or card.title)
        return MessageRef(address, f"card:{card.card_id}")

    async def edit_card(self, ref: MessageRef, card: Card) -> None:
        await self.send_card(ref.address, card)

    async def send_file(self, address: Address, file: OutboundFile) -> MessageRef:
        if not await asyncio.to_thread(os.path.isfile, file.path):
            raise TargetGone(f"{file.name} cannot be read any more")
        told = _("File {name}: {path}").format(name=clean_line(file.name), path=clean_line(file.path))
        self._print(told)
        return MessageRef(address, uuid.uuid4().hex)

    async def typing(self, address: Address) -> None:
        return

    def health(self) -> ChannelHealth:
        return ChannelHealth(self._state, last_event_at=self._last_event_at)

    def _print(self, text: str) -> None:
        try:
            self._target.write(clean(text) + "\n\n")
            self._target.flush()
        except (OSError, ValueError) as error:
            raise TemporaryFailure("the standard output does not take any text") from error

    async def _read(self, port: Port) -> None:
        lines = _Lines(self._source)
        try:
            while (line := await lines.next()) is not None:
                if line.strip():
                    await self._say(port, line.strip())
        finally:
            lines.close()

    async def _say(self, port: Port, text: str) -> None:
        self._last_event_at = datetime.now(UTC)
        try:
            if not await port.receive(event_of(text, self._last_event_at)):
                told = _("Not taken. {who} may not write here, or not so much.")
                self._print(told.format(who=CHAT))
        except EchoBotError as error:
            self._print(_("Not stored: {problem}").format(problem=error))


class _Lines:
    """Lines of a file descriptor that may be a pipe or a file, read by a thread that `close` ends."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._wake_in, self._wake_out = os.pipe()
        self._thread = threading.Thread(target=self._pump, name="cli input", daemon=True)
        self._thread.start()

    async def next(self) -> str | None:
        """The next line; None at the end of the input."""
        return await self._queue.get()

    def close(self) -> None:
        os.close(self._wake_out)
        self._thread.join(_JOIN_SECONDS)
        os.close(self._wake_in)

    def _pump(self) -> None:
        rest = b""
        while True:
            ready, _, _ = select.select([self._source, self._wake_in], [], [])
            if self._wake_in in ready:
                return
            chunk = os.read(self._source, _CHUNK)
            *whole, rest = (rest + chunk).split(b"\n")
            if not chunk and rest:
                whole.append(rest)
            for line in whole:
                self._put(line.decode("utf-8", "replace"))
            if not chunk:
                self._put(None)
                return

    def _put(self, line: str | None) -> None:
        self._loop.call_soon_threadsafe(self._queue.put_nowait, line)
