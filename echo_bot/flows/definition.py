"""What a workflow is made of: steps, read from what a model wrote, with a sentence for each mistake."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from echo_bot.flows.conditions import Condition, read_condition, steps_in
from echo_bot.flows.references import steps_named
from echo_bot.policy.arguments import arguments_problem
from echo_bot.policy.call import JsonValue
from echo_bot.policy.catalogue import CATALOGUE, canonical_name

MOST_STEPS = 50
MOST_CHARS = 64_000
AGENT_TOOL = "delegate_task"
"""What an agent step calls."""

_OTHERWISE: Mapping[str, str] = {
    "workflow": "a step cannot start or change a workflow",
    AGENT_TOOL: "write an agent step instead",
    "spawn_task": "write an agent step instead; the workflow itself is in the background",
}
_KINDS = ("tool", "agent", "manual")
_ONLY_FOR: Mapping[str, tuple[str, ...]] = {
    "args": ("tool",),
    "tools": ("agent",),
    "context": ("agent",),
    "retries": ("tool", "agent"),
    "retry_delay": ("tool", "agent"),
    "timeout": ("tool",),
}

StepKind = Literal["tool", "agent", "manual"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step. A tool or agent step is a call of `tool` with `args`, in which references still stand.

    `text` says what to do by hand. `needs` are the steps that must have ended before it: those named there,
    in its condition and in its references. `retry_delay` and `timeout` are seconds; a timeout of 0 is none.
    """

    step_id: str
    kind: StepKind
    tool: str = ""
    args: Mapping[str, JsonValue] = field(default_factory=dict)
    text: str = ""
    needs: tuple[str, ...] = ()
    when: Condition | None = None
    retries: int = 0
    retry_delay: int = 0
    timeout: int = 0
    on_failure: Literal["stop", "continue"] = "stop"


class BadDefinition(ValueError):
    """The steps make no workflow; the message is a sentence that says what to change."""


def read_steps(raw: object) -> tuple[Step, ...]:
    """Raises BadDefinition."""
    problem = arguments_problem(
        "workflow", {"action": "create", "steps": raw}, CATALOGUE["workflow"].parameters
    )
    if problem:
        raise BadDefinition(problem.removeprefix("workflow: "))
    assert isinstance(raw, list)
    if not 0 < len(raw) <= MOST_STEPS:
        raise BadDefinition(f"a workflow has 1 to {MOST_STEPS} steps, not {len(raw)}")
    try:
        size = len(json.dumps(raw))
        steps = tuple(_read(each) for each in raw)
    except RecursionError as error:
        raise BadDefinition("the steps are nested too deeply") from error
    if size > MOST_CHARS:
        raise BadDefinition(f"the steps are longer than {MOST_CHARS:,} characters; keep long texts in files")
    _check_names(steps)
    circle = circle_in(steps)
    if circle:
        raise BadDefinition(
            f"these steps wait for one another: {' → '.join(circle)}; remove one of the needs"
        )
    return steps


def circle_in(steps: Sequence[Step]) -> tuple[str, ...]:
    """Steps that need one another, the first again at the end; () when there are none."""
    needs = {step.step_id: step.needs for step in steps}
    done: set[str] = set()
    for start in needs:
        path: list[str] = []
        branches: list[Iterator[str]] = [iter((start,))]
        while branches:
            step = next(branches[-1], None)
            if step is None:
                branches.pop()
                done.update(path[-1:])
                del path[-1:]
            elif step in path:
                return (*path[path.index(step) :], step)
            elif step not in done:
                path.append(step)
                branches.append(iter(needs[step]))
    return ()


def _read(raw: Mapping[str, JsonValue]) -> Step:
    step_id = str(raw["id"])
    try:
        return _step(step_id, raw)
    except ValueError as error:
        raise BadDefinition(f"step {step_id}: {error}") from error


def _step(step_id: str, raw: Mapping[str, JsonValue]) -> Step:
    kind = _kind(raw)
    tool, args, text = _work(kind, raw)
    when = read_condition(raw["when"]) if "when" in raw else None
    return Step(
        step_id=step_id,
        kind=kind,
        tool=tool,
        args=args,
        text=text,
        needs=_needs(raw, dict(args), when),
        when=when,
        retries=_number(raw, "retries"),
        retry_delay=_number(raw, "retry_delay"),
        timeout=_number(raw, "timeout"),
        on_failure="continue" if raw.get("on_failure") == "continue" else "stop",
    )


def _kind(raw: Mapping[str, JsonValue]) -> StepKind:
    found: list[StepKind] = [kind for kind in ("tool", "agent", "manual") if kind in raw]
    if len(found) != 1:
        raise ValueError(f"a step has exactly one of {', '.join(_KINDS)}")
    for name, kinds in _ONLY_FOR.items():
        if name in raw and found[0] not in kinds:
            raise ValueError(f"{name} belongs to {' and '.join(kinds)} steps")
    return found[0]


def _work(kind: StepKind, raw: Mapping[str, JsonValue]) -> tuple[str, dict[str, JsonValue], str]:
    said = str(raw[kind]).strip()
    if not said:
        raise ValueError(f"{kind} is empty")
    match kind:
        case "manual":
            return "", {}, said
        case "agent":
            goal = f"{said}\n\n{raw['context']}" if raw.get("context") else said
            return AGENT_TOOL, {"goal": goal, **({"tools": raw["tools"]} if "tools" in raw else {})}, ""
        case "tool":
            tool, args = canonical_name(said), raw.get("args", {})
            if tool in _OTHERWISE:
                raise ValueError(_OTHERWISE[tool])
            if not isinstance(args, dict) or "$from" in args:
                raise ValueError(
                    "args is an object of the tool's parameters; a reference stands for one of them"
                )
            return tool, args, ""


def _needs(
    raw: Mapping[str, JsonValue], args: dict[str, JsonValue], when: Condition | None
) -> tuple[str, ...]:
    written = raw.get("needs", [])
    named = [str(each) for each in written] if isinstance(written, list) else []
    asked = sorted(steps_in(when)) if when is not None else []
    return tuple(dict.fromkeys((*named, *asked, *steps_named(args))))


def _number(raw: Mapping[str, JsonValue], name: str) -> int:
    value = raw.get(name, 0)
    return int(value) if isinstance(value, int | float) else 0


def _check_names(steps: Sequence[Step]) -> None:
    known: set[str] = set()
    for step in steps:
        if step.step_id in known:
            raise BadDefinition(f"two steps have the id {step.step_id}; every step needs its own")
        known.add(step.step_id)
    for step in steps:
        unknown = [each for each in step.needs if each not in known]
        if unknown:
            there = ", ".join(sorted(known))
            raise BadDefinition(
                f"step {step.step_id} needs {unknown[0]}, which is no step; there are {there}"
            )
