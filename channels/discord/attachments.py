"""Attachments as content blocks, and back: links expire, so a block names the message it came with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from urllib.parse import quote

from discord import Attachment, Message

from echo_bot.channel import FileLocation
from echo_bot.errors import TargetGone
from echo_bot.events import BlockType, ContentBlock

_FILE_HOSTS = ("https://cdn.discordapp.com/", "https://media.discordapp.net/")
_AS_THEY_ARE = "%!#$&'()*+,/:;=?@[]~"
_KINDS = {"image": BlockType.IMAGE, "video": BlockType.VIDEO, "audio": BlockType.AUDIO}


def blocks_of(message: Message) -> Iterator[ContentBlock]:
    """The message's files, those of a message it forwards included."""
    for attachment in all_attachments(message):
        mime = (attachment.content_type or "").partition(";")[0]
        yield ContentBlock(
            BlockType.VOICE if attachment.is_voice_message() else _kind_of(mime),
            ref=f"{message.channel.id}/{message.id}/{attachment.id}",
            name=name_of(attachment),
            mime=mime,
            size=attachment.size,
        )


def quoted_blocks_of(message: Message) -> Iterator[ContentBlock]:
    """The files of a message that is answered. Voice is a recording among them: it is not the sender's."""
    for block in blocks_of(message):
        yield replace(block, type=BlockType.AUDIO) if block.type is BlockType.VOICE else block


def all_attachments(message: Message) -> Iterator[Attachment]:
    yield from message.attachments
    for snapshot in message.message_snapshots:
        yield from snapshot.attachments


def ids_of(block: ContentBlock) -> tuple[int, int, int]:
    """Channel, message and attachment. Raises TargetGone for a reference of another kind."""
    try:
        channel_id, message_id, attachment_id = map(int, block.ref.split("/"))
    except ValueError:
        raise TargetGone("this is no file of Discord") from None
    return channel_id, message_id, attachment_id


def location_of(url: str) -> FileLocation:
    """Of an address as it came: a server may leave a file's name in it as people wrote it."""
    url = quote(url, safe=_AS_THEY_ARE)
    return FileLocation(url=url, at_platform=url.startswith(_FILE_HOSTS))


def name_of(attachment: Attachment) -> str:
    """As the sender named it: `filename` is without what Discord takes out of names, as most letters are."""
    ending = PurePosixPath(attachment.filename).suffix
    title = attachment.title or ""
    return f"{title.removesuffix(ending)}{ending}" if title else attachment.filename


def _kind_of(mime: str) -> BlockType:
    return _KINDS.get(mime.partition("/")[0], BlockType.FILE)
