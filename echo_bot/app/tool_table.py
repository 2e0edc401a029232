"""The tables of the tools, from the catalogue, the profiles and the tools themselves.

`python -m echo_bot.app.tool_table` writes them into docs/tools.md; a test compares.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from echo_bot.policy.capabilities import CAPABILITIES
from echo_bot.policy.catalogue import CATALOGUE, ToolEntry
from echo_bot.policy.profiles import SECURITY_DENY, TOOL_PROFILES, filter_reason
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.schemas import JsonSchema
from echo_bot.policy.settings import ToolSettings
from echo_bot.tools.base import Tool

BEGIN = "<!-- {}: written by python -m echo_bot.app.tool_table -->"
END = "<!-- end of {} -->"
DOCUMENT = Path(__file__).parents[2] / "docs" / "tools.md"
NOTHING = "–"

NEEDS: Mapping[str, str] = {
    "exec": "a place where code may run: the sandbox (bubblewrap), or `tools.exec.host`",
    "process": "a place where code may run: the sandbox (bubblewrap), or `tools.exec.host`",
    "knowledge_search": "`knowledge.paths`, or places named to knowledge_index",
    "execute_code": "the same, and `python3`, `node` or `bash` on PATH",
    "delegate_task": "`models.default`",
    "spawn_task": "`models.default`",
    "skill_run": "a place where code may run, and the Python of `skills.python`",
    "web_fetch": "`pip install 'echo-bot[web]'`",
    "web_search": "the provider's key (brave, tavily), its address (searxng), or the extra `web` (ddgs)",
    "vision_analyze": "`models.default`, a model that sees; or a service in `tools.vision`",
    "image_generate": "`tools.image_gen.api_key`, or the address of a server that needs none",
    "text_to_speech": "`tools.tts.api_key`, a server's address, or the extra `tts` (edge)",
}
"""What a tool needs from outside before it is ready; every tool that can be unready stands here."""

ON = ToolSettings(network_policy="allow", disabled=frozenset())
"""Settings under which every tool is offered."""


def tool_table(tools: Mapping[str, Tool]) -> str:
    """A row for each built-in tool; `tools` are those that this version has."""
    return _table(
        ("Tool", "What it does", "Risk", "Capabilities", "From profile", "Not under", "Network", "Switch"),
        (
            (
                f"`{entry.name}`",
                _first_sentence(tools[entry.name]) if entry.name in tools else "*not in this version yet*",
                risk_of(entry),
                _codes(sorted(entry.capabilities)) or _inherited(entry),
                smallest_profile(entry),
                ", ".join(taken_by_security(entry)),
                "yes" if needs_network(entry) else "",
                _codes([entry.subsystem] if entry.subsystem else []),
            )
            for entry in CATALOGUE.values()
        ),
    )


def parameter_table() -> str:
    """Every tool's parameters, the required ones in bold, each with its type."""
    return _table(
        ("Tool", "Parameters"),
        ((f"`{entry.name}`", ", ".join(_parameters(entry.parameters))) for entry in CATALOGUE.values()),
    )


def need_table() -> str:
    """What has to be there before a tool is ready."""
    return _table(("Tool", "Needs"), ((f"`{name}`", NEEDS[name]) for name in CATALOGUE if name in NEEDS))


def capability_table() -> str:
    """Every capability, which security profile takes it away, and the tools that carry it."""
    return _table(
        ("Capability", "Meaning", "Not under", "Tools"),
        (
            (
                f"`{name}`",
                meaning,
                ", ".join(profile for profile, (_, gone) in SECURITY_DENY.items() if name in gone),
                _codes(each.name for each in CATALOGUE.values() if name in each.capabilities),
            )
            for name, meaning in CAPABILITIES.items()
        ),
    )


def risk_of(entry: ToolEntry) -> str:
    """The risk that the map gives; a tool of nobody is dangerous."""
    return (entry.static_risk or RiskLevel.DANGEROUS).value


def smallest_profile(entry: ToolEntry) -> str:
    """The first `tools.profile` that offers it."""
    return next(name for name, names in TOOL_PROFILES.items() if names is None or entry.name in names)


def taken_by_security(entry: ToolEntry) -> tuple[str, ...]:
    """Every `security.profile` under which it is gone."""
    return tuple(
        profile
        for profile, (names, capabilities) in SECURITY_DENY.items()
        if entry.name in names or entry.capabilities & capabilities
    )


def needs_network(entry: ToolEntry) -> bool:
    """Does `execution.network_policy: deny` take it away?"""
    closed = ToolSettings(network_policy="deny", disabled=ON.disabled)
    return filter_reason(entry, closed) == "execution.network_policy"


def with_tables(document: str, tools: Mapping[str, Tool]) -> str:
    """The document with each table between its marks. Raises ValueError for marks that are missing."""
    tables = {
        "tools": tool_table(tools),
        "parameters": parameter_table(),
        "needs": need_table(),
        "capabilities": capability_table(),
    }
    for name, table in tables.items():
        begin, end = BEGIN.format(name), END.format(name)
        head, found, rest = document.partition(begin)
        _, closed, tail = rest.partition(end)
        if not (found and closed):
            raise ValueError(f"the document has no marks for the table of {name}")
        document = f"{head}{begin}\n{table}\n{end}{tail}"
    return document


async def built_tools() -> dict[str, Tool]:
    """The built-in tools that this version has, unstarted, by name."""
    from echo_bot.app.rehearsal import NothingStored
    from echo_bot.app.tool_states import unstarted_parts
    from echo_bot.config.loader import Loaded, config_from_keys
    from echo_bot.config.places import database_url
    from echo_bot.storage.store import SqlStore

    loaded = Loaded(config_from_keys({}))
    store = SqlStore(database_url(loaded.config))
    parts = await unstarted_parts(loaded, (), store, NothingStored(), {})
    await store.close()
    return {tool.name: tool for tool in parts.toolbox.registry if tool.name in CATALOGUE}


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [
        f"| {' | '.join(head)} |",
        "|---" * len(head) + "|",
        *(f"| {' | '.join(_cell(each) for each in row)} |" for row in rows),
    ]
    return "\n".join(lines)


def _first_sentence(tool: Tool) -> str:
    return tool.description.partition(". ")[0].rstrip(".")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|") or NOTHING


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _inherited(entry: ToolEntry) -> str:
    return "those of the worker's tools" if entry.name in ("delegate_task", "spawn_task") else ""


def _parameters(schema: JsonSchema) -> Iterator[str]:
    properties, required = schema.get("properties"), schema.get("required")
    assert isinstance(properties, dict)
    assert isinstance(required, list)
    for name, parameter in properties.items():
        assert isinstance(parameter, dict)
        shown = f"**`{name}`**" if name in required else f"`{name}`"
        yield f"{shown} ({_type(parameter)})"
    if schema.get("additionalProperties") is not False:
        yield "and others"


def _type(parameter: JsonSchema) -> str:
    if isinstance(choices := parameter.get("enum"), list):
        return " | ".join(str(each) for each in choices)
    kind = parameter.get("type")
    return " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind)


if __name__ == "__main__":
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(with_tables(text, asyncio.run(built_tools())), encoding="utf-8")
