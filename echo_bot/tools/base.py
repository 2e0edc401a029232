"""The tool contract: what a tool declares, what it is told at a call, what it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from echo_bot.policy.risk import RiskLevel

ErrorKind = Literal["validation", "business", "denied", "timeout", "dependency", "internal"]


@dataclass(frozen=True)
class ToolExecutionContext:
    """Where a call comes from and how it was passed. Frozen; built by the runner alone.

    `idempotency_key` is a hash of trace, tool, index and arguments. `approval_source` is "human" only when a
    person approved this very call. `approved_actions` holds the tool's name when a person, a grant, the
    operator allowlist or a cron authorisation passed the call. `credentials` holds the values stored for
    `tool:<name>` only. With `is_replay` a tool skips its side effects.
    """

    execution_id: str
    trace_id: str
    session_key: str
    memory_scope: str
    user_id: str
    agent_id: str
    attempt_index: int
    idempotency_key: str
    is_replay: bool
    parent_execution_id: str | None
    credentials: dict[str, str] = field(repr=False)
    approved_actions: frozenset[str]
    approval_source: str
    allowed_tools: frozenset[str]
    channel: str
    chat_id: str
    reply_to_id: str
    unattended: bool
    cron_authorized: bool
    inbound_event_id: str


@dataclass(frozen=True)
class ToolResult:
    """What a call came to. `output` is text for the model; `error` is a sentence that says what to do."""

    success: bool
    output: str = ""
    error: str = ""
    error_kind: ErrorKind | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


class Tool(ABC):
    """Something the agent can do. Subclass it, set the attributes, write `execute`.

    `parameters` is a JSON Schema object; `timeout_seconds` bounds one attempt; `max_retries` applies to
    results of kind dependency or timeout, within the process. `risk_level` is one of the four levels;
    anything else counts as dangerous.
    """

    name: ClassVar[str] = ""
    description: ClassVar[str] = ""
    parameters: ClassVar[dict[str, Any]] = {}
    timeout_seconds: ClassVar[int] = 30
    max_retries: ClassVar[int] = 0
    stream_capable: ClassVar[bool] = False
    capabilities: ClassVar[tuple[str, ...]] = ()
    risk_level: ClassVar[str] = RiskLevel.WRITE.value

    def is_ready(self) -> bool:
        """Are the things this tool needs from outside there?"""
        return self.readiness_detail()[0]

    def readiness_detail(self) -> tuple[bool, str]:
        """Ready or not, and a sentence: what is missing and how to get it."""
        return True, "ready"

    @abstractmethod
    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        """Do it. `params` passed the schema. Expected failures are returned, not raised."""
