"""A stranger's JSON Schema made safe to check arguments with, or the reason why it cannot be used.

Nothing is fetched, and no pattern of theirs is run: one that backtracks would stand the whole bot still.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from echo_bot.errors import EchoBotError
from echo_bot.policy.schemas import JsonSchema

MOST_STEPS = 20_000
"""Steps of checking, references followed: a few lines of a schema can stand for billions."""

MOST_DEPTH = 60

_MAPS = ("properties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = (
    "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames",
    "then", "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
_DROPPED = ("$anchor", "$comment", "$dynamicAnchor", "$id", "$schema", "pattern", "patternProperties")
_PARAMETER = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_REFUSED = ("$dynamicRef", "$recursiveRef")


class UnusableSchema(EchoBotError):
    """Why a tool with this schema is not offered."""


def usable_schema(schema: object) -> JsonSchema:
    """The same without patterns, ids and comments. A dropped pattern is named in the description.

    Raises UnusableSchema: broken, not of an object, a reference to elsewhere, or too much to check.
    """
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise UnusableSchema("its parameters are not described as an object")
    places = dict(_places(schema, "#", 0))
    _check_form(schema)
    _check_names(schema)
    _check_references(places)
    if _Steps(places).of("#") > MOST_STEPS:
        raise UnusableSchema("its schema is too much to check arguments with")
    cleaned = _cleaned(schema)
    return {"type": "object", "properties": {}, **cleaned}


def _check_form(schema: Mapping[str, Any]) -> None:
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise UnusableSchema(f"its schema is broken ({' '.join(error.message.split())[:120]})") from None
    except RecursionError:
        raise UnusableSchema("its schema is nested too deeply") from None


def _places(node: object, pointer: str, depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every schema inside with its pointer. Values, defaults and examples are data and not visited."""
    if depth > MOST_DEPTH:
        raise UnusableSchema("its schema is nested too deeply")
    if not isinstance(node, dict):
        return
    yield pointer, node
    for key, inner in _children(node):
        yield from _places(inner, f"{pointer}/{key}", depth + 1)


def _children(node: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for key, value in node.items():
        if key in _MAPS and isinstance(value, dict):
            yield from ((f"{key}/{_escaped(name)}", inner) for name, inner in value.items())
        elif key in _LISTS and isinstance(value, list):
            yield from ((f"{key}/{index}", inner) for index, inner in enumerate(value))
        elif key in _SINGLE:
            yield key, value


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _check_names(schema: Mapping[str, Any]) -> None:
    """Providers refuse a whole request for one name that they do not take."""
    for name in schema.get("properties", {}):
        if not _PARAMETER.fullmatch(name):
            raise UnusableSchema(f"it has a parameter that no model takes ({name[:40]!r})")


def _check_references(places: Mapping[str, Mapping[str, Any]]) -> None:
    for pointer, node in places.items():
        if any(key in node for key in _REFUSED):
            raise UnusableSchema("its schema uses a dynamic $ref")
        if pointer != "#" and "$id" in node:
            raise UnusableSchema("its schema gives a part an $id of its own")
        reference = node.get("$ref")
        if reference is None:
            continue
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise UnusableSchema(f"its schema refers to something else ($ref {str(reference)[:80]!r})")
        if reference not in places:
            raise UnusableSchema(f"its schema refers to nothing in it ($ref {reference[:80]!r})")


class _Steps:
    """How many steps checking takes, in the worst case; a reference into itself counts as one."""

    def __init__(self, places: Mapping[str, Mapping[str, Any]]) -> None:
        self._places = places
        self._known: dict[str, int] = {}
        self._open: set[str] = set()

    def of(self, pointer: str) -> int:
        if pointer in self._known:
            return self._known[pointer]
        if pointer in self._open:
            return 1
        self._open.add(pointer)
        try:
            steps = self._counted(pointer)
        except RecursionError:
            raise UnusableSchema("its schema is nested too deeply") from None
        self._open.discard(pointer)
        self._known[pointer] = steps
        return steps

    def _counted(self, pointer: str) -> int:
        node = self._places[pointer]
        inner = [
            f"{pointer}/{key}" for key, _ in _children(node) if not key.startswith(("$defs", "definitions"))
        ]
        reference = node.get("$ref")
        inner += [reference] if isinstance(reference, str) else []
        return min(1 + sum(self.of(each) for each in inner if each in self._places), MOST_STEPS + 1)


def _cleaned(node: Mapping[str, Any]) -> dict[str, Any]:
    clean: dict[str, Any] = {}
    for key, value in node.items():
        if key in _DROPPED:
            continue
        clean[key] = _inside(key, value, _or_same)
    if "patternProperties" in node:
        clean.pop("additionalProperties", None)
        clean.pop("unevaluatedProperties", None)
    if isinstance(pattern := node.get("pattern"), str):
        said = str(node.get("description", ""))
        clean["description"] = f"{said} (pattern: {pattern})".lstrip()
    return clean


def _or_same(value: object) -> object:
    return _cleaned(value) if isinstance(value, dict) else value


def _inside(key: str, value: object, clean: Callable[[object], object]) -> object:
    if key in _MAPS and isinstance(value, dict):
        return {name: clean(inner) for name, inner in value.items()}
    if key in _LISTS and isinstance(value, list):
        return [clean(inner) for inner in value]
    return clean(value) if key in _SINGLE else value
