"""What the broker and the gate call back into: turn states, notices, asking again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import structlog

from echo_bot.agent.directive import split_command
from echo_bot.approval.stored import request_from_json
from echo_bot.delivery import Delivery
from echo_bot.errors import StorageError
from echo_bot.events import (
    Address,
    BlockType,
    ContentBlock,
    EditedCall,
    EventId,
    Identity,
    InboundEvent,
    PressReply,
    TurnId,
)
from echo_bot.inbox import Inbox
from echo_bot.session import event_from_json
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord, TurnState
from echo_bot.text.language import N_, _

log = structlog.get_logger(__name__)

_AGAIN = "The call {tool} was not decided in time. Please try exactly that call again."
_EDITED_AGAIN = (
    "The call {tool}, as a person changed it, was not decided in time. Please try exactly that call again, "
    "with these arguments: {args}"
)

_STEP_OVER = N_("This was a step of a workflow, which went on without it. Start the workflow again.")


class Callbacks:
    """`inbox` is set by the composition root as its last step."""

    inbox: Inbox

    def __init__(self, store: Store, delivery: Delivery, clock: Callable[[], datetime]) -> None:
        self._store, self._delivery, self._clock = store, delivery, clock
        self._waiting: Counter[TurnId] = Counter()

    async def on_waiting(self, turn_id: TurnId, is_waiting: bool) -> None:
        """One call of the turn begins or ends to wait. Failing to note it stops nothing: it is for people."""
        self._waiting[turn_id] += 1 if is_waiting else -1
        waits = self._waiting[turn_id] > 0
        if not waits:
            del self._waiting[turn_id]
        try:
            await self._store.turns.set_state(turn_id, TurnState.WAITING if waits else TurnState.RUNNING)
        except StorageError as error:
            log.warning("turn_state_unwritten", turn=turn_id, error=str(error))

    async def notice(self, address: Address, text: str, *, source: str, reply_to_id: str = "") -> None:
        await self._delivery.send(address, text, source=source, markdown=False, reply_to_id=reply_to_id)

    async def ask_again(self, record: ApprovalRecord, by: Identity) -> PressReply:
        """A direct call runs anew as it was last written; in a chat the model is told to try again."""
        turn = await self._store.turns.get(record.turn_id)
        if turn is None:
            return PressReply(_("The request is too old to be asked again."), ok=False)
        if turn.kind == "workflow":
            return PressReply(_(_STEP_OVER), ok=False)
        event = event_from_json(turn.event_json)
        if not await self.inbox.admits(event.sender):
            return PressReply(_("Whoever asked for it may not use this bot any more."), ok=False)
        asked = await self.inbox.submit(again(event, record, self._clock()))
        return PressReply(_("Asking again.") if asked else _("It was asked again already."), ok=asked)


def again(event: InboundEvent, record: ApprovalRecord, now: datetime) -> InboundEvent:
    """The event that repeats an expired request, with an id of its own that can be used once.

    A call that a person had changed is asked for as it was changed.
    """
    is_direct = bool(split_command(event.text)[0])
    edited, text = None, event.text
    if record.edited_by:
        call = request_from_json(record.request_json)
        args = json.dumps(dict(call.args), ensure_ascii=False)
        edited = EditedCall(call.tool, args, record.edited_by, call.edited_by_name)
        text = f"/tool {call.tool} {args}" if is_direct else _EDITED_AGAIN.format(tool=call.tool, args=args)
    elif not is_direct:
        text = _AGAIN.format(tool=record.tool)
    files = tuple(block for block in event.content if is_direct and block.type is not BlockType.TEXT)
    return replace(
        event,
        event_id=EventId(f"again:{record.approval_id}"),
        dedup_ids=(),
        message_id="",
        timestamp=now,
        content=(ContentBlock(BlockType.TEXT, text), *files),
        asks_again=edited,
    )
