"""Text from recordings: what asks for it, and an OpenAI-compatible service (`audio/transcriptions`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from echo_bot.net import FetchLimits
from echo_bot.net.clients import GuardedClients
from echo_bot.tools.base import ToolResult
from echo_bot.tools.media.drawing import OPENAI
from echo_bot.tools.media.kinds import voice_kind
from echo_bot.tools.media.lengths import estimated_seconds
from echo_bot.tools.services import Call, Form, Service, bearer, call, json_object, not_understood

DEFAULT_MODEL = "gpt-4o-mini-transcribe"
MAX_RECORDING_BYTES = 25 * 1024 * 1024
"""What OpenAI takes, and what is received at most."""

_MAX_ANSWER_BYTES = 1024 * 1024
_MOST_COUNTED = 10.0**9


@dataclass(frozen=True, slots=True)
class Heard:
    """`words` as they came from the service, "" for silence.

    `seconds`: how long the recording was, as the service says, else estimated; tokens where it counts those.
    """

    words: str
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0


class Ears(Protocol):
    @property
    def name(self) -> str:
        """Under which its use is counted."""
        ...

    @property
    def where(self) -> str:
        """The address that recordings are sent to."""
        ...

    def problem(self) -> str:
        """What is missing before it can hear, as a sentence; "" when nothing is."""
        ...

    async def hear(self, recording: bytes) -> Heard | ToolResult: ...


@dataclass(frozen=True, slots=True)
class ServiceEars:
    """Needs no leave of the network policy, like the model; `clients` reach the service alone.

    `model` may be empty where the service has one of its own. `forbidden`: why it may not be asked at all.
    """

    service: Service
    model: str
    language: str
    clients: GuardedClients
    timeout_seconds: float = 120.0
    forbidden: str = ""

    @property
    def name(self) -> str:
        return f"stt:{self._model or 'unnamed'}"

    @property
    def where(self) -> str:
        return self.service.base

    def problem(self) -> str:
        return self.forbidden or self.service.problem(None, needs_key=self.service.base == OPENAI)

    @property
    def _model(self) -> str:
        return self.model or (DEFAULT_MODEL if self.service.base == OPENAI else "")

    async def hear(self, recording: bytes) -> Heard | ToolResult:
        if problem := self.problem():
            return ToolResult(False, error=problem, error_kind="dependency")
        kind = voice_kind(recording)
        if kind is None or len(recording) > MAX_RECORDING_BYTES:
            error = f"it is no recording of a known kind below {MAX_RECORDING_BYTES:,} bytes"
            return ToolResult(False, error=error, error_kind="business")
        named = {"model": self._model, "language": self.language}
        fields = {"response_format": "json", **{name: value for name, value in named.items() if value}}
        # Services go by the ending of the name.
        form = Form(fields, f"voice.{kind.extension}", kind.mime, recording)
        wanted = Call("audio/transcriptions", bearer(self.service), form)
        limits = FetchLimits(_MAX_ANSWER_BYTES, self.timeout_seconds, max_redirects=0)
        answer = await call(self.clients, self.service, wanted, limits)
        if isinstance(answer, ToolResult):
            return answer
        return heard(json_object(answer) or {}, recording) or not_understood(self.service)


def heard(answer: Mapping[str, object], recording: bytes) -> Heard | None:
    """The answer of such a service; None when it holds no words.

    Its usage is told by seconds or by tokens, or not at all, and then by the duration at most.
    """
    words, used = answer.get("text"), answer.get("usage")
    if not isinstance(words, str):
        return None
    told = used if isinstance(used, Mapping) else {}
    seconds = _amount(told.get("seconds")) or _amount(answer.get("duration")) or estimated_seconds(recording)
    tokens = int(_amount(told.get("input_tokens"))), int(_amount(told.get("output_tokens")))
    return Heard(words, seconds, *tokens)


def _amount(value: object) -> float:
    """0 for anything but a number that can be counted."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    return min(max(0.0, float(value)), _MOST_COUNTED)
