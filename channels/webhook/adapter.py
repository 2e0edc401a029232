"""The webhook channel: signed calls in, answers in their responses or to the callback."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from uuid import uuid4

from channels.webhook.callback import Callback, checked_url
from channels.webhook.hook import Hook
from channels.webhook.inbound import NAME
from channels.webhook.waiting import Waits
from echo_bot.channel import (
    AsgiApp,
    Channel,
    ChannelCapabilities,
    ChannelHealth,
    ChannelSettings,
    ChannelState,
    FileLocation,
    Port,
)
from echo_bot.errors import ChannelError, StartError, TargetGone
from echo_bot.events import Address, Card, ContentBlock, MessageRef, OutboundFile, OutboundText
from echo_bot.text import card_text

CAPABILITIES = ChannelCapabilities(
    max_length=100_000, threads=True, authenticates_sender=False, receives_files=True
)
SECRET_FIX = (
    "Make one with `python3 -c 'import secrets; print(secrets.token_urlsafe(32))'` and set "
    "channels.webhook.secret to it"
)
_UNHEARD = "nobody waited for this answer, and channels.webhook.callback_url is not set"


def build(settings: ChannelSettings) -> Channel:
    """Raises StartError without a secret: anybody could call."""
    if not settings.secrets.get("secret", "").strip():
        raise StartError(f"The webhook has no secret, so that anybody could call it. {SECRET_FIX}")
    return WebhookChannel(settings)


class WebhookChannel:
    """One path with its secret."""

    name = NAME
    capabilities = CAPABILITIES

    def __init__(self, settings: ChannelSettings) -> None:
        self.account = settings.account
        self._settings = settings
        self._secret = settings.secrets["secret"].strip()
        self._url = checked_url(settings.options.get("callback_url", "").strip())
        self._waits = Waits()
        self._hook = Hook(settings.account, self._secret, self._waits)
        self._callback: Callback | None = None
        self._state, self._error = ChannelState.STOPPED, ""

    async def start(self, port: Port) -> None:
        self._callback = Callback(self._url, self._secret, self._settings.proxy) if self._url else None
        self._hook.open(port)
        self._state, self._error = ChannelState.CONNECTED, ""

    async def stop(self) -> None:
        self._hook.close()
        self._state = ChannelState.STOPPED
        callback, self._callback = self._callback, None
        if callback is not None:
            await callback.close()

    def health(self) -> ChannelHealth:
        return ChannelHealth(self._state, self._hook.last_call_at, self._error)

    def hooks(self) -> Mapping[str, AsgiApp]:
        """See `Hooked`: callers post here."""
        own = f"/webhook/{self.account}" if self.account else "/webhook"
        return {self._settings.options.get("path", "").strip() or own: self._hook}

    async def locate(self, block: ContentBlock) -> FileLocation:
        """See `FileSource`: the caller said where, and the core decides whether to go there."""
        return FileLocation(url=block.ref)

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        """To whoever waits, and to the callback. Raises TargetGone when there is neither."""
        key = message.dedup_key
        delivery_id = hashlib.sha256(key.encode()).hexdigest()[:24] if key else uuid4().hex[:24]
        is_heard = self._waits.tell(address, delivery_id, message)
        if self._callback is not None:
            await self._post(self._callback, address, delivery_id, message)
        elif not is_heard:
            raise TargetGone(_UNHEARD)
        return MessageRef(address, delivery_id)

    async def edit_text(self, ref: MessageRef, message: OutboundText) -> None:
        """What was said cannot be changed: it is said anew."""
        await self.send_text(ref.address, message)

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        return await self.send_text(address, OutboundText(card.fallback or card_text(card), markdown=False))

    async def edit_card(self, ref: MessageRef, card: Card) -> None:
        await self.send_card(ref.address, card)

    async def send_file(self, address: Address, file: OutboundFile) -> MessageRef:
        raise TargetGone("a webhook takes no files")

    async def typing(self, address: Address) -> None:
        """Nobody watches."""

    async def _post(
        self, callback: Callback, address: Address, delivery_id: str, message: OutboundText
    ) -> None:
        try:
            await callback.post(address, delivery_id, message)
        except ChannelError as error:
            self._error = str(error)
            raise
        self._error = ""
