"""From pydantic's complaint to one line: which key, why, the nearest valid name; never the value."""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Iterator
from types import UnionType
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from echo_bot.config.yaml_tree import Path

_EXPECTED = {
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "string_type": "must be text; put it in quotes",
    "list_type": "must be a list, such as [a, b]",
    "tuple_type": "must be a list, such as [a, b]",
    "dict_type": "must hold keys and values",
    "model_type": "must hold keys and values",
    "model_attributes_type": "must hold keys and values",
}
_WORDS_FOR_BOOL = {"yes", "no", "on", "off", "y", "n"}


def complaints(error: ValidationError, model: type[BaseModel]) -> tuple[tuple[Path, str], ...]:
    """The path of everything wrong and the sentence about it, each path once. Unknown keys come first."""
    details = sorted(error.errors(include_url=False), key=lambda item: item["type"] != "extra_forbidden")
    found: dict[Path, str] = {}
    for detail in details:
        path = _real_path(detail["loc"])
        found.setdefault(path, _sentence(detail, path, model))
    return tuple(found.items())


def _sentence(detail: ErrorDetails, path: Path, model: type[BaseModel]) -> str:
    context: dict[str, Any] = detail.get("ctx") or {}
    match detail["type"]:
        case "extra_forbidden":
            return f"there is no such key{_hint(path, model)}"
        case "literal_error":
            return _one_of(detail, str(context.get("expected", "")))
        case "greater_than_equal":
            return f"must be at least {context['ge']}"
        case "less_than_equal":
            return f"must be at most {context['le']}"
        case "string_pattern_mismatch":
            return must_fit(str(context["pattern"]))
        case "value_error":
            return str(context.get("error", detail["msg"]))
        case "missing":
            return "is missing"
        case "bool_type" | "int_type" if _is_quoted(detail.get("input")):
            return f"{_EXPECTED[detail['type']]}, without quotes"
        case "bool_type" if str(detail.get("input")).lower() in _WORDS_FOR_BOOL:
            return "must be true or false (YAML 1.2 takes yes, no, on and off as words)"
        case kind:
            return _EXPECTED.get(kind, detail["msg"])


_NAME = re.compile(r"\^\[A-Za-z0-9(?P<more>[_.-]+)]\{(?P<least>\d+),(?P<most>\d+)}\$")


def must_fit(pattern: str) -> str:
    """The sentence about a name that a pattern does not take."""
    if (form := _NAME.fullmatch(pattern)) is None:
        return f"must match {pattern}"
    more = " ".join(form["more"])
    return f"must be {form['least']} to {form['most']} of the letters a to z, digits and {more} (no blanks)"


def _is_quoted(value: object) -> bool:
    """Text that would be right as what it says."""
    return isinstance(value, str) and (value in ("true", "false") or value.strip("+-").isdecimal())


def _one_of(detail: ErrorDetails, expected: str) -> str:
    choices = [choice.strip("'") for choice in expected.replace(" or ", ", ").split(", ")]
    near = difflib.get_close_matches(str(detail.get("input", "")), choices, n=1, cutoff=0.5)
    return f"must be one of {', '.join(choices)}" + (f"; did you mean {near[0]}?" if near else "")


def _hint(path: Path, model: type[BaseModel]) -> str:
    """The nearest sibling, else the same name elsewhere, else the siblings."""
    name = str(path[-1])
    siblings = list(_fields(_at(path[:-1], model)))
    near = difflib.get_close_matches(name, siblings, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]}?"
    elsewhere = [key for key in all_keys(model) if key.rpartition(".")[2] == name]
    nearby = [key for key in elsewhere if key.partition(".")[0] == str(path[0])]
    for found in (nearby, elsewhere):
        if len(found) == 1:
            return f"; did you mean {found[0]}?"
    return f"; here belong {', '.join(sorted(siblings))}" if siblings else ""


def all_keys(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Every key of a model in dotted form, leaves only, in the order of the fields."""
    for name, field in model.model_fields.items():
        inner = _model_in(field.annotation)
        if inner is None or typing.get_origin(field.annotation) is dict:
            yield prefix + name
        else:
            yield from all_keys(inner, f"{prefix}{name}.")


def _fields(model: type[BaseModel] | None) -> Iterator[str]:
    return iter(model.model_fields) if model else iter(())


def _at(path: Path, model: type[BaseModel]) -> type[BaseModel] | None:
    """The section at a path, looking into lists and named entries."""
    current: object = model
    for part in path:
        if isinstance(current, type) and issubclass(current, BaseModel):
            field = current.model_fields.get(str(part))
            current = field.annotation if field else None
        else:
            inner = [option for option in typing.get_args(current) if option is not Ellipsis]
            current = inner[-1] if inner else None
    return _model_in(current)


def _model_in(annotation: object) -> type[BaseModel] | None:
    """The section inside an annotation: itself, or one option of a union."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if typing.get_origin(annotation) in (typing.Union, UnionType):
        return next(filter(None, map(_model_in, typing.get_args(annotation))), None)
    return None


def _real_path(location: tuple[int | str, ...]) -> Path:
    """pydantic adds the branch of a union and "[key]" to a location; those are no keys."""
    return tuple(
        part
        for part in location
        if not (
            isinstance(part, str)
            and (
                part == "[key]"
                or part.startswith(("literal[", "tuple[", "nullable", "lax-or-strict", "function-"))
            )
        )
    )
