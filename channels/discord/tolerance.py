"""Events as the SDK can read them: what a server left out is filled in, what stays unreadable is dropped.

The SDK ends the whole connection over one field that it misses, and with it whatever else was on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import structlog

log = structlog.get_logger(__name__)

Parse = Callable[[Any], None]
ServerOf = Callable[[int], int | None]
"""The server of a channel, by their ids; None for one that is not known."""

Data = dict[str, Any]

_USER: Mapping[str, Any] = {"discriminator": "0", "avatar": None}
_MEMBER: Mapping[str, Any] = {"roles": (), "flags": 0}
_INTERACTION = "INTERACTION_CREATE"
_TEXT, _DIRECT = 0, 1
_NEEDED = frozenset({"READY"})
"""Without these there is no session: the connection is made anew."""


def make_tolerant(parsers: dict[str, Parse], server_of: ServerOf) -> None:
    """Change the SDK's parsers, which it keeps by the name of the event, in place."""
    for event, parse in tuple(parsers.items()):
        if event not in _NEEDED:
            parsers[event] = _tolerant(event, parse, server_of)


def completed(event: str, data: Data, server_of: ServerOf) -> Data:
    """`data` with what the SDK insists on; nothing that was sent is changed, but null words are none.

    What names no server the SDK takes for a direct chat, in which the bot answers everything.
    """
    full = _with_people(data)
    if data.get("channel_id") is not None and data.get("guild_id") is None:
        server = server_of(int(data["channel_id"]))
        if server is not None:
            full["guild_id"] = str(server)
    for key in ("message", "referenced_message"):
        if isinstance(full.get(key), dict):
            full[key] = _with_people(full[key])
    if event == _INTERACTION:
        full.setdefault("attachment_size_limit", 0)
        if not isinstance(full.get("channel"), dict):
            full["channel"] = _plain_channel(full)
    return full


def _with_people(data: Data) -> Data:
    full = dict(data)
    for key in ("author", "user"):
        if isinstance(data.get(key), dict):
            full[key] = {**_USER, **data[key]}
    member = data.get("member")
    if isinstance(member, dict):
        full["member"] = {**_MEMBER, **_with_people(member)}
    if "content" in data and data["content"] is None:
        full["content"] = ""
    return full


def _plain_channel(interaction: Data) -> Data:
    """Where it happened, from the id alone. Of a server's channel that it knows the SDK takes no more."""
    if interaction.get("guild_id") is not None:
        return {"id": interaction["channel_id"], "type": _TEXT, "name": "", "position": 0}
    return {"id": interaction["channel_id"], "type": _DIRECT, "recipients": [interaction["user"]]}


def _tolerant(event: str, parse: Parse, server_of: ServerOf) -> Parse:
    def read(data: Any) -> None:
        try:
            _read(event, parse, completed(event, data, server_of) if isinstance(data, dict) else data)
        except Exception as error:  # noqa: BLE001 whatever the SDK stumbles over, the connection stays
            log.warning("discord_event_not_read", event_name=event, error=type(error).__name__)

    return read


def _read(event: str, parse: Parse, data: Any) -> None:
    try:
        parse(data)
    except Exception:
        if event != _INTERACTION:
            raise
        parse({**data, "channel": _plain_channel(data)})
