"""Looking at images: what the tool asks, and an OpenAI-compatible service that answers."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from echo_bot.net import FetchLimits
from echo_bot.net.clients import GuardedClients
from echo_bot.tools.base import ToolResult
from echo_bot.tools.media.drawing import OPENAI
from echo_bot.tools.media.kinds import MediaKind
from echo_bot.tools.services import Call, Service, bearer, call, json_object, not_understood

DEFAULT_MODEL = "gpt-4.1-mini"


@dataclass(frozen=True, slots=True)
class Image:
    data: bytes
    kind: MediaKind


class Eyes(Protocol):
    def problem(self) -> str:
        """What is missing before it can look, as a sentence; "" when nothing is."""
        ...

    async def look(self, image: Image, prompt: str, model: str) -> str | ToolResult:
        """What it says about the image. `model` "" is the configured one."""
        ...


@dataclass(frozen=True, slots=True)
class ServiceEyes:
    """The network policy says where tools may go; the service that sees is, like the model, no part of it."""

    service: Service
    model: str
    clients: GuardedClients
    timeout_seconds: float = 120.0

    def problem(self) -> str:
        if problem := self.service.problem(None, needs_key=self.service.base == OPENAI):
            return problem
        return "" if self._model("") else "no model: set tools.vision.model"

    async def look(self, image: Image, prompt: str, model: str) -> str | ToolResult:
        address = f"data:{image.kind.mime};base64,{base64.b64encode(image.data).decode()}"
        content = [{"type": "text", "text": prompt}, {"type": "image_url", "image_url": {"url": address}}]
        body = {"model": self._model(model), "messages": [{"role": "user", "content": content}]}
        limits = FetchLimits(max_bytes=2 * 1024 * 1024, total_seconds=self.timeout_seconds, max_redirects=3)
        wanted = Call("chat/completions", bearer(self.service), body)
        answer = await call(self.clients, self.service, wanted, limits)
        if isinstance(answer, ToolResult):
            return answer
        return _words(json_object(answer)) or not_understood(self.service)

    def _model(self, wanted: str) -> str:
        return wanted or self.model or (DEFAULT_MODEL if self.service.base == OPENAI else "")


def _words(body: Mapping[str, object] | None) -> str:
    """The first choice's text; "" when there is none."""
    match body:
        case {"choices": [{"message": {"content": str(text)}}, *_]}:
            return text.strip()
        case _:
            return ""
