"""A Discord message as an `InboundEvent`: pure conversion, nothing is asked or fetched."""

from __future__ import annotations

from datetime import datetime

from discord import Message, MessageType, Role

from channels.discord.attachments import blocks_of, quoted_blocks_of
from channels.discord.mentions import Self, spoken_to
from channels.discord.places import NAME, Where
from channels.discord.words import beside_the_text, joined, words_of
from echo_bot.channel import inbound_event
from echo_bot.events import BlockType, ContentBlock, EventType, InboundEvent

_SAID_BY_PEOPLE = frozenset({MessageType.default, MessageType.reply})


def event_of(
    message: Message,
    place: Where,
    bot: Self,
    account: str,
    said_at: datetime,
    *,
    edited_at: datetime | None = None,
) -> InboundEvent | None:
    """The event of a message; None for one with nothing said in it, or said by the bot or by Discord.

    `said_at` is by this machine's clock. `edited_at`: it is the new text of a message that was seen before.
    """
    if message.author.id == bot.id or message.type not in _SAID_BY_PEOPLE:
        return None
    spoken = spoken_to(bot, message.content)
    words = joined((spoken.text, *beside_the_text(message)))
    text = (ContentBlock(BlockType.TEXT, text=words),) if words else ()
    content = (*text, *blocks_of(message))
    if not content and not spoken.mentioned:
        return None
    replied = _replied_to(message)
    quoted = tuple(quoted_blocks_of(replied)) if replied is not None and replied.author.id != bot.id else ()
    message_id = f"message:{message.id}"
    return inbound_event(
        event_id=f"edit:{message.id}:{edited_at.isoformat()}" if edited_at is not None else message_id,
        event_type=EventType.EDIT if edited_at is not None else EventType.MESSAGE,
        channel=NAME,
        account=account,
        chat_id=place.chat_id,
        thread_id=place.thread_id,
        sender_id=str(message.author.id),
        sender_name=message.author.display_name,
        message_id=str(message.id),
        timestamp=said_at,
        content=(*content, *quoted),
        reply_to_id=_reply_to_id(message),
        reply_to_text=words_of(replied) if replied is not None else "",
        reply_to_sender=str(replied.author.id) if replied is not None else "",
        reply_to_is_own=replied is not None and replied.author.id == bot.id,
        is_group=place.is_group,
        mentioned=spoken.mentioned or _answers(message, replied, bot),
        from_bot=message.author.bot or message.webhook_id is not None,
        metadata=dict(place.names) | ({"forwarded": "yes"} if message.message_snapshots else {}),
    )


def _answers(message: Message, replied: Message | None, bot: Self) -> bool:
    """Whether it is a reply to the bot, whom Discord names also where it does not show what is answered."""
    if replied is not None:
        return replied.author.id == bot.id
    return message.type is MessageType.reply and any(each.id == bot.id for each in message.mentions)


def self_of(message: Message, bot_id: int) -> Self:
    """The bot and the role that came with its invitation to this server."""
    roles = message.guild.roles if message.guild is not None else []
    return Self(bot_id, tuple(role.id for role in roles if _stands_for(role, bot_id)))


def _stands_for(role: Role, bot_id: int) -> bool:
    return role.tags is not None and role.tags.bot_id == bot_id


def _reply_to_id(message: Message) -> str:
    reference = message.reference if message.type is MessageType.reply else None
    return str(reference.message_id or "") if reference is not None else ""


def _replied_to(message: Message) -> Message | None:
    """The message that is answered, as Discord sent it along; None also when it was deleted."""
    reference = message.reference if message.type is MessageType.reply else None
    resolved = reference.resolved if reference is not None else None
    return resolved if isinstance(resolved, Message) else None
