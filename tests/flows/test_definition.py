"""What a model writes as steps is read, or refused with a sentence that says what to change."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.flows.conditions import Ended
from echo_bot.flows.definition import BadDefinition, Step, circle_in, read_steps
from echo_bot.storage.flow_records import StepState

Read = Callable[..., tuple[Step, ...]]
A: dict[str, object] = {"id": "a", "tool": "exec", "args": {"command": "ls"}}


def b(**more: object) -> dict[str, object]:
    return {"id": "b", "tool": "read_file", "args": {"path": "x"}, **more}


REFUSED: tuple[tuple[list[object], str], ...] = (
    ([], "a workflow has 1 to 50 steps, not 0"),
    ([{"id": f"s{n}", "manual": "x"} for n in range(51)], "a workflow has 1 to 50 steps, not 51"),
    ([{"id": "a"}], "one of tool, agent, manual is needed"),
    ([A | {"manual": "x"}], "step a: a step has exactly one of tool, agent, manual"),
    ([A | {"command": "ls"}], "steps.0.command is not a parameter"),
    ([A | {"retries": 9}], "steps.0.retries must satisfy maximum: 5"),
    ([A | {"id": "a b"}], "steps.0.id must satisfy pattern"),
    ([A, A], "two steps have the id a"),
    ([b(needs=["c"])], "step b needs c, which is no step"),
    ([b(when={"step": "c", "is": "ok"})], "step b needs c, which is no step"),
    ([b(args={"path": "${c.output}"})], "step b needs c, which is no step"),
    ([b(args={"path": {"$from": "c"}})], "step b: write {"),
    ([b(args={"$from": "a.output"})], "step b: args is an object of the tool's parameters"),
    ([b(when={"step": "a", "like": "x"})], "step b: when is one of"),
    ([A | {"needs": ["b"]}, b(needs=["a"])], "these steps wait for one another: a → b → a"),
    ([b(needs=["b"])], "these steps wait for one another: b → b"),
    ([{"id": "m", "manual": "look", "retries": 1}], "step m: retries belongs to tool and agent steps"),
    ([A | {"tools": ["exec"]}], "step a: tools belongs to agent steps"),
    ([{"id": "g", "agent": " "}], "step g: agent is empty"),
    ([{"id": "w", "tool": "workflow", "args": {"action": "list"}}], "step w: a step cannot start or change"),
    ([{"id": "d", "tool": "delegate_task", "args": {"goal": "x"}}], "step d: write an agent step instead"),
    ([{"id": "d", "tool": "spawn_task", "args": {"task": "x"}}], "step d: write an agent step instead"),
    ([b(args={"path": "x" * 70_000})], "the steps are longer than 64,000 characters"),
)


@pytest.mark.parametrize(("raw", "sentence"), REFUSED, ids=[row[1] for row in REFUSED])
def test_what_is_no_workflow_is_told(raw: list[object], sentence: str) -> None:
    with pytest.raises(BadDefinition) as refused:
        read_steps(raw)
    assert str(refused.value).startswith(sentence)


def test_a_tool_step_is_read_with_all_it_says(read: Read) -> None:
    raw = b(
        tool="bash",
        args={"command": "x"},
        needs=["a"],
        when={"step": "a", "is": "ok"},
        retries=2,
        retry_delay=3,
        timeout=4,
        on_failure="continue",
    )
    assert read(A, raw)[1] == Step(
        "b",
        "tool",
        "exec",
        {"command": "x"},
        needs=("a",),
        when=Ended("a", frozenset({StepState.OK})),
        retries=2,
        retry_delay=3,
        timeout=4,
        on_failure="continue",
    )


def test_an_agent_step_is_a_call_of_delegate_task(read: Read) -> None:
    raw = {"id": "g", "agent": "Sum up ${a.output}", "context": "In two lines.", "tools": ["read_file"]}
    step = read(A, raw)[1]
    assert (step.kind, step.tool) == ("agent", "delegate_task")
    assert step.args == {"goal": "Sum up ${a.output}\n\nIn two lines.", "tools": ["read_file"]}
    assert step.needs == ("a",)


def test_what_a_step_refers_to_comes_before_it(read: Read) -> None:
    raw = b(args={"path": {"$from": "c.output"}}, when={"not": {"step": "a", "is": "failed"}})
    assert read(A, raw, {"id": "c", "manual": "x"})[1].needs == ("a", "c")


def test_a_long_circle_is_named_from_where_it_begins(read: Read) -> None:
    needs = {"a": (), "b": ("a", "d"), "c": ("b",), "d": ("c",)}
    assert circle_in([Step(name, "manual", needs=each) for name, each in needs.items()]) == (
        "b",
        "d",
        "c",
        "b",
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "tool", "args", "agent", "manual", "needs", "when", "$from", "step"]),
            inner,
        )
    ),
    max_leaves=15,
)


@given(JSON)
def test_whatever_is_written_is_read_or_refused_with_a_sentence(raw: object) -> None:
    try:
        steps = read_steps(raw)
    except BadDefinition:
        return
    assert not circle_in(steps)


def test_steps_nested_deeper_than_can_be_read_are_refused() -> None:
    deep: object = "x"
    for _ in range(20_000):
        deep = [deep]
    with pytest.raises(BadDefinition, match="nested too deeply"):
        read_steps([b(args={"path": deep})])
