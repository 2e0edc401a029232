"""An OpenAI-compatible transcription service on loopback that follows a script."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from echo_bot.testing.loopback import HttpRequest, HttpResponse, HttpServer
from echo_bot.testing.waiting import eventually

_PATH = "/v1/audio/transcriptions"
_NAMED = re.compile(r'; name="([^"]*)"(?:; filename="([^"]*)")?')

Told = str | HttpResponse | None
"""The words, or a whole response, or None: the connection ends without one."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One request: the form's fields, and the file in it."""

    headers: Mapping[str, str]
    fields: Mapping[str, str]
    name: str
    mime: str
    data: bytes = field(repr=False)


class Transcriber:
    """`base_url` goes into `tools.stt.api_base`; `heard` holds every request.

    Steps are used up one a request; past the end it has heard nothing. What is no form with one file it
    refuses, as real services do.
    """

    def __init__(self, steps: Sequence[Told] = ()) -> None:
        self._steps = list(steps)
        self._server = HttpServer(self._answer)
        self._open = asyncio.Event()
        self._open.set()
        self.heard: list[Heard] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.port}/v1"

    def add(self, *steps: Told) -> None:
        self._steps.extend(steps)

    def hold(self) -> None:
        """Answer nothing until `release`."""
        self._open.clear()

    def release(self) -> None:
        self._open.set()

    async def has_heard(self, count: int = 1) -> None:
        """Wait until so many requests have come."""
        await eventually(lambda: len(self.heard) >= count, f"{count} recordings to come")

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Transcriber]:
        await self._server.start()
        try:
            yield self
        finally:
            await self._server.stop()

    async def _answer(self, request: HttpRequest) -> HttpResponse | None:
        if (request.method, request.path) != ("POST", _PATH):
            return refusal(404, "no such path")
        heard = _read_form(request)
        if heard is None:
            return refusal(400, "a form with one file is needed")
        self.heard.append(heard)
        await self._open.wait()
        step = self._steps.pop(0) if self._steps else ""
        return HttpResponse(json.dumps({"text": step}).encode()) if isinstance(step, str) else step


def refusal(status: int, message: str) -> HttpResponse:
    """An error as such services word it."""
    return HttpResponse(json.dumps({"error": {"message": message}}).encode(), status)


def redirect(status: int, location: str) -> HttpResponse:
    return HttpResponse(b"", status, headers={"Location": location})


def _read_form(request: HttpRequest) -> Heard | None:
    kind, _, boundary = request.headers.get("content-type", "").partition("; boundary=")
    if kind != "multipart/form-data" or not boundary:
        return None
    fields: dict[str, str] = {}
    files: list[tuple[str, str, bytes]] = []
    for piece in request.body.split(b"--" + boundary.encode())[1:-1]:
        head, _, data = piece.partition(b"\r\n\r\n")
        data = data.removesuffix(b"\r\n")
        named = _NAMED.search(head.decode())
        if named is None:
            return None
        if named[2] is None:
            fields[named[1]] = data.decode()
        else:
            mime = head.decode().lower().partition("content-type: ")[2].partition("\r\n")[0]
            files.append((named[2], mime, data))
    if len(files) != 1:
        return None
    return Heard(request.headers, fields, *files[0])
