"""Configuration from environment variables, each text turned into what its key needs."""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Mapping
from types import UnionType

from pydantic import BaseModel

from echo_bot.config.variables import config_variables
from echo_bot.errors import ConfigError

_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")


def environment_values(
    environ: Mapping[str, str], model: type[BaseModel]
) -> Mapping[tuple[str, ...], object]:
    """The keys that the environment sets, by lower-case path. Raises ConfigError naming the variable.

    Names of variables for an MCP server keep their case.
    """
    return {
        _spelt(each.path, each.name): _value(each.text, _annotation(each.path, model), each.name)
        for each in config_variables(environ)
    }


def _spelt(path: tuple[str, ...], variable: str) -> tuple[str, ...]:
    match path:
        case ("tools", "mcp_servers", _, "env", _):
            return (*path[:-1], variable.rpartition("__")[2])
        case _:
            return path


def _annotation(path: tuple[str, ...], model: type[BaseModel]) -> object:
    """The declared type at a path; None where no such key is declared (the model will say so)."""
    current: object = model
    for part in path:
        if isinstance(current, type) and issubclass(current, BaseModel):
            field = current.model_fields.get(part)
            current = field.annotation if field else None
        elif typing.get_origin(current) is dict:
            current = typing.get_args(current)[1]
        else:
            return None
        if typing.get_origin(current) is typing.Annotated:
            current = typing.get_args(current)[0]
    return current


def _value(text: str, annotation: object, name: str) -> object:
    """The text as the key's type needs it. Lists and tables are JSON."""
    kinds = _kinds(annotation)
    if text.lstrip()[:1] in ("[", "{") and kinds & {tuple, dict}:
        try:
            parsed: object = json.loads(text)
        except ValueError as error:
            raise ConfigError(f"the environment variable is not valid JSON ({error})", key=name) from None
        return parsed
    if bool in kinds and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if int in kinds and text.strip().lstrip("-").isdecimal():
        return int(text)
    if float in kinds and _NUMBER.fullmatch(text.strip()):
        return float(text)
    return text


def _kinds(annotation: object) -> set[object]:
    """The runtime types that an annotation allows."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _kinds(typing.get_args(annotation)[0])
    if origin in (typing.Union, UnionType):
        return set().union(*(_kinds(option) for option in typing.get_args(annotation)))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {dict}
    return {origin or annotation}
