"""What Telegram sends, as far as the SDK can read it: what it cannot read keeps nothing else out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import structlog
from telegram import Update

log = structlog.get_logger(__name__)

JsonObject = dict[str, Any]

ALLOWED_UPDATES = ("message", "edited_message", "channel_post", "edited_channel_post", "callback_query")

UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""What the SDK raises for an object that lacks what it knows as required, or holds another kind of value."""

UNREAD = "unread_field"
"""The key, unknown to the SDK, under which a message names the field that was left out."""

_WHO_AND_WHERE = frozenset({"message_id", "date", "chat", "from", "sender_chat"})
_PRESSED = "message"
"""The key under which a press names the message whose button it is; a message has no such key itself."""

_PLACE_OF_PRESSED = ("message_id", "date", "chat", "from", "is_topic_message", "message_thread_id")


def readable(data: JsonObject) -> JsonObject:
    """`data` as far as the SDK can read it: whole, without one field of its content, or its number alone.

    Telegram adds fields and kinds before the SDK knows them, and a server of one's own may be older than the
    SDK, which asks for fields that did not exist then. Kinds that nobody asked for are left out; who
    speaks and where never is. Raises one of `UNREADABLE` for what has no number and so is no update.
    """
    whole = {"update_id": int(data["update_id"])}
    whole |= {kind: data[kind] for kind in ALLOWED_UPDATES if kind in data}
    if _can_be_read(whole):
        return whole
    filled: JsonObject = _with_polls_filled(whole)
    if _can_be_read(filled):
        return filled
    for field, less in _without_one_field(whole):
        if _can_be_read(less):
            log.warning("telegram_update_read_in_part", update=whole["update_id"], without=field)
            return less
    log.error(
        "telegram_update_unreadable", update=whole["update_id"], kinds=sorted(whole.keys() - {"update_id"})
    )
    return {"update_id": whole["update_id"]}


def receipt(result: Any) -> Any:
    """Of a message that was just sent or changed, which one it is: nothing else of it is of use.

    It holds the message that it answers, by which the SDK would fail although everything was done. A server
    of one's own may tell the number alone.
    """
    if not isinstance(result, dict) or "message_id" not in result:
        return result
    told = result.get("chat")
    known = told if isinstance(told, dict) else {}
    chat = {"id": known.get("id", 0), "type": known.get("type", "")}
    return {"message_id": result["message_id"], "date": result.get("date", 0), "chat": chat}


def _with_polls_filled(value: Any) -> Any:
    """What older servers do not tell of a poll, wherever one is, as if it were a plain one."""
    if isinstance(value, list):
        return [_with_polls_filled(each) for each in value]
    if not isinstance(value, dict):
        return value
    filled = {key: _with_polls_filled(each) for key, each in value.items()}
    poll = filled.get("poll")
    if isinstance(poll, dict):
        options = poll.get("options")
        told = options if isinstance(options, list) else []
        numbered = [
            {"persistent_id": str(place)} | option if isinstance(option, dict) else option
            for place, option in enumerate(told)
        ]
        filled["poll"] = {"allows_revoting": False, "members_only": False} | poll | {"options": numbered}
    return filled


def _without_one_field(data: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for kind, content in data.items():
        for field in content if isinstance(content, dict) else ():
            if field not in _WHO_AND_WHERE:
                less = {key: value for key, value in content.items() if key != field}
                if field == _PRESSED:
                    less[field] = _place_of(content[field])
                yield field, {**data, kind: less | {UNREAD: field}}


def _place_of(pressed: Any) -> Any:
    """Without its message a press would count as one in the presser's direct chat."""
    if not isinstance(pressed, dict):
        return pressed
    return {key: pressed[key] for key in _PLACE_OF_PRESSED if key in pressed}


def _can_be_read(data: JsonObject) -> bool:
    try:
        Update.de_json(data, None)
    except UNREADABLE:
        return False
    return True
