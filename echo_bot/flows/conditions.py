"""When a step runs: conditions on how earlier steps ended, as data that is read and never executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from echo_bot.policy.call import JsonValue
from echo_bot.storage.flow_records import StepRecord, StepState

_DEPTH = 8
_MOST_PARTS = 20
_MOST_TEXT = 1000
_ENDS: Mapping[str, frozenset[StepState]] = {
    "ok": frozenset({StepState.OK}),
    "failed": frozenset({StepState.FAILED, StepState.UNKNOWN}),
    "skipped": frozenset({StepState.SKIPPED, StepState.CANCELLED}),
}
FORMS = (
    '{"step": …, "is": "ok" | "failed" | "skipped"}, {"step": …, "contains": text}, '
    '{"step": …, "equals": text}, {"all": [conditions]}, {"any": [conditions]} or {"not": condition}'
)


@dataclass(frozen=True, slots=True)
class Ended:
    """The step ended in one of these states."""

    step: str
    states: frozenset[StepState]


@dataclass(frozen=True, slots=True)
class Said:
    """What the step came to contains the text, or with `whole` is it, apart from space around it."""

    step: str
    text: str
    whole: bool


@dataclass(frozen=True, slots=True)
class AllOf:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Condition


Condition = Ended | Said | AllOf | AnyOf | Not


def read_condition(raw: JsonValue, depth: int = 0) -> Condition:
    """Raises ValueError with a sentence for what is none of the forms."""
    if not isinstance(raw, Mapping) or depth > _DEPTH:
        raise ValueError(f"when is one of {FORMS}")
    match dict(raw):
        case {"step": str(step), "is": str(how), **rest} if not rest and how in _ENDS:
            return Ended(step, _ENDS[how])
        case {"step": str(step), "contains": str(text), **rest} if not rest and 0 < len(text) <= _MOST_TEXT:
            return Said(step, text, whole=False)
        case {"step": str(step), "equals": str(text), **rest} if not rest and len(text) <= _MOST_TEXT:
            return Said(step, text, whole=True)
        case {"all": list(parts), **rest} if not rest:
            return AllOf(_read_all(parts, depth))
        case {"any": list(parts), **rest} if not rest:
            return AnyOf(_read_all(parts, depth))
        case {"not": part, **rest} if not rest:
            return Not(read_condition(part, depth + 1))
        case _:
            raise ValueError(f"when is one of {FORMS}")


def steps_in(condition: Condition) -> frozenset[str]:
    """The steps whose ends it asks for."""
    match condition:
        case Ended(step=step) | Said(step=step):
            return frozenset({step})
        case AllOf(parts) | AnyOf(parts):
            return frozenset().union(*map(steps_in, parts))
        case Not(part):
            return steps_in(part)
        case _:
            assert_never(condition)


def holds(condition: Condition, ends: Mapping[str, StepRecord]) -> bool:
    """Does it hold, now that the steps it asks for have ended?"""
    match condition:
        case Ended(step, states):
            return ends[step].state in states
        case Said(step, text, whole):
            said = "\n".join(filter(None, (ends[step].error, ends[step].output)))
            return said.strip() == text.strip() if whole else text in said
        case AllOf(parts):
            return all(holds(part, ends) for part in parts)
        case AnyOf(parts):
            return any(holds(part, ends) for part in parts)
        case Not(part):
            return not holds(part, ends)
        case _:
            assert_never(condition)


def _read_all(parts: Sequence[JsonValue], depth: int) -> tuple[Condition, ...]:
    if not 0 < len(parts) <= _MOST_PARTS:
        raise ValueError(f"all and any in when take 1 to {_MOST_PARTS} conditions")
    return tuple(read_condition(part, depth + 1) for part in parts)
