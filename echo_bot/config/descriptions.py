"""What each key means, from the text below its field: read only when asked, as parsing takes time."""

from __future__ import annotations

import ast
import inspect
import textwrap
import typing
from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from echo_bot.config.base import Section


def description(model: type[BaseModel], field: str) -> str:
    """The sentence about one key of a section, wherever in its bases the key is declared; "" without one."""
    for owner in model.__mro__:
        if issubclass(owner, Section) and field in owner.__annotations__:
            return _described(owner).get(field, "")
    return ""


def sections_of(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The model and every section inside it, also those that are named or listed; some come twice."""
    yield model
    for field in model.model_fields.values():
        for inner in (field.annotation, *typing.get_args(field.annotation)):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from sections_of(inner)


def described_schema(model: type[BaseModel]) -> dict[str, object]:
    """The JSON Schema of the configuration file, with a description for every key."""
    schema: dict[str, typing.Any] = model.model_json_schema()
    by_name = {section.__name__: section for section in sections_of(model)}
    for name, part in {**schema.get("$defs", {}), model.__name__: schema}.items():
        for key, value in part.get("properties", {}).items():
            text = description(by_name[name], key) if name in by_name else ""
            if text:
                value["description"] = text
    return schema


def _described(section: type[BaseModel]) -> Mapping[str, str]:
    """The string that follows each field in the source. A class made at run time has no source, and none."""
    try:
        source = textwrap.dedent(inspect.getsource(section))
    except (OSError, TypeError):
        return {}
    (body,) = ast.parse(source).body
    if not isinstance(body, ast.ClassDef):
        return {}
    found: dict[str, str] = {}
    for statement, following in zip(body.body, body.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            match following:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    found[statement.target.id] = " ".join(text.split())
                case _:
                    pass
    return found
