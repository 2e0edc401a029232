"""The web channel: what the core sends goes to every open tab; what a tab says goes to the core."""

from __future__ import annotations

from datetime import UTC, datetime

from channels.web.files import SentFiles
from channels.web.routes import build_routes
from channels.web.tabs import CLOSE_RESTART, Tabs
from channels.web.talk import House, new_message_id
from channels.web.wire import Entry, entry_json, frame
from echo_bot.channel import (
    AsgiApp,
    ChannelCapabilities,
    ChannelHealth,
    ChannelSettings,
    ChannelState,
    Port,
    Prompting,
)
from echo_bot.errors import EchoBotError
from echo_bot.events import Address, Card, MessageRef, OutboundFile, OutboundText

_TYPING_SECONDS = 6


def build(settings: ChannelSettings) -> WebChannel:
    return WebChannel(settings)


class WebChannel:
    """Implements Channel, Mountable and PendingBoard.

    A message goes out whether or not a page is open: the core keeps the transcript, and a page that connects
    is given all of it. A message's id is its `dedup_key` where it has one, so sending it again replaces it.
    """

    name = "web"
    capabilities = ChannelCapabilities(
        max_length=100_000,
        buttons=True,
        edits=True,
        typing=True,
        files=True,
        pending_list=True,
        dedups_sends=True,
        prompts=Prompting.MODAL,
        private_replies=True,
        stream_interval_ms=150,
        stream_interval_group_ms=150,
    )

    def __init__(self, settings: ChannelSettings) -> None:
        self.account = settings.account
        self._notice = settings.options.get("notice", "")
        self._tabs = Tabs()
        self._files = SentFiles()
        self._house: House | None = None
        self._state = ChannelState.STOPPED

    async def start(self, port: Port) -> None:
        self._house = House(port, self._tabs, self._files, self.account, self._notice)
        self._state = ChannelState.CONNECTED

    async def stop(self) -> None:
        self._house = None
        self._state = ChannelState.STOPPED
        self._tabs.close_all(CLOSE_RESTART)
        self._files.clear()

    def routes(self) -> AsgiApp:
        return build_routes(lambda: self._house, self._files)

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        ref = MessageRef(address, message.dedup_key or new_message_id())
        self._show("message", ref, _text_entry(ref, message))
        return ref

    async def edit_text(self, ref: MessageRef, message: OutboundText) -> None:
        self._show("edit", ref, _text_entry(ref, message))

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        ref = MessageRef(address, f"card:{card.card_id}")
        self._show("card", ref, _card_entry(ref, card))
        return ref

    async def edit_card(self, ref: MessageRef, card: Card) -> None:
        self._show("card_update", ref, _card_entry(ref, card))

    async def send_file(self, address: Address, file: OutboundFile) -> MessageRef:
        ref = MessageRef(address, new_message_id())
        link = await self._files.keep(file, ref.message_id)
        self._show("message", ref, Entry(ref.message_id, "bot", "", datetime.now(UTC), file=link))
        return ref

    async def typing(self, address: Address) -> None:
        self._tabs.broadcast(address.chat_id, frame("typing", seconds=_TYPING_SECONDS))

    async def pending_changed(self) -> None:
        if self._house is None:
            return
        for tab in self._tabs.all():
            try:
                tab.send(await self._house.pending_frame(tab.viewer))
            except EchoBotError:
                tab.close(CLOSE_RESTART)  # the list cannot be read now: let the page ask afresh

    def health(self) -> ChannelHealth:
        house = self._house
        return ChannelHealth(self._state, last_event_at=house.last_event_at if house else None)

    def _show(self, kind: str, ref: MessageRef, entry: Entry) -> None:
        line = frame(kind, entry=entry_json(entry), now=datetime.now(UTC).isoformat())
        self._tabs.broadcast(ref.address.chat_id, line)


def _text_entry(ref: MessageRef, message: OutboundText) -> Entry:
    return Entry(
        ref.message_id,
        "bot",
        message.text,
        datetime.now(UTC),
        markdown=message.markdown,
        draft=message.is_draft,
    )


def _card_entry(ref: MessageRef, card: Card) -> Entry:
    return Entry(ref.message_id, "card", card.fallback, datetime.now(UTC), card=card)
