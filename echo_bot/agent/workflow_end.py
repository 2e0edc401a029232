"""The end of a workflow, whoever finds it: in its message, in the model's history, of what was its own."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from echo_bot.agent.document import framed
from echo_bot.delivery import Delivery, LiveMessage
from echo_bot.events import SessionKey, TurnId
from echo_bot.flows.definition import BadDefinition, Step, read_steps
from echo_bot.flows.events import workflow_session
from echo_bot.flows.progress import Progress
from echo_bot.flows.shown import shown, told
from echo_bot.session import event_from_json
from echo_bot.storage.flow_records import WorkflowRecord
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import HistoryEntry

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Endings:
    """`end_session` ends what belongs to a workflow's session. An end may be told again; it counts once.

    `mask_known` is for what the model reads, `mask` for people.
    """

    store: Store
    delivery: Delivery
    end_session: Callable[[SessionKey], Awaitable[object]]
    mask: Callable[[str], str]
    mask_known: Callable[[str], str]
    clock: Callable[[], datetime]

    async def close(self, record: WorkflowRecord, steps: Sequence[Step], progress: Progress) -> None:
        """End what was its own, and let the model of the conversation know how it went."""
        from pydantic_ai.messages import ModelMessagesTypeAdapter

        from echo_bot.agent.given import told as as_read

        await self.end_session(workflow_session(record.workflow_id))
        note = framed("workflow", told(record, steps, progress))
        messages = list(as_read(self.mask_known(f"A workflow ended.\n{note}")))
        payload = ModelMessagesTypeAdapter.dump_json(messages).decode()
        entry = HistoryEntry(TurnId(f"{record.turn_id}:end"), payload, self.clock())
        await self.store.sessions.add_history(SessionKey(record.session_key), entry)

    async def tell(self, record: WorkflowRecord) -> None:
        """The same of one whose turn is over and did not say so, and in the message that showed it."""
        try:
            event, steps = event_from_json(record.event_json), read_steps(json.loads(record.steps_json))
        except (BadDefinition, ValueError) as error:
            log.error("workflow_unreadable", workflow=record.workflow_id, error=str(error))
            await self.end_session(workflow_session(record.workflow_id))
            return
        progress = {each.step_id: each for each in await self.store.workflows.steps(record.workflow_id)}
        live = LiveMessage(self.delivery, self.store.outbox, record.turn_id, event, self.mask)
        await live.finish(shown(record, steps, progress, live.most_chars))
        await self.close(record, steps, progress)
