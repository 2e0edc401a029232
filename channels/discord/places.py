"""Where something was said: a channel, a thread of one (a channel too, at Discord), or a direct chat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from discord import ChannelType, DMChannel, Thread
from discord.abc import GuildChannel

NAME = "discord"
_THREADS = {ChannelType.news_thread.value, ChannelType.public_thread.value, ChannelType.private_thread.value}


@dataclass(frozen=True, slots=True)
class Where:
    """`chat_id` is the channel, of a thread its parent; names are for display."""

    chat_id: str
    thread_id: str = ""
    is_group: bool = True
    names: tuple[tuple[str, str], ...] = ()


def where(channel: object) -> Where | None:
    """None for a channel that the SDK does not know: it may be a thread."""
    match channel:
        case DMChannel():
            return Where(str(channel.id), is_group=False)
        case Thread():
            return Where(str(channel.parent_id), str(channel.id), names=_names(channel))
        case GuildChannel():
            return Where(str(channel.id), names=_names(channel))
        case _:
            return None


def where_of(data: Mapping[str, Any], known: Callable[[int], object]) -> Where:
    """The same of a channel as the server describes it, however little it says; `known` finds its parent."""
    channel_id, parent_id = str(data["id"]), str(data.get("parent_id") or "")
    if data.get("type") in _THREADS and parent_id:
        parent, name = known(int(parent_id)), str(data.get("name") or "")
        around = _names(parent) if isinstance(parent, GuildChannel) else ()
        return Where(parent_id, channel_id, names=((("thread", name),) if name else ()) + around)
    return Where(channel_id, is_group=data.get("type") != ChannelType.private.value)


def _names(channel: GuildChannel | Thread) -> tuple[tuple[str, str], ...]:
    """What the core may show of the place, the narrowest first: thread, channel, category, server."""
    parent = channel.parent if isinstance(channel, Thread) else channel
    category = getattr(parent, "category", None)
    known = {
        "thread": channel.name if isinstance(channel, Thread) else "",
        "channel": getattr(parent, "name", ""),
        "category": category.name if category is not None else "",
        "server": channel.guild.name if channel.guild is not None else "",
    }
    return tuple((key, value) for key, value in known.items() if value)
