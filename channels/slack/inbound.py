"""A Slack event as an `InboundEvent`: pure conversion, nothing is asked or fetched."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from channels.slack.client import Self
from channels.slack.directs import is_direct
from channels.slack.entities import readable, without_mention
from echo_bot.channel import inbound_event
from echo_bot.events import BlockType, ContentBlock, EventType, InboundEvent

NAME = "slack"

Payload = Mapping[str, Any]

_SAID = frozenset({"", "file_share", "thread_broadcast", "bot_message", "me_message"})
"""Subtypes with which somebody says something; the others report joins, topics and the like."""


_NOT_AHEAD = timedelta()
_LONGEST_ON_THE_WAY = timedelta(days=7)
"""Far longer than Slack tries to deliver anything, which is a day at most."""


def message_in(body: Payload) -> tuple[Payload, bool] | None:
    """The message of an event and whether it is an edit; None where nobody says anything."""
    event: Payload = body.get("event") or {}
    if event.get("type") == "app_mention":
        # Whoever edits a mention, or edits one into a message, mentions the bot once more.
        return event, bool(event.get("edited"))
    subtype = event.get("subtype") or ""
    if event.get("type") != "message":
        return None
    if subtype == "message_changed":
        return _edited(event)
    return (event, False) if subtype in _SAID else None


def deleted_in(body: Payload) -> tuple[str, str]:
    """The chat and the timestamp of a message that is deleted by an event, else two empty words.

    One with replies is not deleted but changed into a notice of that.
    """
    event: Payload = body.get("event") or {}
    changed: Payload = event.get("message") or {}
    chat_id = str(event.get("channel") or "")
    match event.get("subtype"), changed.get("subtype"):
        case ("message_deleted", _):
            return chat_id, str(event.get("deleted_ts") or "")
        case ("message_changed", "tombstone"):
            return chat_id, str(changed.get("ts") or "")
    return "", ""


def event_of(
    body: Payload,
    own: Self,
    account: str,
    names: Mapping[str, str],
    envelope_id: str = "",
    ahead: timedelta = _NOT_AHEAD,
) -> InboundEvent | None:
    """The event of a message or an edit; None for one with nothing said in it, or said by the bot itself.

    `ahead` is how far this machine's clock is ahead of Slack's.
    """
    found = message_in(body)
    if found is None or is_own(found[0], own):
        return None
    message, is_edit = found
    spoken, mentioned = without_mention(str(message.get("text") or ""), own.user_id)
    content = _content(message, readable(spoken, names), names)
    chat_id, ts, sender = str(message.get("channel") or ""), str(message.get("ts") or ""), sender_of(message)
    if not (chat_id and ts and sender) or not (content or mentioned):
        return None
    direct = is_direct_message(message)
    place = f"{own.team_id or body.get('team_id')}:{chat_id}:{ts}"
    edited_at = str((message.get("edited") or {}).get("ts") or "")
    parent = str(message.get("thread_ts") or "")
    is_reply = parent not in ("", ts)
    return inbound_event(
        event_id=f"edit:{place}:{edited_at}" if is_edit else f"message:{place}",
        event_type=EventType.EDIT if is_edit else EventType.MESSAGE,
        channel=NAME,
        account=account,
        chat_id=chat_id,
        thread_id=parent or ("" if direct else ts),
        sender_id=sender,
        sender_name=names.get(sender, ""),
        message_id=ts,
        timestamp=moment(edited_at if is_edit else ts, body.get("event_time"), ahead),
        content=content,
        reply_to_id=parent if is_reply else "",
        reply_to_is_own=is_reply and message.get("parent_user_id") == own.user_id,
        is_group=not direct,
        mentioned=mentioned,
        from_bot=is_bot(message),
        dedup_ids=delivery_ids(body, envelope_id),
        metadata={"channel_type": str(message.get("channel_type") or "")},
    )


def delivery_ids(body: Payload, envelope_id: str) -> tuple[str, ...]:
    """The ids of this delivery, beside those of what it is about."""
    event_id = str(body.get("event_id") or "")
    ids = (f"event:{event_id}" if event_id else "", f"envelope:{envelope_id}" if envelope_id else "")
    return tuple(filter(None, ids))


def sender_of(message: Payload) -> str:
    return str(message.get("user") or message.get("bot_id") or "")


def is_direct_message(message: Payload) -> bool:
    """A chat with one person. A group's direct messages count as a group."""
    kind = message.get("channel_type")
    return kind == "im" if kind else is_direct(str(message.get("channel") or ""))


def is_own(message: Payload, own: Self) -> bool:
    return (bool(own.user_id) and message.get("user") == own.user_id) or (
        bool(own.bot_id) and message.get("bot_id") == own.bot_id
    )


def is_bot(message: Payload) -> bool:
    return bool(message.get("bot_id")) or message.get("subtype") == "bot_message"


def moment(ts: str, told: object = None, ahead: timedelta = _NOT_AHEAD) -> datetime:
    """The time in a Slack timestamp, which is also a message's id, by this machine's clock.

    Nothing that was said long ago arrives now. Such a timestamp is only an id, as of a server that counts
    messages or has another clock: then what the delivery `told`, in epoch seconds, and else now.
    """
    now = datetime.now(UTC)
    for stamp in (ts, str(told or "")):
        try:
            found = datetime.fromtimestamp(float(stamp), UTC) + ahead
        except (ValueError, OverflowError, OSError):
            continue
        if now - found < _LONGEST_ON_THE_WAY:
            return found
    return now


def _edited(event: Payload) -> tuple[Payload, bool] | None:
    """The changed message, unless Slack itself changed it, by adding a preview or a reply count."""
    message: Payload = event.get("message") or {}
    before: Payload = event.get("previous_message") or {}
    by_its_author = bool(message.get("edited")) and message.get("edited") != before.get("edited")
    if not by_its_author or (message.get("subtype") or "") not in _SAID:
        return None
    about = {key: event[key] for key in ("channel", "channel_type") if key in event}
    return {**message, **about}, True


def _content(message: Payload, text: str, names: Mapping[str, str]) -> tuple[ContentBlock, ...]:
    """The words, what was forwarded with them, and all files. A command stays as it was typed."""
    forwarded = [each for each in _objects(message, "attachments") if each.get("is_share")]
    quotes = [] if text.lstrip().startswith("/") else [_forwarded(each, names) for each in forwarded]
    words = [each for each in (text, *quotes) if each.strip()]
    files = (_file(each) for source in (message, *forwarded) for each in _objects(source, "files"))
    return (
        *(ContentBlock(BlockType.TEXT, text=each) for each in words),
        *(block for block in files if block is not None),
    )


def _forwarded(attachment: Payload, names: Mapping[str, str]) -> str:
    """A message that somebody passes on: Slack puts none of it into the text. It begins like no command."""
    text = readable(str(attachment.get("text") or attachment.get("fallback") or ""), names)
    author = attachment.get("author_subname") or attachment.get("author_name") or attachment.get("author_id")
    return f"[forwarded message of {author or 'somebody'}]\n{text}" if text.strip() else ""


def _objects(source: Payload, key: str) -> list[Payload]:
    return [each for each in source.get(key) or () if isinstance(each, Mapping)]


def _file(file: Payload) -> ContentBlock | None:
    """Its `ref` is the address, or the id where Slack wants to be asked for the address first."""
    ref = str(file.get("url_private_download") or file.get("url_private") or file.get("id") or "")
    if not ref or file.get("mode") in ("tombstone", "hidden_by_limit"):
        return None
    mime = str(file.get("mimetype") or "")
    size = file.get("size")
    return ContentBlock(
        _kind(mime, str(file.get("subtype") or "")),
        ref=ref,
        name=str(file.get("name") or file.get("title") or ""),
        mime=mime,
        size=size if isinstance(size, int) else 0,
    )


def _kind(mime: str, subtype: str) -> BlockType:
    if subtype == "slack_audio":
        return BlockType.VOICE
    kinds = {"image": BlockType.IMAGE, "audio": BlockType.AUDIO, "video": BlockType.VIDEO}
    return kinds.get(mime.partition("/")[0], BlockType.FILE)
