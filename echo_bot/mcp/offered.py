"""A server's listing, judged: which tools there are by name, how each stands, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from echo_bot.approval.escape import escape_line
from echo_bot.mcp.definition import Definition, UnusableDefinition, from_text, from_wire
from echo_bot.mcp.names import tool_names
from echo_bot.mcp.spec import ServerSpec
from echo_bot.mcp.standing import Standing, standing
from echo_bot.storage.mcp_records import McpDefinitionRecord

MOST_TOOLS = 200


@dataclass(frozen=True, slots=True)
class Offered:
    """One tool of a server under its name here."""

    name: str
    definition: Definition
    standing: Standing


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server lists and the operator wants. `left_out`: a sentence for each entry that is no tool."""

    definitions: tuple[Definition, ...]
    left_out: tuple[str, ...] = ()

    @property
    def digests(self) -> frozenset[tuple[str, str]]:
        return frozenset((each.name, each.digest) for each in self.definitions)


def listing(spec: ServerSpec, entries: Iterable[Mapping[str, Any]]) -> Listing:
    """Of two tools with one name the first counts: the server itself could not tell them apart."""
    found: dict[str, Definition] = {}
    left_out: list[str] = []
    for entry in entries:
        try:
            definition = from_wire(entry)
        except UnusableDefinition as error:
            left_out.append(f"{_called(entry)}: {error}")
            continue
        if not spec.offers(definition.name):
            continue
        if definition.name in found:
            left_out.append(f"{_called(entry)}: it lists two tools of this name; the first is taken")
        elif len(found) == MOST_TOOLS:
            left_out.append(f"{_called(entry)}: only {MOST_TOOLS} tools of a server are taken")
        else:
            found[definition.name] = definition
    return Listing(tuple(found.values()), tuple(left_out[:MOST_TOOLS]))


def judged(
    server: str,
    definitions: Iterable[Definition],
    records: Iterable[McpDefinitionRecord],
    *,
    is_first: bool = False,
) -> dict[str, Offered]:
    """By name here. Takes a moment for tools that are not pinned: their texts are scanned."""
    pinned = {each.tool: _pinned(each) for each in records}
    by_spelling = {each.name: each for each in definitions}
    return {
        name: Offered(
            name,
            by_spelling[spelt],
            standing(by_spelling[spelt], pinned.get(spelt), server, is_first=is_first),
        )
        for spelt, name in tool_names(server, by_spelling).items()
    }


def remembered(spec: ServerSpec, records: Iterable[McpDefinitionRecord]) -> tuple[Definition, ...]:
    """The definitions as they were seen last, of the tools that the operator wants now."""
    found = []
    for record in records:
        if record.server == spec.name and spec.offers(record.tool):
            try:
                found.append(from_text(record.seen))
            except (ValueError, TypeError):
                continue  # a row of another version: the server is asked anew
    return tuple(found)


def _pinned(record: McpDefinitionRecord) -> Definition | None:
    try:
        return from_text(record.pinned) if record.pinned_digest else None
    except (ValueError, TypeError):
        return None


def _called(entry: Mapping[str, Any]) -> str:
    return escape_line(str(entry.get("name", "?"))[:80])
