"""What the inbox reads of an event from a channel, and what it takes away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from echo_bot.events import BlockType, InboundEvent
from echo_bot.storage.records import TranscriptRow
from echo_bot.text import encodable


def words_of(event: InboundEvent) -> str:
    """The message as a transcript shows it: the text, and a line for each attachment."""
    files = [f"[{b.type.value}] {b.name}".rstrip() for b in event.content if b.type is not BlockType.TEXT]
    return "\n".join(part for part in (event.text, *files) if part)


def line_of(event: InboundEvent, mask: Callable[[str], str], scope: str) -> TranscriptRow:
    """The message as a line of the transcript; `scope` is the memory scope it belongs to."""
    return TranscriptRow(
        entry_id=event.message_id or event.event_id,
        address=event.address,
        role="user",
        text=mask(words_of(event)),
        at=event.timestamp,
        sender=str(event.sender),
        scope=scope,
    )


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
