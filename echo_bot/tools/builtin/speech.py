"""text_to_speech: a recording of a text, kept in the workspace and sent to the chat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.media.kinds import RECORDINGS
from echo_bot.tools.media.made import MadeFiles
from echo_bot.tools.media.speaking import VOICE, Speaker

MAX_TEXT_CHARS = 4096


class TextToSpeechTool(Tool):
    """`speakers` are those that the operator set up, by backend, the usual one first. Never retried."""

    name = "text_to_speech"
    description = "Read a text aloud: makes a recording and sends it to this chat."
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["text_to_speech"].parameters
    capabilities = ("media.generate", "network.outbound")
    timeout_seconds = 600

    def __init__(self, speakers: Mapping[str, Speaker], files: MadeFiles) -> None:
        self._speakers, self._files = speakers, files

    def readiness_detail(self) -> tuple[bool, str]:
        problem = next(iter(self._speakers.values())).problem()
        return (False, problem) if problem else (True, "ready")

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        text, voice = str(params["text"]).strip(), str(params.get("voice") or "").strip()
        backend = str(params.get("backend") or next(iter(self._speakers)))
        if not text or len(text) > MAX_TEXT_CHARS:
            return _invalid(f"text must have 1 to {MAX_TEXT_CHARS:,} characters; send a long one in parts")
        if voice and not VOICE.fullmatch(voice):
            return _invalid("voice must be a name: letters, digits, spaces, dots, - and _")
        speaker = self._speakers.get(backend)
        if speaker is None:
            return _invalid(f"backend must be one that is set up: {', '.join(self._speakers)}")
        if problem := speaker.problem():
            return ToolResult(False, error=f"{backend} is not ready: {problem}", error_kind="dependency")
        return await self._files.deliver(ctx, "speech", RECORDINGS, lambda: speaker.speak(text, voice))


def _invalid(sentence: str) -> ToolResult:
    return ToolResult(False, error=sentence, error_kind="validation")
