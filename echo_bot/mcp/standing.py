"""How a tool of a server stands: offered, asked about again because it changed, or held back; and why.

Pure: it is decided from the definition, from what is pinned, and from whether the server was ever seen.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from echo_bot.called import command
from echo_bot.mcp.definition import Definition, changes
from echo_bot.mcp.schema import UnusableSchema
from echo_bot.policy.guards.memory import scan_memory
from echo_bot.policy.schemas import JsonSchema

NO_SCHEMA: JsonSchema = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Standing:
    """`withheld`: why nobody can call it. `changed`: what a person is asked about before it runs.

    `pins`: this definition is to be pinned unasked.
    """

    schema: JsonSchema
    withheld: str = ""
    changed: str = ""
    pins: bool = False


def standing(
    definition: Definition, pinned: Definition | None, server: str, *, is_first: bool = False
) -> Standing:
    """`is_first`: nothing of this server was ever seen. Takes a moment: the texts are scanned."""
    try:
        schema = definition.usable_schema()
    except UnusableSchema as error:
        return Standing(NO_SCHEMA, withheld=str(error))
    if pinned is not None and pinned.digest == definition.digest:
        return Standing(schema)
    suspicion = _suspicion(definition)
    if suspicion:
        return Standing(schema, withheld=f"{suspicion}; {_remedy(server, definition)}")
    if is_first:
        return Standing(schema, pins=True)
    if pinned is None:
        what = (
            "nobody approved the definition of this tool yet: it appeared after the server's first connection"
        )
        return Standing(schema, changed=f"{what}. It says: “{definition.shown_description[:300]}”")
    what = changes(pinned, definition)
    return Standing(schema, changed=f"the definition of this tool changed since it was approved: {what}")


def _suspicion(definition: Definition) -> str:
    findings = scan_memory(definition.words(), "definition")
    if not findings:
        return ""
    what = findings[0].sentence.partition(":")[0]
    return f"its definition does not pass the scan ({findings[0].kind}: {what})"


def _remedy(server: str, definition: Definition) -> str:
    listed = command(f"mcp list {server} --full")
    pin = command(f"mcp pin {server} {shlex.quote(definition.name)}")
    return f"read it with `{listed}`; `{pin}` lets it in all the same"
