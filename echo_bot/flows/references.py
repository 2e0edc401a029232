"""Results of earlier steps in a step's arguments: put in as data, once, after the arguments were read.

`{"$from": "build.output"}` stands for the whole value, `${build.output}` for a part of a text; `$${…}` is the
text `${…}` itself. What a result says is never looked through for references, and nothing is quoted for a
shell: the gate judges, and a card shows, the call as it then runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from echo_bot.policy.call import JsonValue
from echo_bot.storage.flow_records import StepRecord

_FROM = "$from"
_FIELDS = ("output", "error", "state")
_WHOLE = re.compile(r"([A-Za-z0-9_-]+)\.(output|error|state)")
_INSIDE = re.compile(r"\$(\$?)\{([A-Za-z0-9_-]+)\.(output|error|state)\}")


def steps_named(value: JsonValue) -> Iterator[str]:
    """The steps that a value refers to. Raises ValueError for a `$from` that names none."""
    for each in _leaves(value):
        if isinstance(each, str):
            yield from (found[2] for found in _INSIDE.finditer(each) if not found[1])
        elif isinstance(each, dict):
            yield _whole(each)[0]


def has_references(value: JsonValue) -> bool:
    return any(True for _ in steps_named(value))


def put_in(value: JsonValue, ends: Mapping[str, StepRecord]) -> JsonValue:
    """The value with every reference replaced by what it stands for, as text."""
    match value:
        case str():
            return _INSIDE.sub(lambda found: _inside(found, ends), value)
        case list():
            return [put_in(each, ends) for each in value]
        case dict() if _FROM in value:
            return _text(*_whole(value), ends)
        case dict():
            return {name: put_in(each, ends) for name, each in value.items()}
        case _:
            return value


def size_of(value: JsonValue, ends: Mapping[str, StepRecord]) -> int:
    """How many characters its texts will have, known before: a few words can ask for gigabytes."""
    return sum(_size(each, ends) for each in _leaves(value))


def _size(leaf: JsonValue, ends: Mapping[str, StepRecord]) -> int:
    match leaf:
        case str():
            found = (each for each in _INSIDE.finditer(leaf) if not each[1])
            return len(leaf) + sum(len(_text(each[2], each[3], ends)) for each in found)
        case dict():
            return len(_text(*_whole(leaf), ends))
        case _:
            return 0


def _leaves(value: JsonValue) -> Iterator[JsonValue]:
    """Texts, and objects that stand for a result."""
    match value:
        case list():
            for each in value:
                yield from _leaves(each)
        case dict() if _FROM not in value:
            for each in value.values():
                yield from _leaves(each)
        case _:
            yield value


def _whole(value: Mapping[str, JsonValue]) -> tuple[str, str]:
    written = value[_FROM]
    found = _WHOLE.fullmatch(written) if isinstance(written, str) else None
    if found is None or len(value) != 1:
        raise ValueError(f'write {{"$from": "step.field"}} with one of the fields {", ".join(_FIELDS)}')
    return found[1], found[2]


def _inside(found: re.Match[str], ends: Mapping[str, StepRecord]) -> str:
    return found[0][1:] if found[1] else _text(found[2], found[3], ends)


def _text(step: str, field: str, ends: Mapping[str, StepRecord]) -> str:
    end = ends[step]
    return {"output": end.output, "error": end.error, "state": end.state.value}[field]
