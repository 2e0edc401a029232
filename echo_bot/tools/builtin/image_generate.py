"""image_generate: an image from words, kept in the workspace and sent to the chat."""

from __future__ import annotations

from typing import Any, ClassVar

from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.media.drawing import ASPECTS, Drawing
from echo_bot.tools.media.kinds import IMAGES
from echo_bot.tools.media.made import MadeFiles

MAX_PROMPT_CHARS = 4000


class ImageGenerateTool(Tool):
    """Never retried: a service that failed may have drawn, and billed, the image."""

    name = "image_generate"
    description = (
        "Make an image from a description and send it to this chat. aspect: square, landscape or portrait."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["image_generate"].parameters
    capabilities = ("media.generate", "network.outbound")
    timeout_seconds = 600

    def __init__(self, drawing: Drawing, files: MadeFiles) -> None:
        self._drawing, self._files = drawing, files

    def readiness_detail(self) -> tuple[bool, str]:
        problem = self._drawing.problem()
        return (False, problem) if problem else (True, "ready")

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        prompt = str(params["prompt"]).strip()
        aspect = ASPECTS.get(str(params.get("aspect") or "square").strip().lower())
        if not prompt or len(prompt) > MAX_PROMPT_CHARS:
            error = f"prompt must have 1 to {MAX_PROMPT_CHARS:,} characters"
            return ToolResult(False, error=error, error_kind="validation")
        if aspect is None:
            error = f"aspect must be one of {', '.join(ASPECTS)}"
            return ToolResult(False, error=error, error_kind="validation")
        return await self._files.deliver(ctx, "image", IMAGES, lambda: self._drawing.draw(prompt, aspect))
