"""Who sits at the terminal, and what they write as an event."""

from __future__ import annotations

import uuid
from datetime import datetime

from echo_bot.channel import inbound_event
from echo_bot.events import Address, BlockType, ContentBlock, Identity, InboundEvent

CHAT = Address("cli", "local")
SENDER = Identity("cli", "local")


def event_of(text: str, now: datetime) -> InboundEvent:
    """A message of the person at this terminal."""
    event_id = uuid.uuid4().hex
    return inbound_event(
        event_id=event_id,
        channel=CHAT.channel,
        chat_id=CHAT.chat_id,
        sender_id=SENDER.sender_id,
        timestamp=now,
        content=(ContentBlock(BlockType.TEXT, text=_encodable(text)),),
        message_id=event_id,
    )


def _encodable(text: str) -> str:
    """Bytes that were no UTF-8 arrive as lone surrogates, which nothing can store."""
    return text.encode("utf-8", "replace").decode("utf-8")
