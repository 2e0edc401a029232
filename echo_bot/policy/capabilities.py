"""The capability labels that tools declare, and which of them a security profile takes away."""

from __future__ import annotations

from collections.abc import Mapping

NETWORK_OUTBOUND = "network.outbound"
MCP_CALL = "mcp.call"

CAPABILITIES: Mapping[str, str] = {
    "fs.read": "Filesystem read",
    "fs.write": "Filesystem write",
    "process.exec": "Process execution",
    "process.manage": "Process management (signal, stdin)",
    "code.exec": "Code execution",
    NETWORK_OUTBOUND: "Outbound network requests",
    "scheduler.write": "Scheduled job creation",
    "skill.install": "Skill installation",
    "skill.write": "Skill management",
    "skill.read": "Skill viewing",
    "workflow.write": "Workflow orchestration",
    "memory.read": "Memory read",
    "memory.write": "Memory write",
    "message.send": "Message sending",
    "message.ask": "User prompting",
    "media.generate": "Media generation",
    "media.read": "Media analysis",
    "knowledge.read": "Knowledge base retrieval",
    "knowledge.write": "Knowledge base indexing",
    "session.read": "Session retrieval",
    "task.write": "Task management",
    "agent.read": "Agent listing",
    "agent.dispatch": "Agent routing",
    MCP_CALL: "MCP tool invocation",
}

WRITING = frozenset({"fs.write", "memory.write", "skill.write", "knowledge.write"})
"""Capabilities that store text somewhere: what such a call writes must not hold a masked secret."""

DAEMON_DENY_CAPABILITIES = frozenset(
    {"process.exec", "process.manage", "code.exec", "skill.install", MCP_CALL}
)

PUBLIC_GATEWAY_DENY_CAPABILITIES = DAEMON_DENY_CAPABILITIES | {
    "fs.write",
    "scheduler.write",
    "skill.write",
    "workflow.write",
}
