"""Which tools are offered at all: tool profiles, lists, security profiles, network policy, subsystems."""

from __future__ import annotations

from collections.abc import Mapping

from echo_bot.policy.capabilities import (
    DAEMON_DENY_CAPABILITIES,
    NETWORK_OUTBOUND,
    PUBLIC_GATEWAY_DENY_CAPABILITIES,
)
from echo_bot.policy.catalogue import ToolEntry
from echo_bot.policy.names import names_tool
from echo_bot.policy.settings import SecurityProfile, ToolProfile, ToolSettings

MINIMAL = frozenset(
    {
        "agents_list",
        "clarify",
        "knowledge_search",
        "list_dir",
        "message",
        "notify",
        "read_file",
        "read_spill",
        "search_files",
        "session_search",
        "skill_view",
        "skills_list",
        "todo",
    }
)
MESSAGING = MINIMAL | {"image_generate", "memory", "text_to_speech", "vision_analyze"}
CODING = MESSAGING | {"edit_file", "knowledge_index", "patch", "task", "workflow", "write_file"}

TOOL_PROFILES: Mapping[ToolProfile, frozenset[str] | None] = {
    "minimal": MINIMAL,
    "messaging": MESSAGING,
    "coding": CODING,
    "full": None,
}
"""The tools of each profile; None is every tool."""

DAEMON_DENY = frozenset({"exec", "execute_code", "process", "skill_install", "skill_run"})
PUBLIC_GATEWAY_DENY = DAEMON_DENY | {
    "cronjob",
    "skill_manage",
    "delegate_task",
    "spawn_task",
    "write_file",
    "edit_file",
    "patch",
    "knowledge_index",
    "workflow",
}

SECURITY_DENY: Mapping[SecurityProfile, tuple[frozenset[str], frozenset[str]]] = {
    "personal_cli": (frozenset(), frozenset()),
    "daemon": (DAEMON_DENY, DAEMON_DENY_CAPABILITIES),
    "public_gateway": (PUBLIC_GATEWAY_DENY, PUBLIC_GATEWAY_DENY_CAPABILITIES),
}
"""What each security profile takes away: names, then capabilities."""

NETWORK_TOOLS = frozenset({"web_fetch", "web_search"})


def filter_reason(tool: ToolEntry, settings: ToolSettings) -> str | None:
    """The key that takes this tool away, or None when it is offered."""
    if names_tool(settings.deny, tool.name):
        return "tools.deny"
    names, capabilities = SECURITY_DENY[settings.security_profile]
    if tool.name in names or tool.capabilities & capabilities:
        return "security.profile"
    if settings.network_policy == "deny" and (
        tool.name in NETWORK_TOOLS or NETWORK_OUTBOUND in tool.capabilities
    ):
        return "execution.network_policy"
    return _left_out(tool.name, settings) or _disabled(tool, settings)


def _left_out(name: str, settings: ToolSettings) -> str | None:
    if settings.allow:
        return None if names_tool(settings.allow, name) else "tools.allow"
    profile = TOOL_PROFILES[settings.profile]
    if profile is None or name in profile or names_tool(settings.also_allow, name):
        return None
    return "tools.profile"


def _disabled(tool: ToolEntry, settings: ToolSettings) -> str | None:
    keys = [tool.subsystem] if tool.subsystem else []
    if tool.name.startswith("mcp_"):
        keys += [key for key in settings.disabled if _is_key_of_server(key, tool.name)]
    return next((key for key in keys if key in settings.disabled), None)


def _is_key_of_server(key: str, tool: str) -> bool:
    """Is this `tools.mcp_servers.<server>.enabled` of the server that the tool's name names?"""
    prefix, suffix = "tools.mcp_servers.", ".enabled"
    if not (key.startswith(prefix) and key.endswith(suffix)):
        return False
    return tool.startswith(f"mcp_{key[len(prefix) : -len(suffix)]}_")
