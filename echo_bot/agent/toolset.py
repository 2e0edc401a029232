"""Our tools as a pydantic-ai toolset, and the capability that puts the gate around every toolset of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai import RunContext, ToolFailed
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset
from pydantic_core import SchemaValidator, core_schema

from echo_bot.policy.call import JsonValue
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.runner import ForeignTool, ToolRunner
from echo_bot.tools.scope import TurnScope

MOST_CALLS = 64
"""Calls of one answer that are run."""

_ANY_ARGUMENTS = SchemaValidator(schema=core_schema.dict_schema())
"""Arguments are validated by the gate itself, before they are shown or hashed."""


@dataclass(slots=True)
class TurnDeps:
    """What a run carries along: whose turn it is, the runner, the keys of the last response's calls."""

    scope: TurnScope
    runner: ToolRunner
    call_keys: dict[str, str]


class RegistryToolset(AbstractToolset[TurnDeps]):
    """The offered tools of the registry. Calls are run by the gated wrapper, never here."""

    def __init__(self, tools: tuple[Tool, ...]) -> None:
        self._tools = tools

    @property
    def id(self) -> str | None:
        return "echo-bot"

    async def get_tools(self, ctx: RunContext[TurnDeps]) -> dict[str, ToolsetTool[TurnDeps]]:
        return {
            tool.name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=tool.name, description=tool.description, parameters_json_schema=tool.parameters
                ),
                max_retries=1,
                args_validator=_ANY_ARGUMENTS,
            )
            for tool in self._tools
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[TurnDeps], tool: ToolsetTool[TurnDeps]
    ) -> Any:
        raise ToolFailed(f"{name} was not run: no gate stood before it")


@dataclass
class GatedToolset(WrapperToolset[TurnDeps]):
    """Every call of every wrapped toolset goes through the runner, and so through the gate.

    A worker is offered what its brief names and nothing else, wherever a tool comes from.
    """

    async def get_tools(self, ctx: RunContext[TurnDeps]) -> dict[str, ToolsetTool[TurnDeps]]:
        tools, worker = await super().get_tools(ctx), ctx.deps.scope.event.worker
        if worker is not None:
            tools = {name: tool for name, tool in tools.items() if name in worker.tools}
        ctx.deps.scope = replace(ctx.deps.scope, allowed_tools=frozenset(tools))
        return tools

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[TurnDeps], tool: ToolsetTool[TurnDeps]
    ) -> Any:
        deps = ctx.deps
        call_id = ctx.tool_call_id or name
        key = deps.call_keys.get(call_id, call_id)
        if _place(key) >= MOST_CALLS:
            raise ToolFailed(
                f"not run: one answer may hold {MOST_CALLS} calls. Make the others in the next one"
            )
        foreign = None if isinstance(tool.toolset, RegistryToolset) else self._foreign(name, ctx, tool)
        result = await deps.runner.run(deps.scope, key, name, tool_args, foreign)
        if not result.success:
            why = "" if result.output.startswith(result.error) else result.error
            raise ToolFailed("\n".join(part for part in (why, result.output) if part) or "failed")
        return result.output

    def _foreign(self, name: str, ctx: RunContext[TurnDeps], tool: ToolsetTool[TurnDeps]) -> ForeignTool:
        """A tool that is not ours declares its risk in its metadata, or counts as dangerous."""

        async def body(args: dict[str, JsonValue], _: ToolExecutionContext) -> ToolResult:
            output = await self.wrapped.call_tool(name, args, ctx, tool)
            return ToolResult(True, output=output if isinstance(output, str) else repr(output))

        metadata = tool.tool_def.metadata or {}
        return ForeignTool(
            parameters=tool.tool_def.parameters_json_schema,
            capabilities=tuple(metadata.get("capabilities", ())),
            declared_risk=str(metadata.get("risk_level", "dangerous")),
            body=body,
        )


def _place(key: str) -> int:
    """Which call of its answer this is, by its key."""
    place = key.rpartition(".")[2]
    return int(place) if place.isdecimal() else 0


class GateCapability(AbstractCapability[TurnDeps]):
    """Wraps the whole assembled toolset, so that decorator, run-time and MCP tools pass the gate too."""

    def get_wrapper_toolset(self, toolset: AbstractToolset[TurnDeps]) -> AbstractToolset[TurnDeps]:
        return GatedToolset(toolset)
