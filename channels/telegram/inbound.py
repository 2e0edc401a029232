"""A Telegram message, or an album, as an `InboundEvent`: pure conversion, nothing is asked or fetched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from telegram import Message, Update, User

from channels.telegram.attachments import attachments_of
from channels.telegram.mentions import Self, Spoken, is_command_of_another, spoken_to, without_start
from echo_bot.channel import inbound_event
from echo_bot.events import Address, BlockType, ContentBlock, EventType, InboundEvent

NAME = "telegram"
GENERAL_TOPIC = 1
_NOT_AHEAD = timedelta()
_LONGEST_KEPT = timedelta(days=7)
"""Far longer than Telegram keeps what nobody fetched, which is a day."""


def message_of(update: Update) -> Message | None:
    """The message of an update, new or edited."""
    return update.message or update.channel_post or update.edited_message or update.edited_channel_post


def is_edit(update: Update) -> bool:
    return update.edited_message is not None or update.edited_channel_post is not None


def event_of(
    updates: Sequence[Update],
    bot: Self,
    account: str,
    unchanged: Sequence[Message] = (),
    ahead: timedelta = _NOT_AHEAD,
) -> InboundEvent | None:
    """The event of a message, or of all parts of an album.

    None for what says nothing, is the bot's own or a command of another bot in the group.

    `unchanged` are the other parts of the album of which one was edited. Parts of a new one that come late
    are joined by the core. `ahead` is how far this machine's clock is ahead of Telegram's.
    """
    said = [message for update in updates if (message := message_of(update)) is not None]
    parts = sorted([*said, *unchanged], key=lambda message: message.message_id)
    if not said or _is_from(parts[0], bot):
        return None
    spoken = [_spoken(part, bot) for part in parts]
    content = _content(parts, spoken)
    mentioned = any(each.mentioned for each in spoken)
    is_group = parts[0].chat.type != "private"
    if not (content or mentioned) or (is_group and is_command_of_another(bot, spoken[0].text)):
        return None
    first, edited = parts[0], is_edit(updates[0])
    reply = _replied_to(first)
    reply_is_own = reply is not None and _is_from(reply, bot)
    return inbound_event(
        event_id=_update_id(updates[0]),
        event_type=EventType.EDIT if edited else EventType.MESSAGE,
        channel=NAME,
        account=account,
        chat_id=str(first.chat.id),
        thread_id=thread_of(first),
        sender_id=sender_of(first),
        sender_name=_name_of(first),
        message_id=str(_with_words(parts).message_id),
        timestamp=_moment(said[0].edit_date if edited and said[0].edit_date else first.date, ahead),
        content=content,
        reply_to_id=str(reply.message_id) if reply else "",
        reply_to_text=_quoted_text(first, reply),
        reply_to_sender=sender_of(reply) if reply else "",
        reply_to_is_own=reply_is_own,
        is_group=is_group,
        mentioned=mentioned or reply_is_own,
        from_bot=_is_other_bot(first),
        dedup_ids=_dedup_ids(updates),
        album_id=(first.media_group_id or "") if not edited else "",
        metadata=_metadata(first),
    )


def _moment(dated: datetime, ahead: timedelta) -> datetime:
    """By this machine's clock. What was said long ago arrives no more: such a date is of a third clock."""
    said_at, now = dated + ahead, datetime.now(UTC)
    return said_at if now - said_at < _LONGEST_KEPT else now


def move_of(message: Message, account: str) -> tuple[Address, str] | None:
    """The old address and the new id, where a message says that its group became a supergroup."""
    if message.migrate_to_chat_id:
        return Address(NAME, str(message.chat.id), account=account), str(message.migrate_to_chat_id)
    if message.migrate_from_chat_id:
        return Address(NAME, str(message.migrate_from_chat_id), account=account), str(message.chat.id)
    return None


def thread_of(message: Message) -> str:
    """The topic's id; empty outside topics and for General, which is never named when sending."""
    if not message.is_topic_message or message.message_thread_id in (None, GENERAL_TOPIC):
        return ""
    return str(message.message_thread_id)


def sender_of(message: Message) -> str:
    """The stable id of who speaks: the user, or the chat in whose name an admin or a channel speaks."""
    if message.sender_chat is not None:
        return str(message.sender_chat.id)
    return str(message.from_user.id) if message.from_user is not None else str(message.chat.id)


def _is_from(message: Message, bot: Self) -> bool:
    return message.from_user is not None and message.from_user.id == bot.id


def _name_of(message: Message) -> str:
    if message.sender_chat is not None:
        return message.sender_chat.effective_name or ""
    return message.from_user.full_name if message.from_user is not None else ""


def _is_other_bot(message: Message) -> bool:
    """Telegram puts a stand-in bot before those who speak as a chat; these are people."""
    sender: User | None = message.from_user
    return sender is not None and sender.is_bot and message.sender_chat is None


def _replied_to(message: Message) -> Message | None:
    """The message that is answered. In a topic every message formally answers the one that opened it."""
    reply = message.reply_to_message
    return None if reply is None or reply.forum_topic_created is not None else reply


def _quoted_text(message: Message, reply: Message | None) -> str:
    if message.quote is not None:
        return message.quote.text
    return (reply.text or reply.caption or "") if reply is not None else ""


def _with_words(parts: Sequence[Message]) -> Message:
    """The part by which an album is known: people edit, and reply to, the one with the caption."""
    return next((part for part in parts if part.text or part.caption), parts[0])


def _update_id(update: Update) -> str:
    return f"update:{update.update_id}"


def _dedup_ids(updates: Iterable[Update]) -> tuple[str, ...]:
    """An edit keeps its message's id, so only the update tells two edits apart."""
    ids: list[str] = []
    for update in updates:
        ids.append(_update_id(update))
        message = message_of(update)
        if message is not None and not is_edit(update):
            ids.append(f"message:{message.chat.id}:{message.message_id}")
    return tuple(ids)


def _metadata(message: Message) -> dict[str, str]:
    known = {
        "chat_type": str(message.chat.type),
        "chat_title": message.chat.title or "",
        "album": message.media_group_id or "",
        "forwarded": "yes" if message.forward_origin is not None else "",
    }
    return {key: value for key, value in known.items() if value}


def _spoken(message: Message, bot: Self) -> Spoken:
    text, entities = message.text or message.caption or "", message.entities or message.caption_entities
    spoken = spoken_to(bot, text, entities)
    if message.chat.type == "private":
        return Spoken(without_start(spoken.text), spoken.mentioned)
    return spoken


def _content(parts: Sequence[Message], spoken: Sequence[Spoken]) -> tuple[ContentBlock, ...]:
    """The words of all parts, then their files in the order in which they were sent."""
    words = [ContentBlock(BlockType.TEXT, text=each.text) for each in spoken if each.text.strip()]
    return (*words, *(block for part in parts for block in attachments_of(part)))
