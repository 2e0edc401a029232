"""read_spill: page or search through a long result that was spilled, in the caller's own scope."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.guards.paths import shown
from echo_bot.policy.risk import RiskLevel
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.builtin.matching import PatternError, matcher
from echo_bot.tools.builtin.pages import numbered, read_page
from echo_bot.tools.builtin.reading import page_text
from echo_bot.tools.builtin.workspace import invalid
from echo_bot.tools.spill import Spill

MATCHES = 1000
SECONDS = 20.0


class ReadSpillTool(Tool):
    name = "read_spill"
    description = (
        "Read a long result that was cut: give the name from its notice as `path`; `offset` and `limit` "
        "count lines, `pattern` shows only lines that match a regular expression."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["read_spill"].parameters
    capabilities = ("fs.read",)
    risk_level = RiskLevel.READ_ONLY.value

    def __init__(self, spill: Spill, max_inline_chars: int = 6000) -> None:
        self._spill = spill
        self._max_chars = max_inline_chars - 200

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        return await asyncio.to_thread(self._read, params, ctx)

    def _read(self, params: dict[str, Any], ctx: ToolExecutionContext | None) -> ToolResult:
        path, first, limit = params["path"], max(1, params.get("offset", 1)), params.get("limit", 0)
        file = self._spill.open(ctx, path)
        if file is None:
            return invalid(
                f"there is no spilled result {shown(path)} here; use the name from a result's notice"
            )
        with file:
            if not params.get("pattern"):
                return ToolResult(
                    True, output=page_text(path, read_page(file, first, limit, self._max_chars))
                )
            data = file.read()
        try:
            with matcher(params["pattern"], MATCHES, SECONDS) as lines_in:
                found = [match for match in lines_in.lines(data) if match[0] >= first]
        except PatternError as error:
            return invalid(str(error))
        return ToolResult(True, output=self._matches(found[: limit or None]))

    def _matches(self, found: list[tuple[int, str]]) -> str:
        lines: list[str] = []
        room = self._max_chars
        for number, text in found:
            line = numbered(number, text.encode("utf-8", "replace"))
            room -= len(line) + 1
            if room < 0 and lines:
                lines.append(f"(go on with offset={number})")
                break
            lines.append(line)
        return "\n".join(lines) or "no match"
