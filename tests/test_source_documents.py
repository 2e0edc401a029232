"""The custom tool and the permission check of the product's documents, run as they stand there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from echo_bot.testing.bot import running_bot
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel

CUSTOM_TOOL = """
from echo_agent.tools import Tool, ToolExecutionContext, ToolResult

class MyCustomTool(Tool):
    name = "my_tool"
    description = "Perform a custom operation"
    parameters = {
        "type": "object",
        "properties": {
            "input": {"type": "string", "description": "Input content"},
        },
        "required": ["input"],
    }
    timeout_seconds = 60
    max_retries = 2
    risk_level = "write"
    capabilities = ("fs.write",)

    def is_ready(self) -> bool:
        # Check external dependencies
        return True

    def readiness_detail(self) -> tuple[bool, str]:
        return True, "All dependencies ready"

    async def execute(self, params: dict, ctx: ToolExecutionContext | None = None) -> ToolResult:
        input_text = params["input"]
        # ... execution logic ...
        return ToolResult(success=True, output=f"Processed: {input_text}")
"""

PERMISSION_CHECK = """
async def execute(self, params: dict, ctx: ToolExecutionContext | None = None) -> ToolResult:
    if ctx and ctx.unattended and "my_tool" not in ctx.approved_actions:
        return ToolResult(
            success=False,
            error="Explicit authorization required in unattended mode",
            error_kind="business",
        )

    if ctx and ctx.approval_source != "human":
        # Only perform high-risk operations with human approval
        return ToolResult(
            success=False,
            error="This operation requires human confirmation",
            error_kind="business",
        )

    # ... execution logic ...
    return ToolResult(success=True, output="ok")
"""


async def test_the_documented_custom_tool_runs_from_tools_paths(tmp_path: Path) -> None:
    file = tmp_path / "my_tool.py"
    file.write_text(CUSTOM_TOOL)
    script = ScriptedModel([CallTool("my_tool", {"input": "abc"}), Say("Done.")])
    async with running_bot(tmp_path, {"tools.paths": [str(file)]}, model=script.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(lambda m: m.text is not None and "Done." in m.text.text)
        assert "Processed: abc" in str(script.seen[-1][-1])


@pytest.mark.parametrize(
    ("risk", "press", "expected"),
    [
        pytest.param("write", "", "requires human confirmation", id="a policy pass is not a human approval"),
        pytest.param("exec", "Approve once", "ok", id="a pressed button is a human approval"),
    ],
)
async def test_the_documented_permission_check_sees_who_approved(
    tmp_path: Path, risk: str, press: str, expected: str
) -> None:
    body = PERMISSION_CHECK.replace("\n", "\n    ")
    file = tmp_path / "my_tool.py"
    file.write_text(
        "from echo_agent.tools import Tool, ToolExecutionContext, ToolResult\n\n"
        f'class Checked(Tool):\n    name = "my_tool"\n    risk_level = "{risk}"\n'
        f'    parameters = {{"type": "object"}}\n    {body}\n'
    )
    script = ScriptedModel([CallTool("my_tool", {}), Say("Done.")])
    async with running_bot(tmp_path, {"tools.paths": [str(file)]}, model=script.model) as bot:
        await bot.channel.say("go")
        if press:
            await bot.channel.wait_for(lambda m: any(b.label == press for b in m.buttons))
            await bot.channel.press(press)
        await bot.channel.wait_for(lambda m: m.text is not None and "Done." in m.text.text)
        assert expected in str(script.seen[-1][-1])


def test_the_context_has_the_twenty_documented_fields_and_is_frozen() -> None:
    from dataclasses import FrozenInstanceError, fields

    from echo_bot.tools import ToolExecutionContext

    names = [field.name for field in fields(ToolExecutionContext)]
    assert names == [
        "execution_id",
        "trace_id",
        "session_key",
        "memory_scope",
        "user_id",
        "agent_id",
        "attempt_index",
        "idempotency_key",
        "is_replay",
        "parent_execution_id",
        "credentials",
        "approved_actions",
        "approval_source",
        "allowed_tools",
        "channel",
        "chat_id",
        "reply_to_id",
        "unattended",
        "cron_authorized",
        "inbound_event_id",
    ]
    values: dict[str, Any] = dict.fromkeys(names, "")
    context = ToolExecutionContext(**values)
    with pytest.raises(FrozenInstanceError):
        context.channel = "cli"  # type: ignore[misc]  # that is the point
