"""The one way to make an event from what a platform delivers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from echo_bot.events import ContentBlock, EventId, EventType, InboundEvent


def inbound_event(
    *,
    event_id: str,
    channel: str,
    chat_id: str,
    sender_id: str,
    timestamp: datetime,
    content: tuple[ContentBlock, ...],
    event_type: EventType = EventType.MESSAGE,
    account: str = "",
    thread_id: str = "",
    sender_name: str = "",
    message_id: str = "",
    reply_to_id: str = "",
    reply_to_text: str = "",
    reply_to_sender: str = "",
    reply_to_is_own: bool = False,
    is_group: bool = False,
    mentioned: bool = False,
    from_bot: bool = False,
    dedup_ids: tuple[str, ...] = (),
    album_id: str = "",
    metadata: Mapping[str, str] | None = None,
) -> InboundEvent:
    """Build an event from a platform's update. There is no parameter for trust, session key or memory scope.

    `timestamp` is timezone-aware. `event_id` is unique within the channel account.
    """
    return InboundEvent(
        event_id=EventId(event_id),
        event_type=event_type,
        channel=channel,
        chat_id=chat_id,
        sender_id=sender_id,
        timestamp=timestamp,
        content=content,
        account=account,
        thread_id=thread_id,
        sender_name=sender_name,
        message_id=message_id,
        reply_to_id=reply_to_id,
        reply_to_text=reply_to_text,
        reply_to_sender=reply_to_sender,
        reply_to_is_own=reply_to_is_own,
        is_group=is_group,
        mentioned=mentioned,
        from_bot=from_bot,
        dedup_ids=dedup_ids,
        album_id=album_id,
        metadata=dict(metadata or {}),
    )
