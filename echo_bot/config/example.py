"""The example file: every key with its default and a comment, written from the model alone."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from echo_bot.config.availability import is_later
from echo_bot.config.descriptions import description
from echo_bot.config.model import Config

HEADING = """\
# Every key with its default. Copy what you change into echo-bot/config.yaml in your config folder, or name
# a file with -c or ECHO_BOT_CONFIG. Each key is also an environment variable: gateway.port is
# ECHO_BOT_GATEWAY__PORT, with lists and tables as JSON.
# `echo-bot config check` says what is wrong with a file; a change needs a restart.
"""

_WIDTH = 108


def example_yaml() -> str:
    """The text of `config.example.yaml`."""
    return HEADING + "\n".join(_section(Config, ())) + "\n"


def _section(model: type[BaseModel], path: tuple[str, ...]) -> Iterator[str]:
    indent = "  " * len(path)
    for name, field in model.model_fields.items():
        if not path:
            yield ""
        later = " Not available in this version." if is_later(".".join((*path, name))) else ""
        yield from _comment(f"{description(model, name)}{later}", indent)
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield f"{indent}{name}:"
            yield from _section(inner, (*path, name))
        else:
            yield f"{indent}{name}: {_default(field)}".rstrip()


def _comment(text: str, indent: str) -> list[str]:
    start = f"{indent}# "
    return textwrap.wrap(text, _WIDTH, initial_indent=start, subsequent_indent=start)


def _default(field: FieldInfo) -> str:
    """The default as YAML; None leaves the key empty, which is the same as leaving it out."""
    value = field.get_default(call_default_factory=True)
    if value is None:
        return ""
    plain = value.get_secret_value() if isinstance(value, SecretStr) else value
    return json.dumps(plain, ensure_ascii=False)
