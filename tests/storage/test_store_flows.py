from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot.events import SessionKey, TurnId
from echo_bot.storage.flow_records import (
    StepRecord,
    StepState,
    TaskRecord,
    TaskState,
    WorkflowRecord,
    WorkflowState,
)
from echo_bot.storage.records import ChatMove
from echo_bot.storage.store import SqlStore, open_store, sqlite_url

NOW = datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
STEPS = (StepRecord("a"), StepRecord("b"))
RUNNING = WorkflowState.RUNNING


def workflow(number: int = 1, owner: str = "telegram:1", name: str = "release") -> WorkflowRecord:
    return WorkflowRecord(f"w{number}", owner, name, '[{"id": "a"}]', WorkflowState.CREATED, NOW, NOW)


def task(number: int = 1, owner: str = "telegram:1") -> TaskRecord:
    return TaskRecord(
        f"t{number}", owner, f"Task {number}", TaskState.OPEN, NOW + timedelta(seconds=number), NOW
    )


async def test_a_workflow_and_its_steps_come_back_as_they_were(store: SqlStore) -> None:
    record = replace(
        workflow(), session_key="telegram:1", turn_id=TurnId("x"), event_json="{}", leg=2, resume_at=LATER
    )
    step = StepRecord("a", StepState.RETRYING, 2, 1, "out", "err", LATER)
    assert await store.workflows.create(record, (step, StepRecord("b")), 10) == "created"
    assert await store.workflows.get("w1") == record
    assert await store.workflows.named("telegram:1", "release") == record
    assert await store.workflows.steps("w1") == (step, StepRecord("b"))
    assert await store.workflows.get("w2") is None
    assert await store.workflows.named("telegram:2", "release") is None


async def test_a_name_is_one_owners_own(store: SqlStore) -> None:
    assert await store.workflows.create(workflow(1), STEPS, 10) == "created"
    assert await store.workflows.create(workflow(2, "telegram:2"), STEPS, 10) == "created"
    assert [each.workflow_id for each in await store.workflows.list("telegram:2", 10)] == ["w2"]
    assert len(await store.workflows.list(None, 10)) == 2


async def test_a_workflow_takes_the_place_of_its_namesake_unless_that_is_under_way(store: SqlStore) -> None:
    await store.workflows.create(workflow(1), STEPS, 1)
    assert await store.workflows.create(workflow(2), STEPS[:1], 1) == "replaced"
    assert await store.workflows.get("w1") is None
    assert await store.workflows.steps("w1") == ()
    assert await store.workflows.change(workflow(2), replace(workflow(2), state=RUNNING))
    assert await store.workflows.create(workflow(3), STEPS, 1) == "under_way"
    assert await store.workflows.create(workflow(3, name="other"), STEPS, 1) == "full"
    assert [each.workflow_id for each in await store.workflows.list(None, 10)] == ["w2"]


@pytest.mark.parametrize("change", [{"state": RUNNING}, {"leg": 1}, {"resume_at": LATER}], ids=str)
async def test_a_change_counts_only_if_nobody_was_first(store: SqlStore, change: dict[str, object]) -> None:
    await store.workflows.create(workflow(), STEPS, 10)
    first = replace(workflow(), **change)  # type: ignore[arg-type]
    done = (StepRecord("a", StepState.OK, 1),)
    assert await store.workflows.change(workflow(), first)
    assert not await store.workflows.change(workflow(), replace(workflow(), name="late"), done)
    assert await store.workflows.get("w1") == first
    assert await store.workflows.steps("w1") == STEPS
    assert await store.workflows.change(first, replace(first, state=WorkflowState.DONE), done)
    assert (await store.workflows.steps("w1"))[0] == done[0]


async def test_a_step_done_by_hand_is_decided_once(store: SqlStore) -> None:
    await store.workflows.create(workflow(), STEPS, 10)
    decided = StepRecord("a", StepState.OK, output="looked")
    assert not await store.workflows.decide_step("w1", decided)
    await store.workflows.put_step("w1", StepRecord("a", StepState.WAITING))
    assert await store.workflows.decide_step("w1", decided)
    assert not await store.workflows.decide_step("w1", replace(decided, state=StepState.FAILED))
    assert (await store.workflows.steps("w1"))[0] == decided


async def test_workflows_in_a_state_come_oldest_first(store: SqlStore) -> None:
    for number, name in ((1, "a"), (2, "b"), (3, "c")):
        record = replace(workflow(number, name=name), created_at=NOW - timedelta(hours=number))
        await store.workflows.create(record, (), 10)
        if number != 2:
            await store.workflows.change(record, replace(record, state=RUNNING))
    assert [each.workflow_id for each in await store.workflows.in_state(RUNNING)] == ["w3", "w1"]


async def test_a_task_comes_back_as_it_was(store: SqlStore) -> None:
    whole = replace(
        task(),
        notes="n",
        instruction="i",
        result="r",
        start_at=LATER,
        event_json="{}",
        turn_id=TurnId("x"),
        starts=3,
    )
    assert await store.tasks.add(whole, 10)
    assert await store.tasks.get("t1") == whole
    assert await store.tasks.get("t2") is None


async def test_an_owner_has_only_so_many_tasks_that_are_not_closed(store: SqlStore) -> None:
    assert await store.tasks.add(task(1), 1)
    assert not await store.tasks.add(task(2), 1)
    assert await store.tasks.add(task(3, "telegram:2"), 1)
    assert await store.tasks.change(task(1), replace(task(1), state=TaskState.DONE))
    assert await store.tasks.add(task(4), 1)


async def test_tasks_are_listed_by_owner_and_state_the_last_ones_oldest_first(store: SqlStore) -> None:
    for number in (1, 2, 3):
        await store.tasks.add(task(number), 10)
    await store.tasks.add(task(4, "telegram:2"), 10)
    await store.tasks.change(task(2), replace(task(2), state=TaskState.FAILED))

    async def listed(owner: str | None, limit: int, *states: TaskState) -> list[str]:
        return [each.task_id for each in await store.tasks.list(owner, limit, states)]

    assert await listed("telegram:1", 10) == ["t1", "t2", "t3"]
    assert await listed("telegram:1", 2) == ["t2", "t3"]
    assert await listed(None, 10, TaskState.OPEN) == ["t1", "t3", "t4"]


async def test_what_is_scheduled_and_what_is_under_way(store: SqlStore) -> None:
    late, soon = replace(task(1), start_at=LATER), replace(task(2), start_at=NOW)
    for each in (late, soon, task(3)):
        await store.tasks.add(each, 10)
    assert await store.tasks.scheduled() == (soon, late)
    started = replace(soon, state=TaskState.STARTED, start_at=None, turn_id=TurnId("x"), starts=1)
    assert await store.tasks.change(soon, started)
    assert not await store.tasks.change(soon, started)
    assert await store.tasks.scheduled() == (late,)
    assert await store.tasks.under_way() == (started,)


async def test_what_is_over_is_forgotten_and_what_is_not_is_kept(store: SqlStore) -> None:
    await store.workflows.create(workflow(1), STEPS, 10)
    paused = replace(workflow(2, name="paused"), state=WorkflowState.PAUSED)
    await store.workflows.create(paused, STEPS, 10)
    await store.tasks.add(task(1), 10)
    await store.tasks.add(replace(task(2), state=TaskState.DONE), 10)
    await store.retention.forget_before(LATER)
    assert [each.workflow_id for each in await store.workflows.list(None, 10)] == ["w2"]
    assert [each.task_id for each in await store.tasks.list(None, 10)] == ["t1"]


async def test_what_waits_moves_with_its_chat(store: SqlStore) -> None:
    def event(chat: str, scope: str) -> str:
        return f'{{"channel": "telegram", "account": "", "chat_id": "{chat}", "memory_scope": "{scope}"}}'

    here = replace(workflow(), session_key="telegram:-1:7", event_json=event("-1", "group:telegram:-1"))
    await store.workflows.create(here, (), 10)
    await store.tasks.add(replace(task(1), event_json=event("-1", "person:x")), 10)
    await store.tasks.add(replace(task(2), event_json=event("-12", "group:telegram:-12")), 10)
    move = ChatMove("telegram", "", "-1", "-100", SessionKey("telegram:-1"), SessionKey("telegram:-100"))
    await store.moves.move(move)
    moved = await store.workflows.get("w1")
    assert moved is not None
    assert moved.session_key == "telegram:-100:7"
    assert moved.event_json == event("-100", "group:telegram:-100")
    events = [each.event_json for each in await store.tasks.list(None, 10)]
    assert events == [event("-100", "person:x"), event("-12", "group:telegram:-12")]


async def test_all_of_it_survives_a_restart(database: Path) -> None:
    store = await open_store(sqlite_url(database))
    await store.workflows.create(workflow(), STEPS, 10)
    await store.tasks.add(task(), 10)
    await store.close()
    store = await open_store(sqlite_url(database))
    assert await store.workflows.get("w1") == workflow()
    assert await store.workflows.steps("w1") == STEPS
    assert await store.tasks.get("t1") == task()
    await store.close()
