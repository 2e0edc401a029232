"""Turns that workflows and tasks begin act for whom they were begun by, with that trust or less."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from echo_bot.events import (
    Address,
    BlockType,
    ContentBlock,
    EditedCall,
    EventId,
    EventType,
    InboundEvent,
    SessionKey,
    TurnId,
)
from echo_bot.flows.events import kept_event, leg_event, task_event, timer_event, workflow_of
from echo_bot.storage.flow_records import TaskRecord, TaskState, WorkflowRecord, WorkflowState
from echo_bot.storage.records import TurnRecord, TurnState

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
RECORD = WorkflowRecord("w1", "telegram/work:7", "release", "[]", WorkflowState.CREATED, NOW, NOW)
TASK = TaskRecord(
    "t1", "telegram/work:7", "Look", TaskState.OPEN, NOW, NOW, instruction="Look around", starts=2
)
TURN = TurnRecord(
    TurnId("x"),
    SessionKey("telegram/work:-1"),
    EventId("9"),
    "{}",
    TurnState.RUNNING,
    NOW,
    memory_scope="group:g",
)
EVENT = InboundEvent(
    event_id=EventId("9"),
    event_type=EventType.MESSAGE,
    channel="telegram",
    account="work",
    chat_id="-1",
    thread_id="5",
    sender_id="7",
    timestamp=NOW,
    content=(ContentBlock(BlockType.TEXT, "do it"),),
    message_id="90",
    is_group=True,
    dedup_ids=("u9",),
    album_id="a",
    metadata={"lang": "en"},
    deliver_to=Address("telegram", "-2", account="work"),
    asks_again=EditedCall("exec", "{}", "telegram:1"),
)
TRUST = ("unattended", "cron_authorized")


@pytest.mark.parametrize("unattended", [False, True])
@pytest.mark.parametrize("cron_authorized", [False, True])
def test_a_leg_has_the_trust_of_the_turn_that_begins_it(unattended: bool, cron_authorized: bool) -> None:
    event = replace(EVENT, unattended=unattended, cron_authorized=cron_authorized)
    leg = leg_event(RECORD, TURN, event, 3)
    assert leg == replace(
        event,
        event_id=EventId("workflow:w1:3"),
        content=(ContentBlock(BlockType.TEXT, "release"),),
        session_key_override="workflow:w1",
        memory_scope="group:g",
        dedup_ids=(),
        album_id="",
        metadata={},
        asks_again=None,
    )
    assert workflow_of(leg) == ("w1", 3)


@pytest.mark.parametrize("unattended", [False, True])
@pytest.mark.parametrize("cron_authorized", [False, True])
def test_what_a_timer_begins_is_unattended_and_authorised_for_nothing(
    unattended: bool, cron_authorized: bool
) -> None:
    event = replace(EVENT, unattended=unattended, cron_authorized=cron_authorized)
    leg = timer_event(RECORD, leg_event(RECORD, TURN, event, 1), 2)
    start = task_event(TASK, kept_event(TURN, event))
    for begun in (leg, start):
        assert (begun.unattended, begun.cron_authorized) == (True, False)
        assert (begun.sender, begun.address, begun.memory_scope) == (event.sender, event.address, "group:g")
        assert begun.answered_at == event.answered_at
    assert (leg.event_id, leg.session_key_override) == ("workflow:w1:2", "workflow:w1")
    assert (start.event_id, start.session_key_override, start.text) == ("task:t1:3", "task:t1", "Look around")
    assert "It is time for task t1 (Look)" in start.occasion
