"""The terminal channel: what the core sends is printed above the prompt; a card gets a prompt of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime

from prompt_toolkit.input import Input
from prompt_toolkit.output import Output
from prompt_toolkit.patch_stdout import patch_stdout

from channels.cli import render
from channels.cli.cards import CardLine
from channels.cli.conversation import Conversation
from channels.cli.inbound import CHAT
from channels.cli.plain import PlainChannel
from channels.cli.prompts import Leave, Prompts
from channels.cli.screen import Screen
from channels.cli.status import Status
from channels.cli.working import Working
from echo_bot.channel import (
    Channel,
    ChannelCapabilities,
    ChannelHealth,
    ChannelSettings,
    ChannelState,
    Command,
    Port,
    Prompting,
)
from echo_bot.errors import EchoBotError, TargetGone
from echo_bot.events import Address, Card, CardState, MessageRef, OutboundFile, OutboundText
from echo_bot.text.language import _

_EXIT_COMMAND = Command("exit", "Stop the bot and leave")
_CLOSE_SECONDS = 0.8
_TICK_SECONDS = 0.5
_REMEMBERED_TEXTS = 64
_PAST_ENTRIES = 50


def build(settings: ChannelSettings) -> Channel:
    """The chat with prompts where a person sits at a terminal that can draw them, else lines of text."""
    can_draw = os.environ.get("TERM", "") != "dumb"
    if sys.stdin.isatty() and sys.stdout.isatty() and can_draw:
        from channels.cli.tty import open_terminal

        return TerminalChannel(*open_terminal())
    return PlainChannel(sys.stdin.fileno(), sys.stdout)


def stop_process() -> None:
    """Stop the bot as Ctrl-C in a shell would; the verb that runs it takes it down in order."""
    os.kill(os.getpid(), signal.SIGINT)


class TerminalChannel:
    """Implements Channel. What was printed stays: a changed text is printed anew, a card's end as a line."""

    name = "cli"
    account = ""
    capabilities = ChannelCapabilities(
        max_length=100_000,
        buttons=True,
        edits=True,
        typing=True,
        files=True,
        prompts=Prompting.REPLY,
        redraws=False,
        stream_interval_ms=250,
        stream_interval_group_ms=250,
    )

    def __init__(
        self,
        source: Input,
        output: Output,
        leave: Callable[[], None] = stop_process,
        capture: Callable[[], AbstractContextManager[None]] = patch_stdout,
    ) -> None:
        self._source, self._output, self._leave, self._capture = source, output, leave, capture
        self._screen = Screen(output, os.environ)
        self._working = Working(time.monotonic)
        self._cards = CardLine()
        self._shown: OrderedDict[str, str] = OrderedDict()
        self._prompts: Prompts | None = None
        self._conversation: Conversation | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._state = ChannelState.STOPPED
        self._status = Status(
            self._cards,
            self._working,
            columns=lambda: self._screen.columns,
            monotonic=time.monotonic,
            now=lambda: datetime.now(UTC),
        )

    async def start(self, port: Port) -> None:
        self._prompts = prompts = Prompts(
            self._source,
            self._output,
            (*port.commands(), _EXIT_COMMAND),
            above=self._status.lines,
            on_cancel=self._cancel,
            monotonic=time.monotonic,
        )
        talk = Conversation(port, self._source, self._screen, prompts, self._cards, self._working)
        self._conversation = talk
        self._tasks = [
            asyncio.create_task(self._converse(talk, port), name="cli reader"),
            asyncio.create_task(talk.send(), name="cli sender"),
            asyncio.create_task(self._tick(), name="cli clock"),
        ]
        self._state = ChannelState.CONNECTED

    async def stop(self) -> None:
        """End the open prompt, so that the terminal is as it was, then the tasks."""
        self._state = ChannelState.STOPPED
        tasks, self._tasks = self._tasks, []
        if self._conversation is not None:
            self._conversation.is_closing = True
        self._cards.clear()
        if self._prompts is not None:
            self._prompts.interrupt()
        if tasks:
            await asyncio.wait(tasks[:1], timeout=_CLOSE_SECONDS)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        ref = MessageRef(address, message.dedup_key or uuid.uuid4().hex)
        await self._put_text(ref, message)
        return ref

    async def edit_text(self, ref: MessageRef, message: OutboundText) -> None:
        await self._put_text(ref, message)

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        ref = MessageRef(address, f"card:{card.card_id}")
        self._working.draft = ""
        if card.buttons:
            self._ask(card, ref.message_id)
        else:
            await self._screen.show(render.card(card))
        return ref

    async def edit_card(self, ref: MessageRef, card: Card) -> None:
        if card.state is CardState.OPEN:
            if not self._cards.was_answered(card.card_id):
                self._ask(card, ref.message_id)
            return
        asked = self._cards.first()
        closed = self._cards.drop(card.card_id)
        if closed is not None and closed is asked and self._prompts is not None:
            self._prompts.interrupt_answer()
        if self._cards.is_news(card):
            offers = self._conversation.offer(card, ref.message_id) if self._conversation else ()
            await self._screen.show(render.outcome(card, offers))

    async def send_file(self, address: Address, file: OutboundFile) -> MessageRef:
        try:
            size = (await asyncio.to_thread(os.stat, file.path)).st_size
        except OSError as error:
            raise TargetGone(f"{file.name} cannot be read any more: {error.strerror}") from error
        await self._screen.show(render.file_line(file.name, file.path, size))
        return MessageRef(address, uuid.uuid4().hex)

    async def typing(self, address: Address) -> None:
        if address == CHAT:
            self._working.sign()
            self._redraw()

    def health(self) -> ChannelHealth:
        talk = self._conversation
        return ChannelHealth(self._state, last_event_at=talk.last_event_at if talk else None)

    async def _put_text(self, ref: MessageRef, message: OutboundText) -> None:
        """A draft shows above the prompt; a text that stands is printed, once for each wording."""
        if message.is_draft:
            self._working.grew(message.text)
            self._redraw()
            return
        self._working.answered()
        if self._shown.get(ref.message_id) == message.text:
            return
        self._shown[ref.message_id] = message.text
        while len(self._shown) > _REMEMBERED_TEXTS:
            self._shown.popitem(last=False)
        await self._screen.show(render.message(message))

    def _ask(self, card: Card, message_id: str) -> None:
        """Whatever prompt it concerns opens anew: that of a message for a first card, or its own."""
        self._cards.put(card, message_id)
        first = self._cards.first()
        if first is not None and first.card is card and self._prompts is not None:
            self._prompts.interrupt()

    async def _tick(self) -> None:
        """Seconds pass on the screen while something runs or waits; else the terminal is left alone."""
        was_moving = False
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            is_moving = self._status.is_moving
            if is_moving or was_moving:
                self._redraw()
            was_moving = is_moving

    def _redraw(self) -> None:
        if self._prompts is not None:
            self._prompts.redraw()

    def _cancel(self) -> None:
        """Ctrl-C on an empty line: stop the turn; with nothing running, leave at the second time."""
        if self._status.is_leaving_soon:
            self._leave()
        elif self._conversation is not None and (self._working.is_on or self._cards.first()):
            self._conversation.say("/stop")
            self._working.answered()
        else:
            self._status.leaving_soon()
            self._redraw()

    async def _converse(self, talk: Conversation, port: Port) -> None:
        """What others print meanwhile goes above the prompt too."""
        with self._capture():
            await self._take_up(port)
            try:
                await talk.run()
            except (Leave, EOFError):
                with suppress(EchoBotError):
                    await self._screen.show(render.hint(_("Stopping…")))
                self._leave()

    async def _take_up(self, port: Port) -> None:
        """Cards of an earlier run that are still open have lost their prompt: they get it again."""
        try:
            past = await port.transcript(CHAT, _PAST_ENTRIES)
        except EchoBotError:
            return  # a state that cannot be read now: /approvals lists them
        for entry in past:
            if entry.card is not None and entry.card.state is CardState.OPEN and entry.card.buttons:
                self._cards.put(entry.card, entry.entry_id)
