"""Which environment variables are configuration: `ECHO_BOT_A__B` is the key a.b, and wins over the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

PREFIXES = ("ECHO_AGENT_", "ECHO_BOT_")
"""Either spelling; where both are set, the later one wins."""

PLAIN_NAMES = ("workspace", "data_dir", "language", "timezone")
"""Top-level keys that need no `__`."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One such variable: the key that it sets, by lower-case path."""

    path: tuple[str, ...]
    name: str
    text: str


def config_variables(environ: Mapping[str, str]) -> Iterator[Variable]:
    """All of them; of two for one key, the one that wins comes last."""
    for prefix in PREFIXES:
        for name, text in environ.items():
            rest = name.removeprefix(prefix)
            if rest == name:
                continue
            if "__" in rest:
                yield Variable(tuple(part.lower() for part in rest.split("__")), name, text)
            elif rest.lower() in PLAIN_NAMES and rest.isupper():
                yield Variable((rest.lower(),), name, text)
