"""Text from recordings: what asks for it, and an OpenAI-compatible service (`audio/transcriptions`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from echo_bot.net import FetchLimits
from echo_bot.net.clients import GuardedClients
from echo_bot.tools.base import ToolResult
from echo_bot.tools.media.drawing import OPENAI
from echo_bot.tools.media.kinds import voice_kind
from echo_bot.tools.services import Call, Form, Service, bearer, call, json_object, not_understood

DEFAULT_MODEL = "gpt-4o-mini-transcribe"
MAX_RECORDING_BYTES = 25 * 1024 * 1024
"""What OpenAI takes, and what is received at most."""

_MAX_ANSWER_BYTES = 1024 * 1024


class Ears(Protocol):
    @property
    def where(self) -> str:
        """The address that recordings are sent to."""
        ...

    def problem(self) -> str:
        """What is missing before it can hear, as a sentence; "" when nothing is."""
        ...

    async def hear(self, recording: bytes) -> str | ToolResult:
        """The words, as they came from the service; "" for silence."""
        ...


@dataclass(frozen=True, slots=True)
class ServiceEars:
    """Needs no leave of the network policy, like the model; `clients` reach the service alone.

    `model` may be empty where the service has one of its own.
    """

    service: Service
    model: str
    language: str
    clients: GuardedClients
    timeout_seconds: float = 120.0

    @property
    def where(self) -> str:
        return self.service.base

    def problem(self) -> str:
        return self.service.problem(None, needs_key=self.service.base == OPENAI)

    async def hear(self, recording: bytes) -> str | ToolResult:
        if problem := self.problem():
            return ToolResult(False, error=problem, error_kind="dependency")
        kind = voice_kind(recording)
        if kind is None or len(recording) > MAX_RECORDING_BYTES:
            error = f"it is no recording of a known kind below {MAX_RECORDING_BYTES:,} bytes"
            return ToolResult(False, error=error, error_kind="business")
        model = self.model or (DEFAULT_MODEL if self.service.base == OPENAI else "")
        named = {"model": model, "language": self.language}
        fields = {"response_format": "json", **{name: value for name, value in named.items() if value}}
        # Services go by the ending of the name.
        form = Form(fields, f"voice.{kind.extension}", kind.mime, recording)
        wanted = Call("audio/transcriptions", bearer(self.service), form)
        limits = FetchLimits(_MAX_ANSWER_BYTES, self.timeout_seconds, max_redirects=0)
        answer = await call(self.clients, self.service, wanted, limits)
        if isinstance(answer, ToolResult):
            return answer
        text = (json_object(answer) or {}).get("text")
        return text if isinstance(text, str) else not_understood(self.service)
