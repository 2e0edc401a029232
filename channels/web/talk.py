"""One page's conversation over its WebSocket: greet with everything, then frames both ways."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime

from fastapi import WebSocket, WebSocketDisconnect

from channels.web.files import SentFiles
from channels.web.tabs import Tab, Tabs
from channels.web.wire import (
    MAX_SAY_CHARACTERS,
    Ask,
    BadMessage,
    Entry,
    Ping,
    Press,
    Say,
    card_json,
    command_json,
    entry_json,
    frame,
    parse,
    past_entry,
    press_reply,
    prompt_frame,
)
from echo_bot.channel import Port, inbound_event
from echo_bot.errors import EchoBotError
from echo_bot.events import Address, BlockType, ButtonPress, ContentBlock, Identity, PressReply
from echo_bot.text.language import _

_TRANSCRIPT_ENTRIES = 300
_MAX_PRESSES_AT_ONCE = 16
_CLOSE_POLICY = 1008


@dataclass(slots=True)
class House:
    """What all conversations share."""

    port: Port
    tabs: Tabs
    files: SentFiles
    account: str
    notice: str
    last_event_at: datetime | None = None

    def address(self, viewer: Identity) -> Address:
        return Address("web", viewer.sender_id, account=self.account)

    async def pending_frame(self, viewer: Identity) -> str:
        cards = await self.port.pending(viewer)
        return frame("pending", cards=[card_json(card) for card in cards], now=_now_text())

    async def hello_frame(self, viewer: Identity) -> str:
        rows = await self.port.transcript(self.address(viewer), _TRANSCRIPT_ENTRIES)
        cards = await self.port.pending(viewer)
        return frame(
            "hello",
            viewer=str(viewer),
            notice=self.notice,
            now=_now_text(),
            max_characters=MAX_SAY_CHARACTERS,
            commands=[command_json(command) for command in self.port.commands()],
            transcript=[entry_json(past_entry(row, self.files.of_message(row.entry_id))) for row in rows],
            pending=[card_json(card) for card in cards],
        )


class Talk:
    """Reads what the page says and writes what its tab is sent, until either side ends it."""

    def __init__(self, socket: WebSocket, viewer: Identity, house: House) -> None:
        self._socket = socket
        self._viewer = viewer
        self._house = house
        self._presses: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        # Joining first: what happens while the greeting is made waits in the tab's line and is not lost.
        with self._house.tabs.joined(self._viewer) as tab:
            try:
                hello = await self._house.hello_frame(self._viewer)
            except EchoBotError as error:
                await self._socket.close(1011, str(error)[:100])
                return
            writer = asyncio.create_task(self._write(tab, hello), name="web tab")
            try:
                await self._read(tab)
            finally:
                tasks = {writer, *self._presses}
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _write(self, tab: Tab, hello: str) -> None:
        try:
            await self._socket.send_text(hello)
            while (line := await tab.next_frame()) is not None:
                await self._socket.send_text(line)
            await self._socket.close(tab.closing_code or 1000)
        except (WebSocketDisconnect, RuntimeError):
            return  # the page went away while a frame was being written; the reader hears of it too

    async def _read(self, tab: Tab) -> None:
        while True:
            try:
                raw = await self._socket.receive_text()
            except (WebSocketDisconnect, KeyError, RuntimeError):
                return  # gone, or a binary frame, which the protocol does not have
            try:
                message = parse(raw)
            except BadMessage as error:
                tab.send(frame("error", text=str(error)))
                tab.close(_CLOSE_POLICY)
                continue
            match message:
                case Say():
                    await self._say(tab, message)
                case Press() | Ask():
                    self._begin_press(tab, message)
                case Ping():
                    tab.send(frame("pong", now=_now_text()))

    async def _say(self, tab: Tab, say: Say) -> None:
        """Answer with `said` once it is stored, so that the page may forget it."""
        now = datetime.now(UTC)
        event = inbound_event(
            event_id=say.client_id,
            channel="web",
            account=self._house.account,
            chat_id=self._viewer.sender_id,
            sender_id=self._viewer.sender_id,
            timestamp=now,
            content=(ContentBlock(BlockType.TEXT, text=say.text),),
            message_id=say.client_id,
        )
        try:
            if not await self._house.port.admits(self._viewer):
                tab.send(_said(say, ok=False, text=_("{who} may not speak here.").format(who=self._viewer)))
                return
            is_new = await self._house.port.receive(event)
        except EchoBotError as error:
            tab.send(_said(say, ok=False, text=_("Not stored: {problem}").format(problem=error), retry=True))
            return
        self._house.last_event_at = now
        if is_new:
            entry = Entry(say.client_id, "user", say.text, now)
            self._house.tabs.broadcast(self._viewer.sender_id, frame("message", entry=entry_json(entry)))
        tab.send(_said(say, ok=True))

    def _begin_press(self, tab: Tab, press: Press | Ask) -> None:
        """A decision never queues behind a message."""
        if len(self._presses) >= _MAX_PRESSES_AT_ONCE:
            tab.send(frame("error", text=_("Too many presses at once: wait for the first to be answered.")))
            return
        work = self._press(tab, press) if isinstance(press, Press) else self._ask(tab, press)
        task = asyncio.create_task(work, name="web press")
        self._presses.add(task)
        task.add_done_callback(self._presses.discard)

    async def _press(self, tab: Tab, press: Press) -> None:
        try:
            reply = await self._house.port.press(self._button_press(press, press.text))
        except EchoBotError as error:
            reply = PressReply(_("Not decided: {problem}").format(problem=error), ok=False)
        tab.send(press_reply(press, reply))

    async def _ask(self, tab: Tab, ask: Ask) -> None:
        """The question of a button, or why this person is asked nothing."""
        try:
            asked = await self._house.port.prompt(self._button_press(ask))
        except EchoBotError as error:
            asked = PressReply(_("Not asked: {problem}").format(problem=error), ok=False)
        tab.send(press_reply(ask, asked) if isinstance(asked, PressReply) else prompt_frame(ask, asked))

    def _button_press(self, press: Press | Ask, text: str = "") -> ButtonPress:
        return ButtonPress(
            press_id=press.press_id,
            token=press.token,
            presser=self._viewer,
            address=self._house.address(self._viewer),
            message_id=press.message_id,
            text=text,
        )


def _said(say: Say, *, ok: bool, text: str = "", retry: bool = False) -> str:
    return frame("said", client_id=say.client_id, ok=ok, text=text, retry=retry)


def _now_text() -> str:
    return datetime.now(UTC).isoformat()


def new_message_id() -> str:
    return f"m-{secrets.token_urlsafe(12)}"
