"""A tool as its server defines it: the digest that is pinned, and in words what a change of it is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from echo_bot.errors import EchoBotError
from echo_bot.mcp.schema import usable_schema
from echo_bot.policy.call import canonical_json
from echo_bot.policy.schemas import JsonSchema

MOST_CHARS = 60_000
"""Characters of one definition as JSON; a longer one is not offered."""

MOST_DESCRIPTION_CHARS = 4000
_AROUND = 40
_MOST_QUOTED = 140
_MOST_CHANGES_CHARS = 700


class UnusableDefinition(EchoBotError):
    """What a server lists that is no definition of a tool."""


@dataclass(frozen=True, slots=True)
class Definition:
    """`name` is the server's spelling, `text` the definition as canonical JSON: name, description, schema."""

    name: str
    description: str
    schema: Mapping[str, Any]
    text: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def usable_schema(self) -> JsonSchema:
        """Raises UnusableSchema."""
        return usable_schema(self.schema)

    @property
    def shown_description(self) -> str:
        """What the model reads."""
        text = self.description.strip() or f"{self.name} (its server describes it no further)"
        return text if len(text) <= MOST_DESCRIPTION_CHARS else text[: MOST_DESCRIPTION_CHARS - 1] + "…"

    def words(self) -> str:
        """Everything in it that a model reads as text, a piece a line."""
        return "\n".join(dict.fromkeys((self.name, self.description, *_texts(self.schema))))


def from_wire(listed: Mapping[str, Any]) -> Definition:
    """One entry of a `tools/list`. Raises UnusableDefinition."""
    name, schema = listed.get("name"), listed.get("inputSchema")
    description = listed.get("description") or ""
    if not isinstance(name, str) or not name:
        raise UnusableDefinition("a tool without a name")
    if not isinstance(description, str) or not isinstance(schema, dict):
        raise UnusableDefinition("no description as text, or no schema")
    try:
        text = canonical_json([name, description, schema])
    except (TypeError, ValueError, RecursionError):
        raise UnusableDefinition("its definition cannot be written as JSON") from None
    if len(text) > MOST_CHARS:
        raise UnusableDefinition(f"its definition is longer than {MOST_CHARS:,} characters")
    return Definition(name, description, schema, text)


def from_text(text: str) -> Definition:
    """A stored definition. Raises ValueError for one that we did not write."""
    name, description, schema = json.loads(text)
    return Definition(str(name), str(description), dict(schema), text)


def changes(old: Definition, new: Definition) -> str:
    """What differs, for the person who is asked again."""
    found = []
    if old.description != new.description:
        found.append(f"the description {_differs(old.description, new.description)}")
    found.extend(_parameter_changes(old.schema, new.schema))
    text = "; ".join(found) or "nothing that shows"
    return text if len(text) <= _MOST_CHANGES_CHARS else text[: _MOST_CHANGES_CHARS - 1] + "…"


def _parameter_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    before, after = _properties(old), _properties(new)
    for name in sorted({*before, *after}):
        if name not in before:
            yield f"the parameter {name} is new ({_short(after[name])})"
        elif name not in after:
            yield f"the parameter {name} is gone"
        elif canonical_json(before[name]) != canonical_json(after[name]):
            yield f"the parameter {name} {_differs(_json(before[name]), _json(after[name]))}"
    rest = [{key: value for key, value in each.items() if key != "properties"} for each in (old, new)]
    if canonical_json(rest[0]) != canonical_json(rest[1]):
        yield f"the rest of the schema {_differs(_json(rest[0]), _json(rest[1]))}"


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _differs(old: str, new: str) -> str:
    """Both texts around their first difference."""
    start = next(
        (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )
    begin = max(0, start - _AROUND)
    return f"was “{_cut(old, begin)}” and is “{_cut(new, begin)}”"


def _cut(text: str, begin: int) -> str:
    piece = " ".join(text[begin : begin + _MOST_QUOTED].split())
    return f"{'…' if begin else ''}{piece}{'…' if len(text) > begin + _MOST_QUOTED else ''}"


def _short(value: object) -> str:
    return _cut(_json(value), 0)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
