"""Speech: an OpenAI-compatible service (`audio/speech`), or Microsoft Edge's voices by edge-tts."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

from echo_bot.net import FetchLimits
from echo_bot.net.clients import GuardedClients
from echo_bot.policy.guards.network import NetworkRules
from echo_bot.tools.base import ToolResult
from echo_bot.tools.media.drawing import OPENAI
from echo_bot.tools.media.kinds import MediaKind, recording_kind
from echo_bot.tools.media.made import MAX_BYTES
from echo_bot.tools.services import Call, Service, bearer, call

DEFAULT_MODEL, DEFAULT_VOICE = "gpt-4o-mini-tts", "alloy"
DEFAULT_EDGE_VOICE = "en-US-EmmaMultilingualNeural"
EDGE_HOST = "speech.platform.bing.com"
EDGE_MISSING = (
    "the package edge-tts is not installed: run pip install 'echo-bot[tts]' "
    "(in a checkout: pip install -c constraints.txt -e '.[tts]')"
)
VOICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,79}")
_LIMITS = FetchLimits(max_bytes=MAX_BYTES, total_seconds=180.0, max_redirects=3)

Recording = tuple[bytes, MediaKind]


class Speaker(Protocol):
    def problem(self) -> str:
        """What is missing before it can speak, as a sentence; "" when nothing is."""
        ...

    async def speak(self, text: str, voice: str) -> Recording | ToolResult:
        """`voice` "" is the speaker's usual one; any other fits `VOICE`."""
        ...


@dataclass(frozen=True, slots=True)
class ServiceSpeaker:
    """`model` may be empty where the service has one of its own."""

    service: Service
    model: str
    clients: GuardedClients

    def problem(self) -> str:
        return self.service.problem(self.clients.rules, needs_key=self.service.base == OPENAI)

    async def speak(self, text: str, voice: str) -> Recording | ToolResult:
        body: dict[str, object] = {"input": text, "voice": voice or DEFAULT_VOICE, "response_format": "mp3"}
        model = self.model or (DEFAULT_MODEL if self.service.base == OPENAI else "")
        if model:
            body["model"] = model
        wanted = Call("audio/speech", {"accept": "audio/*", **bearer(self.service)}, body)
        answer = await call(self.clients, self.service, wanted, _LIMITS)
        return answer if isinstance(answer, ToolResult) else _checked(answer.body, self.service.name)


@dataclass(frozen=True, slots=True)
class EdgeSpeaker:
    """Needs no key. The package connects by itself, to Microsoft's host alone and over TLS."""

    rules: NetworkRules

    def problem(self) -> str:
        if find_spec("edge_tts") is None:
            return EDGE_MISSING
        if self.rules.policy == "restricted" and not self.rules.permits(EDGE_HOST):
            return f"execution.network_policy is restricted: add {EDGE_HOST} to execution.network_allow"
        return ""

    async def speak(self, text: str, voice: str) -> Recording | ToolResult:
        from edge_tts import Communicate

        data = bytearray()
        try:
            async with asyncio.timeout(_LIMITS.total_seconds):
                async for piece in Communicate(text, voice or DEFAULT_EDGE_VOICE).stream():
                    if piece["type"] == "audio":
                        data += piece["data"]
                    if len(data) > MAX_BYTES:
                        break
        except TimeoutError:
            return ToolResult(False, error="Edge's speech took too long", error_kind="timeout")
        except ValueError:
            return ToolResult(False, error=f"Edge has no voice {voice!r}", error_kind="validation")
        except Exception as error:  # noqa: BLE001 - the package lets its HTTP library's errors through
            why = f"Edge's speech failed: {type(error).__name__}; another voice or backend may work"
            return ToolResult(False, error=why, error_kind="dependency")
        return _checked(bytes(data), "Edge's speech")


def _checked(data: bytes, name: str) -> Recording | ToolResult:
    kind = recording_kind(data)
    if kind is None or len(data) > MAX_BYTES:
        error = f"{name} sent no recording of a known kind below {MAX_BYTES:,} bytes"
        return ToolResult(False, error=error, error_kind="dependency")
    return data, kind
