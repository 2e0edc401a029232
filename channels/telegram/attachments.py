"""What a message holds besides its text: files by their id at Telegram, everything else in words."""

from __future__ import annotations

from collections.abc import Callable

from telegram import Message, Sticker

from channels.telegram.reading import UNREAD
from echo_bot.events import BlockType, ContentBlock


def attachments_of(message: Message) -> tuple[ContentBlock, ...]:
    """The file of a message, of a photo the largest size, or a line that says what was sent."""
    if message.photo:
        best = max(message.photo, key=lambda size: size.width * size.height)
        return (ContentBlock(BlockType.IMAGE, ref=best.file_id, mime="image/jpeg", size=best.file_size or 0),)
    if message.sticker is not None:
        return _sticker(message.sticker)
    if message.video_note is not None:
        note = message.video_note
        return (ContentBlock(BlockType.VIDEO, ref=note.file_id, mime="video/mp4", size=note.file_size or 0),)
    if message.voice is not None:
        voice = message.voice
        mime = voice.mime_type or "audio/ogg"
        return (ContentBlock(BlockType.VOICE, ref=voice.file_id, mime=mime, size=voice.file_size or 0),)
    return _named_file(message) or _in_words(message)


def _sticker(sticker: Sticker) -> tuple[ContentBlock, ...]:
    """An animated sticker is no picture to any program but Telegram's own."""
    if sticker.is_animated:
        kind, mime = BlockType.FILE, "application/x-tgsticker"
    elif sticker.is_video:
        kind, mime = BlockType.VIDEO, "video/webm"
    else:
        kind, mime = BlockType.IMAGE, "image/webp"
    said = ContentBlock(BlockType.TEXT, text=f"Sticker {sticker.emoji}" if sticker.emoji else "Sticker")
    return said, ContentBlock(kind, ref=sticker.file_id, mime=mime, size=sticker.file_size or 0)


def _named_file(message: Message) -> tuple[ContentBlock, ...]:
    # An animation comes with a document of the same file, so it is looked at first.
    candidates = (
        (BlockType.VIDEO, message.animation),
        (BlockType.VIDEO, message.video),
        (BlockType.AUDIO, message.audio),
        (BlockType.FILE, message.document),
    )
    for kind, media in candidates:
        if media is not None:
            name, mime, size = media.file_name or "", media.mime_type or "", media.file_size or 0
            return (ContentBlock(kind, ref=media.file_id, name=name, mime=mime, size=size),)
    return ()


def _in_words(message: Message) -> tuple[ContentBlock, ...]:
    for describe in _DESCRIPTIONS:
        if words := describe(message):
            return (ContentBlock(BlockType.TEXT, text=words),)
    return ()


def _venue(message: Message) -> str:
    venue = message.venue
    if venue is None:
        return ""
    at = venue.location
    return f"Venue: {venue.title}, {venue.address} ({at.latitude:.6f}, {at.longitude:.6f})"


def _location(message: Message) -> str:
    at = message.location
    if at is None:
        return ""
    return f"{'Live location' if at.live_period else 'Location'}: {at.latitude:.6f}, {at.longitude:.6f}"


def _contact(message: Message) -> str:
    contact = message.contact
    if contact is None:
        return ""
    return f"Contact: {contact.first_name} {contact.last_name or ''}".rstrip() + f", {contact.phone_number}"


def _poll(message: Message) -> str:
    poll = message.poll
    return "\n".join([f"Poll: {poll.question}", *(f"- {each.text}" for each in poll.options)]) if poll else ""


def _dice(message: Message) -> str:
    return f"{message.dice.emoji} shows {message.dice.value}" if message.dice is not None else ""


def _checklist(message: Message) -> str:
    checklist = message.checklist
    if checklist is None:
        return ""
    tasks = (f"- [{'x' if task.completion_date else ' '}] {task.text}" for task in checklist.tasks)
    return "\n".join([f"Checklist: {checklist.title}", *tasks])


def _closed_to_bots(message: Message) -> str:
    """What Telegram shows to people only."""
    kinds = {
        "a story": message.story,
        "a game": message.game,
        "paid media": message.paid_media,
        "an invoice": message.invoice,
        "a giveaway": message.giveaway,
    }
    return next((f"({name}, which bots cannot see)" for name, sent in kinds.items() if sent is not None), "")


def _unread(message: Message) -> str:
    """What the SDK could not read, where a message says nothing else."""
    field = message.api_kwargs.get(UNREAD)
    said = message.text or message.caption
    return f"({field}: of a kind that this bot cannot read)" if field and not said else ""


# A venue holds a location too, so it is looked at first.
_DESCRIPTIONS: tuple[Callable[[Message], str], ...] = (
    _venue,
    _location,
    _contact,
    _poll,
    _dice,
    _checklist,
    _closed_to_bots,
    _unread,
)
