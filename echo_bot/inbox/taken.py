"""What became of an event that came in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from echo_bot.channel import CommandReply


@dataclass(frozen=True, slots=True)
class Taken:
    """Was it stored, was it queued as a turn, and what is to be said now or once `work` is done?"""

    stored: bool
    queued: bool = False
    text: str = ""
    ok: bool = True
    busy: bool = False
    work: Callable[[], Awaitable[str]] | None = None


def reply_of(taken: Taken) -> CommandReply:
    repeated = taken.ok and not taken.stored
    return CommandReply(taken.text, queued=taken.queued, ok=taken.ok, busy=taken.busy, repeated=repeated)
