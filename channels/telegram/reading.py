"""What Telegram sends, update by update: one that the SDK cannot read keeps no other from being heard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import structlog
from telegram import Update

from channels.telegram.inbound import ALLOWED_UPDATES

log = structlog.get_logger(__name__)

JsonObject = dict[str, Any]

UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""What the SDK raises for an object that lacks what it knows as required, or holds another kind of value."""

_WHO_AND_WHERE = frozenset({"message_id", "date", "chat", "from", "sender_chat"})


def readable(data: JsonObject) -> JsonObject:
    """`data` as far as the SDK can read it: whole, without one field of its content, or its number alone.

    Telegram adds fields and kinds before the SDK knows them. Kinds that nobody asked for are left out; who
    speaks and where never is. Raises one of `UNREADABLE` for what has no number and so is no update.
    """
    whole = {"update_id": int(data["update_id"])}
    whole |= {kind: data[kind] for kind in ALLOWED_UPDATES if kind in data}
    if _can_be_read(whole):
        return whole
    for field, less in _without_one_field(whole):
        if _can_be_read(less):
            log.warning("telegram_update_read_in_part", update=whole["update_id"], without=field)
            return less
    log.error(
        "telegram_update_unreadable", update=whole["update_id"], kinds=sorted(whole.keys() - {"update_id"})
    )
    return {"update_id": whole["update_id"]}


def _without_one_field(data: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for kind, content in data.items():
        if isinstance(content, dict):
            for field in content.keys() - _WHO_AND_WHERE:
                less = {key: value for key, value in content.items() if key != field}
                yield field, {**data, kind: less}


def _can_be_read(data: JsonObject) -> bool:
    try:
        Update.de_json(data, None)
    except UNREADABLE:
        return False
    return True
