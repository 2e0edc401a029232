"""Images from an OpenAI-compatible service (`images/generations`)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass

from echo_bot.net import Fetch, Fetched, FetchLimits
from echo_bot.net.clients import GuardedClients
from echo_bot.tools.base import ToolResult
from echo_bot.tools.media.kinds import MediaKind, image_kind
from echo_bot.tools.media.made import MAX_BYTES
from echo_bot.tools.services import Call, Service, bearer, call, json_object, not_understood, without_key
from echo_bot.tools.web.failures import not_fetched, status_words

OPENAI = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-image-1"
_LIMITS = FetchLimits(max_bytes=MAX_BYTES * 3 // 2, total_seconds=240.0, max_redirects=3)

SIZES: Mapping[str, str] = {"square": "1024x1024", "landscape": "1536x1024", "portrait": "1024x1536"}
"""By aspect, as present models take them."""

_WIDE_SIZES = {"square": "1024x1024", "landscape": "1792x1024", "portrait": "1024x1792"}
ASPECTS: Mapping[str, str] = {
    **{name: name for name in SIZES},
    **dict.fromkeys(("1:1",), "square"),
    **dict.fromkeys(("3:2", "4:3", "16:9"), "landscape"),
    **dict.fromkeys(("2:3", "3:4", "9:16"), "portrait"),
}


@dataclass(frozen=True, slots=True)
class Drawing:
    """`model` may be empty where the service has one of its own."""

    service: Service
    model: str
    clients: GuardedClients

    def problem(self) -> str:
        return self.service.problem(self.clients.rules, needs_key=self.service.base == OPENAI)

    async def draw(self, prompt: str, aspect: str) -> tuple[bytes, MediaKind] | ToolResult:
        """`aspect` is a key of `SIZES`."""
        sizes = _WIDE_SIZES if self.model == "dall-e-3" else SIZES
        body: dict[str, object] = {"prompt": prompt, "n": 1, "size": sizes[aspect]}
        model = self.model or (DEFAULT_MODEL if self.service.base == OPENAI else "")
        if model:
            body["model"] = model
        wanted = Call("images/generations", bearer(self.service), body)
        answer = await call(self.clients, self.service, wanted, _LIMITS)
        if isinstance(answer, ToolResult):
            return answer
        data = await self._content(answer)
        if isinstance(data, ToolResult):
            return data
        kind = image_kind(data)
        if kind is None or len(data) > MAX_BYTES:
            error = f"{self.service.name} sent no image of a known kind below {MAX_BYTES:,} bytes"
            return ToolResult(False, error=error, error_kind="dependency")
        return data, kind

    async def _content(self, answer: Fetched) -> bytes | ToolResult:
        """The image's bytes: in the answer, or behind an address in it."""
        entry = _first(json_object(answer))
        encoded, url = entry.get("b64_json"), entry.get("url")
        if isinstance(encoded, str):
            try:
                return base64.b64decode(encoded, validate=True)
            except binascii.Error:
                return not_understood(self.service)
        if isinstance(url, str):
            return await self._fetched(url)
        return not_understood(self.service)

    async def _fetched(self, url: str) -> bytes | ToolResult:
        """The address is the service's word, not the operator's: the guard judges it; no key goes along."""
        async with self.clients.opened(_LIMITS, self.service.base) as client:
            outcome = await client.fetch(Fetch(url))
        if not isinstance(outcome, Fetched):
            return without_key(not_fetched(outcome, f"the image of {self.service.name}"), self.service)
        if outcome.status != 200:
            error = f"the image of {self.service.name} answered {status_words(outcome.status)}"
            return ToolResult(False, error=error, error_kind="dependency")
        return outcome.body


def _first(body: Mapping[str, object] | None) -> Mapping[str, object]:
    entries = body.get("data") if body else None
    entry = entries[0] if isinstance(entries, list) and entries else None
    return entry if isinstance(entry, Mapping) else {}
