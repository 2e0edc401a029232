"""Configuration from environment variables: `ECHO_BOT_A__B` is the key a.b, and wins over the file."""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping
from types import UnionType

from pydantic import BaseModel

from echo_bot.errors import ConfigError

PREFIXES = ("ECHO_AGENT_", "ECHO_BOT_")
"""Either spelling; where both are set, the later one wins."""

PLAIN_NAMES = ("workspace", "data_dir", "language", "timezone")
"""Top-level keys that need no `__`."""


def environment_values(
    environ: Mapping[str, str], model: type[BaseModel]
) -> Mapping[tuple[str, ...], object]:
    """The keys that the environment sets, by lower-case path. Raises ConfigError naming the variable."""
    found: dict[tuple[str, ...], object] = {}
    for prefix in PREFIXES:
        for name, text in environ.items():
            rest = name.removeprefix(prefix)
            if rest == name:
                continue
            if "__" in rest:
                path = tuple(part.lower() for part in rest.split("__"))
            elif rest.lower() in PLAIN_NAMES and rest.isupper():
                path = (rest.lower(),)
            else:
                continue
            found[path] = _value(text, _annotation(path, model), name)
    return found


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
