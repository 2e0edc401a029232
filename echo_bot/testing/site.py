"""A site on loopback that sends any bytes a test wants, reached by made-up names through the real guard."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from echo_bot.net.clients import GuardedClients
from echo_bot.policy.guards.network import NetworkRules, judge_address

Answer = Callable[[str, bytes], bytes]
"""Raw bytes of the response to a request's head and body."""

_DRIP_SECONDS = 0.02


@dataclass
class Site:
    """`heads` and `bodies` are those of the requests so far. With `drips` an answer comes byte by byte."""

    answer: Answer
    drips: bool = False
    port: int = 0
    heads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    _serving: set[asyncio.Task[object]] = field(default_factory=set)

    def url(self, path: str = "/", host: str = "site.example") -> str:
        return f"http://{host}:{self.port}{path}"

    @property
    def base(self) -> str:
        """What an operator would write as the address of a service here."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def sent(self) -> dict[str, object]:
        """The JSON of the last request."""
        return dict(json.loads(self.bodies[-1]))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            await self._respond(reader, writer)
        except (
            asyncio.IncompleteReadError,
            asyncio.LimitOverrunError,
            ConnectionError,
            asyncio.CancelledError,
        ):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()
            self._serving.discard(task)

    async def stop(self) -> None:
        """End what is still being answered."""
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _respond(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        body = await reader.readexactly(_length(head))
        self.heads.append(head)
        self.bodies.append(body)
        answer = self.answer(head, body)
        size = 1 if self.drips else len(answer) or 1
        for start in range(0, len(answer), size):
            writer.write(answer[start : start + size])
            await writer.drain()
            if self.drips:
                await asyncio.sleep(_DRIP_SECONDS)


class Names:
    """A resolver under which every name is loopback, except those given by their first label.

    A list of several answers is used up one a look-up, as by a name that is bound anew; the last one stays.
    """

    def __init__(self, **answers: list[tuple[str, ...]]) -> None:
        self._answers = answers
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        self.asked.append(host)
        answers = self._answers.get(host.partition(".")[0])
        if not answers:
            return ("127.0.0.1",)
        return answers.pop(0) if len(answers) > 1 else answers[0]


@asynccontextmanager
async def serving(answer: Answer | bytes, *, drips: bool = False) -> AsyncIterator[Site]:
    """A site that gives one answer to all requests, or what a function makes of each."""
    site = Site(answer if callable(answer) else lambda head, body: answer, drips)
    async with await asyncio.start_server(site.serve, "127.0.0.1", 0) as running:
        site.port = running.sockets[0].getsockname()[1]
        try:
            yield site
        finally:
            await site.stop()


def reply(body: bytes | str = b"", *headers: str, status: str = "200 OK") -> bytes:
    """A response that ends with its connection; `headers` are whole lines."""
    lines = [f"HTTP/1.1 {status}", "connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + (body.encode() if isinstance(body, str) else body)


def json_reply(value: Mapping[str, object] | list[object], *headers: str, status: str = "200 OK") -> bytes:
    return reply(json.dumps(value), "content-type: application/json", *headers, status=status)


def guarded(names: Names | None = None, rules: NetworkRules | None = None) -> GuardedClients:
    """Clients whose guard takes 127.0.0.1, and no other address, for a public one."""
    return GuardedClients(rules or NetworkRules("allow"), resolver=names or Names(), rule=_loopback_is_public)


def _loopback_is_public(address: str) -> str | None:
    return None if address == "127.0.0.1" else judge_address(address)


def _length(head: str) -> int:
    """The declared length of a request's body."""
    for line in head.split("\r\n"):
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            return int(value)
    return 0
