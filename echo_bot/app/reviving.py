"""Turns of an earlier run of the bot: they go on where their journals end, for whoever still may."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from echo_bot.session import event_from_json
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import TurnRecord, TurnState

if TYPE_CHECKING:
    from echo_bot.app.parts import Parts

log = structlog.get_logger(__name__)


async def revivable(parts: Parts, store: Store) -> tuple[TurnRecord, ...]:
    """Those that were queued, ran or waited. What may not go on is stopped. Raises StorageError."""
    found = []
    for turn in await store.turns.unfinished():
        why = await _why_over(parts, turn)
        if why:
            await _end(parts, store, turn, why)
        else:
            found.append(turn)
    return tuple(found)


async def _why_over(parts: Parts, turn: TurnRecord) -> str:
    """The rules may be others than when it began. One that cannot be read fails by itself."""
    try:
        sender = event_from_json(turn.event_json).sender
    except ValueError:
        return ""
    if not await parts.inbox.admits(sender):
        return f"{sender} may not use this bot any more"
    return await parts.scheduling.why_over(turn)


async def _end(parts: Parts, store: Store, turn: TurnRecord, why: str) -> None:
    log.warning("turn_not_revived", turn=turn.turn_id, reason=why)
    await store.turns.set_state(turn.turn_id, TurnState.STOPPED, why)
    await parts.broker.cancel_turns((turn.turn_id,), why)
    await parts.audit.record("turn_not_revived", turn=turn.turn_id, of=turn.kind, reason=why)
