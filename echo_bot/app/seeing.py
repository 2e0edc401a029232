"""The chat model as the eyes of vision_analyze, where no service of its own is configured."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from echo_bot.agent.ledger import Ledger, Purpose
from echo_bot.app.model import ModelChoice
from echo_bot.app.unconfigured import UNCONFIGURED
from echo_bot.events import SessionKey
from echo_bot.tools.base import ToolResult
from echo_bot.tools.media.seeing import Image
from echo_bot.tools.web.failures import status_kind, status_words


@dataclass(frozen=True, slots=True)
class ModelEyes:
    """`choice` is the model that answers in chats; `named` finds another of the same provider by its name."""

    choice: ModelChoice
    named: Callable[[str], ModelChoice]
    timeout_seconds: float
    ledger: Ledger

    def problem(self) -> str:
        """A rehearsal knows the model's name and builds none."""
        if self.choice.model is not None:
            return ""
        return self.choice.warning or ("" if self.choice.name else UNCONFIGURED["vision_analyze"])

    async def look(self, image: Image, prompt: str, model: str) -> str | ToolResult:
        choice = self.named(model) if model else self.choice
        if choice.model is None:
            why = choice.warning or f"the model {model} cannot be used"
            return ToolResult(False, error=why, error_kind="validation")
        from pydantic_ai import Agent, BinaryContent
        from pydantic_ai.exceptions import AgentRunError, UserError

        if refusal := await self.ledger.refusal():
            return ToolResult(False, error=refusal, error_kind="business")
        content = (prompt, BinaryContent(image.data, media_type=image.kind.mime))
        try:
            async with asyncio.timeout(self.timeout_seconds):
                result = await Agent(choice.model).run(content)
            purpose = Purpose(f"vision:{uuid4().hex}", "vision", SessionKey(""))
            await self.ledger.record(choice.name, result.response, purpose)
            return result.output
        except TimeoutError:
            why = f"the model took longer than {self.timeout_seconds:g} s"
            return ToolResult(False, error=why, error_kind="timeout")
        except (AgentRunError, UserError, OSError, ValueError) as error:
            return _failed(error)
        finally:
            if choice is not self.choice:
                await choice.close()


def _failed(error: Exception) -> ToolResult:
    """Without the provider's words, which may repeat what was sent."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        hint = "; it may not take images" if status in (400, 404, 415, 422) else ""
        return ToolResult(
            False, error=f"the model answered {status_words(status)}{hint}", error_kind=status_kind(status)
        )
    return ToolResult(False, error=f"the model failed: {type(error).__name__}", error_kind="dependency")
