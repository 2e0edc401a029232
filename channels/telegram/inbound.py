"""A Telegram message as an `InboundEvent`: pure conversion, nothing is asked or fetched."""

from __future__ import annotations

from telegram import Message, Update, User

from channels.telegram.mentions import Self, spoken_to
from echo_bot.channel import inbound_event
from echo_bot.events import BlockType, ContentBlock, EventType, InboundEvent

NAME = "telegram"
GENERAL_TOPIC = 1

MESSAGE_KINDS = ("message", "edited_message", "channel_post", "edited_channel_post")


def event_of(update: Update, bot: Self, account: str) -> InboundEvent | None:
    """The event of a message update; None for one with nothing said in it, or said by the bot itself."""
    edited = update.edited_message or update.edited_channel_post
    message = edited or update.message or update.channel_post
    if message is None or (message.from_user is not None and message.from_user.id == bot.id):
        return None
    spoken = spoken_to(
        bot, message.text or message.caption or "", message.entities or message.caption_entities
    )
    content = _content(message, spoken.text)
    if not content and not spoken.mentioned:
        return None
    chat_id = str(message.chat.id)
    reply = _replied_to(message)
    reply_is_own = reply is not None and reply.from_user is not None and reply.from_user.id == bot.id
    return inbound_event(
        event_id=f"update:{update.update_id}",
        event_type=EventType.EDIT if edited else EventType.MESSAGE,
        channel=NAME,
        account=account,
        chat_id=chat_id,
        thread_id=thread_of(message),
        sender_id=sender_of(message),
        sender_name=_name_of(message),
        message_id=str(message.message_id),
        timestamp=message.edit_date if edited and message.edit_date else message.date,
        content=content,
        reply_to_id=str(reply.message_id) if reply else "",
        reply_to_text=_quoted_text(message, reply),
        reply_to_sender=sender_of(reply) if reply else "",
        reply_to_is_own=reply_is_own,
        is_group=message.chat.type != "private",
        mentioned=spoken.mentioned or reply_is_own,
        from_bot=_is_other_bot(message),
        dedup_ids=_dedup_ids(update, chat_id, message, bool(edited)),
        metadata=_metadata(message),
    )


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


def _dedup_ids(update: Update, chat_id: str, message: Message, edited: bool) -> tuple[str, ...]:
    """An edit keeps its message's id, so only the update tells two edits apart."""
    update_id = f"update:{update.update_id}"
    return (update_id,) if edited else (update_id, f"message:{chat_id}:{message.message_id}")


def _metadata(message: Message) -> dict[str, str]:
    known = {
        "chat_type": str(message.chat.type),
        "chat_title": message.chat.title or "",
        "album": message.media_group_id or "",
        "forwarded": "yes" if message.forward_origin is not None else "",
    }
    return {key: value for key, value in known.items() if value}


def _content(message: Message, text: str) -> tuple[ContentBlock, ...]:
    words = (ContentBlock(BlockType.TEXT, text=text),) if text.strip() else ()
    attached = _attachment(message)
    return words if attached is None else (*words, attached)


def _attachment(message: Message) -> ContentBlock | None:
    """The file of a message, by its id at Telegram; of a photo the largest size."""
    if message.photo:
        best = message.photo[-1]
        return ContentBlock(BlockType.IMAGE, ref=best.file_id, mime="image/jpeg", size=best.file_size or 0)
    if message.sticker is not None:
        sticker = message.sticker
        return ContentBlock(
            BlockType.IMAGE, text=sticker.emoji or "", ref=sticker.file_id, size=sticker.file_size or 0
        )
    if message.video_note is not None:
        note = message.video_note
        return ContentBlock(BlockType.VIDEO, ref=note.file_id, mime="video/mp4", size=note.file_size or 0)
    if message.voice is not None:
        voice = message.voice
        mime = voice.mime_type or "audio/ogg"
        return ContentBlock(BlockType.VOICE, ref=voice.file_id, mime=mime, size=voice.file_size or 0)
    return _named_attachment(message)


def _named_attachment(message: Message) -> ContentBlock | None:
    # An animation comes with a document of the same file, so it is looked at first.
    candidates = (
        (BlockType.VIDEO, message.animation),
        (BlockType.VIDEO, message.video),
        (BlockType.AUDIO, message.audio),
        (BlockType.FILE, message.document),
    )
    for kind, media in candidates:
        if media is not None:
            return ContentBlock(
                kind,
                ref=media.file_id,
                name=media.file_name or "",
                mime=media.mime_type or "",
                size=media.file_size or 0,
            )
    return None
