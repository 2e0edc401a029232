"""A stranger's schema: what is refused, what is left out, and that no pattern of theirs is run."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.mcp.schema import UnusableSchema, usable_schema
from echo_bot.policy.arguments import arguments_problem


def of(properties: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


def laughs(levels: int) -> dict[str, Any]:
    """A few lines that stand for 2 to the power of `levels` steps."""
    definitions: dict[str, Any] = {"l0": {"type": "string"}}
    for level in range(1, levels):
        each = {"$ref": f"#/$defs/l{level - 1}"}
        definitions[f"l{level}"] = {"allOf": [each, each]}
    return of({"a": {"$ref": f"#/$defs/l{levels - 1}"}}, **{"$defs": definitions})


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = of({"a": schema})
    return schema


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ("text", "not described as an object"),
        ({"type": "array"}, "not described as an object"),
        (of({"a": {"type": "nonsense"}}), "is broken"),
        (of({"a": {"minimum": "one"}}), "is broken"),
        (of([]), "is broken"),
        (of({"a": {"$ref": "https://example.com/s.json"}}), "refers to something else"),
        (of({"a": {"$ref": "other.json#/a"}}), "refers to something else"),
        (of({"a": {"$ref": "#/$defs/none"}}), "refers to nothing in it"),
        (
            of({"a": {"default": {"pattern": "x"}}, "b": {"$ref": "#/properties/a/default"}}),
            "refers to nothing",
        ),
        (of({"a": {"$dynamicRef": "#x"}}), "dynamic"),
        (of({"a": {"$id": "https://example.com/", "type": "string"}}), "$id of its own"),
        (of({"a b": {}}), "a parameter that no model takes"),
        (laughs(40), "too much"),
        (deep(100), "nested too deeply"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_used_says_why(schema: Any, why: str) -> None:
    with pytest.raises(UnusableSchema, match=why.replace("$", r"\$")):
        usable_schema(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        of({"a": {"$ref": "#/$defs/x"}}, **{"$defs": {"x": {"type": "integer"}}}),
        of({"a": {"$ref": "#/definitions/a~1b"}}, definitions={"a/b": {"type": "string"}}),
        of({"next": {"$ref": "#"}}),
        of({"a": {"type": ["string", "null"], "enum": ["x", None]}}, required=["a"]),
        {"$schema": "http://json-schema.org/draft-07/schema#", **of({"a": {"anyOf": [{"type": "string"}]}})},
        laughs(5),
        deep(20),
    ],
)
def test_what_can_be_used_is(schema: dict[str, Any]) -> None:
    usable = usable_schema(schema)
    assert usable["type"] == "object"
    assert "$schema" not in usable


def test_patterns_are_told_to_the_model_and_never_run() -> None:
    evil = "^(a+)+$"
    schema = of(
        {"a": {"type": "string", "pattern": evil, "description": "Letters"}, "pattern": {"type": "string"}},
        patternProperties={evil: {"type": "string"}},
        additionalProperties=False,
    )
    usable = usable_schema(schema)
    assert usable["properties"] == {
        "a": {"type": "string", "description": f"Letters (pattern: {evil})"},
        "pattern": {"type": "string"},
    }
    began = time.monotonic()
    assert arguments_problem("t", {"a": "a" * 60 + "!", "a" * 60 + "!": "x"}, usable) == ""
    assert time.monotonic() - began < 5


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "$ref", "allOf", "pattern", "enum", "not", "a", "$defs"]
            )
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON, JSON)
def test_whatever_comes_is_refused_or_checks_any_arguments(schema: Any, arguments: Any) -> None:
    try:
        usable = usable_schema(schema)
    except UnusableSchema:
        return
    assert isinstance(arguments_problem("t", arguments, usable), str)


def _escaped_references(depth: int) -> dict[str, Any]:
    """Each definition asks for the next one twice, by a name that is written in another way."""
    parts: dict[str, Any] = {f"x{depth}-": {"type": "object"}}
    for number in range(depth):
        reference = {"$ref": f"#/$defs/x{number + 1}%2d"}
        parts[f"x{number}-"] = {"allOf": [reference, reference]}
        parts[f"x{number + 1}%2d"] = {}
    return {"type": "object", "$defs": parts, "allOf": [{"$ref": "#/$defs/x0-"}]}


def _unevaluated(depth: int) -> dict[str, Any]:
    """Each level checks all that are below it twice."""
    node: dict[str, Any] = {"type": "object"}
    for _ in range(depth):
        node = {"type": "object", "allOf": [node], "unevaluatedProperties": True}
    return node


def _nested(depth: int) -> dict[str, Any]:
    args: dict[str, Any] = {}
    for _ in range(depth):
        args = {"a": args}
    return args


_INTO_ITSELF = {"type": "object", "additionalProperties": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}


@pytest.mark.parametrize(
    ("schema", "args"),
    [
        pytest.param(_escaped_references(40), {}, id="names in two spellings"),
        pytest.param(_unevaluated(40), {"a": 1}, id="what is unevaluated, level by level"),
        pytest.param(_INTO_ITSELF, _nested(40), id="into itself"),
    ],
)
def test_checking_arguments_ends_whatever_the_schema_asks_for(schema: dict[str, Any], args: Any) -> None:
    assert "takes too long" in arguments_problem("mcp_a_b", args, usable_schema(schema))
