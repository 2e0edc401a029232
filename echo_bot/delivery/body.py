"""What an outbox row holds: a text, a text that replaces a draft, or a file; as JSON and back."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import Literal

from echo_bot.channel import Channel
from echo_bot.events import Address, MessageRef, OutboundFile, OutboundText
from echo_bot.text import is_blank, measure, split_markdown


@dataclass(frozen=True, slots=True)
class Body:
    """One part. `replaces` is the message id of a draft that this text is the final form of.

    `is_own`: see `OutboundText`.
    """

    kind: Literal["text", "file"]
    text: str = ""
    markdown: bool = True
    reply_to_id: str = ""
    replaces: str = ""
    path: str = ""
    name: str = ""
    mime: str = ""
    is_own: bool = False

    def to_json(self) -> str:
        return json.dumps({name: value for name, no in _FIELDS if (value := getattr(self, name)) != no})

    @classmethod
    def from_json(cls, text: str) -> Body:
        return cls(**json.loads(text))


_FIELDS = tuple((field.name, field.default) for field in fields(Body))


def fitting(channel: Channel, body: Body) -> tuple[Body, ...]:
    """What was stored while its channel was unknown, and so unsplit, is split now."""
    limits = channel.capabilities
    if body.kind != "text" or measure(body.text, limits.length_unit) <= limits.max_length:
        return (body,)
    first, *rest = (part for part in parts_for(channel, body.text) if not is_blank(part))
    return (
        replace(body, text=first),
        *(replace(body, text=each, reply_to_id="", replaces="") for each in rest),
    )


def parts_for(channel: Channel, text: str) -> tuple[str, ...]:
    """The text in messages that the channel takes."""
    return split_markdown(text, channel.capabilities.max_length, channel.capabilities.length_unit)


def drops_doubles(channel: Channel, body: Body) -> bool:
    """Does what is sent once more arrive once?"""
    limits = channel.capabilities
    return limits.dedups_files if body.kind == "file" else limits.dedups_sends


async def hand_over(
    channel: Channel, address: Address, body: Body, *, dedup_key: str, plain: bool
) -> MessageRef:
    """Give one part to the channel. Raises what the channel raises."""
    if body.kind == "file":
        return await channel.send_file(address, OutboundFile(body.path, body.name, body.mime, dedup_key))
    message = OutboundText(
        text=body.text,
        markdown=body.markdown and not plain,
        reply_to_id=body.reply_to_id,
        dedup_key=dedup_key,
        is_own=body.is_own,
    )
    if not body.replaces:
        return await channel.send_text(address, message)
    ref = MessageRef(address, body.replaces)
    await channel.edit_text(ref, message)
    return ref
