"""What the inbox reads of an event from a channel, and what it takes away."""

from __future__ import annotations

from dataclasses import replace

from echo_bot.events import InboundEvent
from echo_bot.text import encodable


def without_trust(event: InboundEvent) -> InboundEvent:
    """The event with every field that only internal producers may set at its default."""
    return replace(
        event,
        unattended=False,
        cron_authorized=False,
        is_control=False,
        session_key_override="",
        memory_scope="",
        asks_again=None,
        deliver_to=None,
        occasion="",
        worker=None,
        authority=None,
    )


def has_plain_ids(event: InboundEvent) -> bool:
    """A sender and a chat are named, and no id holds half a character, which could not be kept apart."""
    ids = (
        *(event.event_id, event.chat_id, event.sender_id, event.thread_id, event.account, event.message_id),
        event.album_id,
        *event.dedup_ids,
        *(block.ref for block in event.content),
    )
    return bool(event.sender_id and event.chat_id) and all(encodable(each) == each for each in ids)


def claim_ids(event: InboundEvent) -> tuple[str, ...]:
    """All ids under which this event may come again, made unique over channels and accounts."""
    head = f"{event.channel}/{event.account}"
    return tuple(dict.fromkeys(f"{head}:{each}" for each in (event.event_id, *event.dedup_ids)))
