"""What an action on workflows and tasks comes to, and whose it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from echo_bot.events import Identity, InboundEvent, TurnId
from echo_bot.session import event_from_json
from echo_bot.storage.protocol import Turns
from echo_bot.storage.records import TurnRecord

IsAdmin = Callable[[Identity], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Said:
    """The answer, or with `ok` False the sentence why nothing was done."""

    text: str
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Caller:
    """Who acts: the turn in which it happens and its event. A worker may look and change nothing."""

    turn: TurnRecord
    event: InboundEvent
    is_admin: bool

    @property
    def owner(self) -> str:
        return str(self.event.sender)

    @property
    def is_worker(self) -> bool:
        return self.event.worker is not None

    def may_see(self, owner: str) -> bool:
        return self.is_admin or self.owner == owner


async def caller_of(turns: Turns, turn_id: TurnId, is_admin: IsAdmin) -> Caller | None:
    """None when the turn is not there. Nobody acts as an admin in a turn without a person."""
    turn = await turns.get(turn_id)
    if turn is None:
        return None
    event = event_from_json(turn.event_json)
    return Caller(turn, event, not event.unattended and await is_admin(event.sender))


def refused(sentence: str) -> Said:
    return Said(sentence, ok=False)
