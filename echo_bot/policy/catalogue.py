"""The catalogue: every built-in tool's risk, capabilities and parameters, known before the tool is built."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from echo_bot.policy import schemas
from echo_bot.policy.call import Arguments
from echo_bot.policy.capabilities import MCP_CALL, NETWORK_OUTBOUND
from echo_bot.policy.risk import RiskLevel, stricter
from echo_bot.policy.schemas import JsonSchema

TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

RESERVED = frozenset({"agents_list", "agents_route"})
"""Names that stand in policy sets and are never callable."""

ALIASES: Mapping[str, str] = {"bash": "exec", "shell": "exec", "run_code": "execute_code"}
"""Names that models use for a built-in."""

PROCESS_READING = frozenset({"list", "poll"})
"""The actions of `process` that start and change nothing."""

READING_ACTIONS: Mapping[str, frozenset[str]] = {"cronjob": frozenset({"list"}), "process": PROCESS_READING}
"""The only actions that are read-only although their tool is not."""

_MCP_NAME = re.compile(r"mcp_.+_.+")

_CAPABILITIES: Mapping[str, str] = {
    "read_file": "fs.read",
    "list_dir": "fs.read",
    "search_files": "fs.read",
    "knowledge_search": "knowledge.read",
    "session_search": "session.read",
    "skills_list": "skill.read",
    "skill_view": "skill.read",
    "web_fetch": NETWORK_OUTBOUND,
    "web_search": NETWORK_OUTBOUND,
    "vision_analyze": "media.read",
    "read_spill": "fs.read",
    "write_file": "fs.write",
    "edit_file": "fs.read fs.write",
    "patch": "fs.read fs.write",
    "knowledge_index": "knowledge.write fs.read",
    "todo": "task.write",
    "task": "task.write",
    "workflow": "workflow.write",
    "notify": "message.send",
    "message": "message.send",
    "clarify": "message.ask",
    "memory": "memory.read memory.write",
    "image_generate": f"media.generate {NETWORK_OUTBOUND}",
    "text_to_speech": f"media.generate {NETWORK_OUTBOUND}",
    "exec": "process.exec",
    "execute_code": "code.exec process.exec",
    "process": "process.exec process.manage",
    "skill_run": "skill.read process.exec code.exec",
    "cronjob": "scheduler.write",
    "skill_install": f"skill.install {NETWORK_OUTBOUND} fs.write",
    "skill_manage": "skill.write fs.write",
}

_SUBSYSTEMS: Mapping[str, str] = {
    "exec": "tools.exec.enabled",
    "process": "tools.exec.enabled",
    "execute_code": "tools.code_exec.enabled",
    "web_fetch": "tools.web.enabled",
    "web_search": "tools.web.enabled",
    "image_generate": "tools.image_gen.enabled",
    "text_to_speech": "tools.tts.enabled",
    "vision_analyze": "tools.vision.enabled",
    "memory": "memory.enabled",
    "cronjob": "scheduler.enabled",
}


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """What policy knows of a tool: `static_risk` by the map here, `declared_risk` by who registered it."""

    name: str
    capabilities: frozenset[str]
    parameters: JsonSchema
    static_risk: RiskLevel | None = None
    declared_risk: RiskLevel | None = None
    subsystem: str = ""


def _entries(risk: RiskLevel, parameters: Mapping[str, JsonSchema]) -> dict[str, ToolEntry]:
    return {
        name: ToolEntry(
            name=name,
            capabilities=frozenset(_CAPABILITIES.get(name, "").split()),
            parameters=schema,
            static_risk=risk,
            subsystem=_SUBSYSTEMS.get(name, ""),
        )
        for name, schema in parameters.items()
    }


CATALOGUE: Mapping[str, ToolEntry] = {
    **_entries(RiskLevel.READ_ONLY, schemas.READING),
    **_entries(RiskLevel.WRITE, schemas.WRITING),
    **_entries(RiskLevel.EXEC, schemas.RUNNING),
    **_entries(RiskLevel.DANGEROUS, schemas.LASTING),
}
"""Every built-in tool by name."""


def canonical_name(name: str) -> str:
    """The name behind an alias; any other name is returned as it is."""
    return ALIASES.get(name, name)


def is_mcp_name(name: str) -> bool:
    """Is this a name of the form `mcp_<server>_<tool>`, which only MCP tools may carry?"""
    return _MCP_NAME.fullmatch(name) is not None


def is_registrable(name: str) -> bool:
    """May somebody else's tool take this name? Built-in, reserved, alias and malformed names may not."""
    taken = name in CATALOGUE or name in RESERVED or name in ALIASES
    return TOOL_NAME.fullmatch(name) is not None and not taken


def registered(
    name: str,
    *,
    declared_risk: str | None = None,
    capabilities: Iterable[str] = (),
    parameters: JsonSchema | None = None,
) -> ToolEntry | None:
    """The entry of a canonical name, joined with what its tool declares; None: nobody registered it.

    A built-in keeps its parameters and adds the capabilities. Any other name exists only when something is
    declared: a risk, capabilities or parameters. Without a risk, an MCP tool is exec and any other is write.
    """
    added = frozenset(capabilities)
    declared = None if declared_risk is None else risk_level(declared_risk)
    built_in = CATALOGUE.get(name)
    if built_in is not None:
        return replace(built_in, declared_risk=declared, capabilities=built_in.capabilities | added)
    if not is_registrable(name) or (declared is None and not added and parameters is None):
        return None
    if is_mcp_name(name):
        added |= {MCP_CALL}
    is_mcp = MCP_CALL in added
    return ToolEntry(
        name=name,
        capabilities=added,
        parameters=schemas.FREE if parameters is None else parameters,
        declared_risk=declared or (RiskLevel.EXEC if is_mcp else RiskLevel.WRITE),
        subsystem="tools.mcp.enabled" if is_mcp else "",
    )


def risk_level(declared: str) -> RiskLevel:
    """A declaration as a level; anything outside the four is dangerous."""
    return next((level for level in RiskLevel if level.value == declared), RiskLevel.DANGEROUS)


def classify_risk(tool: ToolEntry, args: Arguments) -> RiskLevel:
    """The stricter of map and declaration; a few actions of built-ins only read. Neither known: dangerous."""
    reads = args.get("action") in READING_ACTIONS.get(tool.name, ())
    static = RiskLevel.READ_ONLY if reads else tool.static_risk
    known = [level for level in (static, tool.declared_risk) if level is not None]
    return reduce(stricter, known) if known else RiskLevel.DANGEROUS
