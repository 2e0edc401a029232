"""The events of turns that workflows and tasks begin: made from another turn's, with its trust or less."""

from __future__ import annotations

from dataclasses import replace

from echo_bot.approval.escape import escape_line
from echo_bot.events import BlockType, ContentBlock, EventId, EventType, InboundEvent, SessionKey
from echo_bot.storage.flow_records import TaskRecord, WorkflowRecord
from echo_bot.storage.records import TurnRecord

_WORKFLOW, _TASK = "workflow:", "task:"


def workflow_session(workflow_id: str) -> SessionKey:
    return SessionKey(f"{_WORKFLOW}{workflow_id}")


def workflow_of(event: InboundEvent) -> tuple[str, int]:
    """The id of the workflow and the leg that this event began."""
    workflow_id, _, leg = event.event_id.removeprefix(_WORKFLOW).rpartition(":")
    return workflow_id, int(leg)


def leg_event(record: WorkflowRecord, turn: TurnRecord, event: InboundEvent, leg: int) -> InboundEvent:
    """The event of a leg that this turn begins: its sender, its chat, attended if it is."""
    own = replace(
        event, memory_scope=turn.memory_scope, session_key_override=workflow_session(record.workflow_id)
    )
    return _plain(own, f"{_WORKFLOW}{record.workflow_id}:{leg}", record.name)


def timer_event(record: WorkflowRecord, event: InboundEvent, leg: int) -> InboundEvent:
    """The event of a leg that a timer begins: nobody is there."""
    return _unattended(_plain(event, f"{_WORKFLOW}{record.workflow_id}:{leg}", record.name))


def kept_event(turn: TurnRecord, event: InboundEvent) -> InboundEvent:
    """What a task keeps of the turn that scheduled it, with the conversation that it was."""
    own = replace(event, memory_scope=turn.memory_scope, session_key_override=turn.session_key)
    return _plain(own, event.event_id, "")


def task_event(task: TaskRecord, kept: InboundEvent) -> InboundEvent:
    """The event of a scheduled start: nobody is there, whoever scheduled it."""
    which = f"{task.task_id} ({escape_line(task.title)})"
    own = replace(
        kept,
        session_key_override=SessionKey(f"{_TASK}{task.task_id}"),
        occasion=f"[It is time for task {which}, as scheduled. Nobody is there: calls that write or run code "
        "may be denied; then say what could not be done.]",
    )
    return _unattended(_plain(own, f"{_TASK}{task.task_id}:{task.starts + 1}", task.instruction))


def _unattended(event: InboundEvent) -> InboundEvent:
    return replace(event, unattended=True, cron_authorized=False)


def _plain(event: InboundEvent, event_id: str, text: str) -> InboundEvent:
    """Without what belongs to the message that the event once was."""
    return replace(
        event,
        event_id=EventId(event_id),
        event_type=EventType.MESSAGE,
        content=(ContentBlock(BlockType.TEXT, text),),
        reply_to_id="",
        reply_to_text="",
        reply_to_sender="",
        reply_to_is_own=False,
        dedup_ids=(),
        album_id="",
        metadata={},
        is_control=False,
        asks_again=None,
    )
