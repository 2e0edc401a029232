"""What somebody said as a line of the transcript: when it is stored, and again once voices are understood."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from echo_bot.events import BlockType, InboundEvent
from echo_bot.storage.records import TranscriptRow


def words_of(event: InboundEvent, spoken: Mapping[int, str] | None = None) -> str:
    """The text, and a line for each attachment: its name, or what was `spoken` in it, by its place."""
    told = spoken or {}
    files = [
        f"[{block.type.value}] {told.get(place, block.name)}".rstrip()
        for place, block in enumerate(event.content)
        if block.type is not BlockType.TEXT
    ]
    return "\n".join(part for part in (event.text, *files) if part)


def line_of(
    event: InboundEvent, mask: Callable[[str], str], scope: str, spoken: Mapping[int, str] | None = None
) -> TranscriptRow:
    """`scope` is the memory scope it belongs to; "" leaves that of a line that is there already."""
    return TranscriptRow(
        entry_id=event.message_id or event.event_id,
        address=event.address,
        role="user",
        text=mask(words_of(event, spoken)),
        at=event.timestamp,
        sender=str(event.sender),
        scope=scope,
    )
