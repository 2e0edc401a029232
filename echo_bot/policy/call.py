"""One tool call as it will run, and the digest that an approval is bound to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from typing_extensions import TypeAliasType

JsonValue = TypeAliasType(
    "JsonValue", "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
)
"""What JSON can hold."""

Arguments = Mapping[str, JsonValue]


class Executor(StrEnum):
    """Where code lands. NONE: the call starts no process."""

    NONE = "none"
    SANDBOX = "sandbox"
    LOCAL = "local"
    CONTAINER = "container"
    REMOTE = "remote"


@dataclass(frozen=True, slots=True)
class BoundFile:
    """A file that the approval covers. `identity` is "sha256:…", "stat:dev:inode:size:mtime" or "absent"."""

    path: str
    identity: str

    @property
    def is_content(self) -> bool:
        """False when the file could not be read whole: then no grant is offered for the call."""
        return not self.identity.startswith("stat:")


@dataclass(frozen=True, slots=True)
class Call:
    """A validated call: canonical tool name, arguments, and the surroundings that change what it does.

    `env` holds environment changes the call asks for; `cwd` is absolute. `definition` is the digest of what a
    stranger says the tool is (an MCP tool's), "" for a tool whose code is here.
    """

    tool: str
    args: Arguments
    cwd: str
    executor: Executor = Executor.NONE
    env: Mapping[str, str] = field(default_factory=dict)
    bound_files: tuple[BoundFile, ...] = ()
    definition: str = ""


def canonical_json(value: object) -> str:
    """One spelling per value: sorted keys, no blanks; 1, true, "1", 1.0 stay different. ValueError on NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(call: Call) -> str:
    """SHA-256 (hex) over everything an approval of this call covers."""
    text = canonical_json(
        [
            call.tool,
            dict(call.args),
            call.cwd,
            call.executor.value,
            dict(call.env),
            sorted([bound.path, bound.identity] for bound in call.bound_files),
            *([call.definition] if call.definition else []),
        ]
    )
    return hashlib.sha256(text.encode()).hexdigest()
