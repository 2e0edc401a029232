"""The guarded tunnel over real loopback sockets: who may use it, where it leads, how much comes back."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from echo_bot.net import GuardedTunnel
from echo_bot.policy.guards.network import NetworkRules, judge_address


class Names:
    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        return ("10.0.0.7",) if host.startswith("inner") else ("127.0.0.1",)


def loopback_is_public(address: str) -> str | None:
    return None if address == "127.0.0.1" else judge_address(address)


def tunnel(rules: NetworkRules | None = None, max_bytes: int = 1 << 20) -> GuardedTunnel:
    return GuardedTunnel(
        rules or NetworkRules("allow"), max_bytes=max_bytes, resolver=Names(), rule=loopback_is_public
    )


@asynccontextmanager
async def echoing(answer: bytes = b"") -> AsyncIterator[int]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        data = await reader.read(100)
        writer.write(answer or data)
        try:
            await writer.drain()
        except ConnectionError:
            return
        writer.close()

    async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def ask(
    through: GuardedTunnel, request: str, say: bytes = b"", who: str | None = None
) -> tuple[str, bytes]:
    """The status line, and what came after the head."""
    login, _, place = through.url.removeprefix("http://").partition("@")
    host, _, port = place.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    token = base64.b64encode((login if who is None else who).encode()).decode()
    writer.write(f"{request}\r\nProxy-Authorization: Basic {token}\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    writer.write(say)
    rest = await reader.read()
    writer.close()
    return head.split("\r\n", 1)[0].split(" ", 1)[1], rest


async def test_a_public_host_is_reached() -> None:
    async with tunnel() as through, echoing() as port:
        status, rest = await ask(through, f"CONNECT site.example:{port} HTTP/1.1", b"hello")
    assert (status, rest, through.refused) == ("200 Connection Established", b"hello", None)


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("inner.example:443", "private_address"),
        ("127.1:443", "bad_host"),
        ("169.254.169.254:80", "private_address"),
        ("[::1]:443", "private_address"),
        ("localhost:443", "private_address"),
        ("2130706433:443", "bad_host"),
    ],
)
async def test_a_private_host_is_refused_before_a_connection(place: str, kind: str) -> None:
    async with tunnel() as through:
        status, _ = await ask(through, f"CONNECT {place} HTTP/1.1")
    assert status == "403 Forbidden"
    assert through.refused is not None
    assert through.refused.kind == kind


@pytest.mark.parametrize("rules", [NetworkRules("deny"), NetworkRules("restricted", ("other.example",))])
async def test_the_network_policy_counts(rules: NetworkRules) -> None:
    async with tunnel(rules) as through:
        status, _ = await ask(through, "CONNECT site.example:443 HTTP/1.1")
    assert (status, through.refused and through.refused.kind) == ("403 Forbidden", "network_policy")


async def test_nobody_else_may_use_it() -> None:
    async with tunnel() as through, echoing() as port:
        status, _ = await ask(through, f"CONNECT site.example:{port} HTTP/1.1", who="tunnel:guess")
    assert status.startswith("407")


@pytest.mark.parametrize("request_line", ["GET http://site.example/ HTTP/1.1", "POST / HTTP/1.1"])
async def test_only_connect_is_answered(request_line: str) -> None:
    async with tunnel() as through:
        assert (await ask(through, request_line))[0].startswith("405")


async def test_too_much_coming_back_ends_it() -> None:
    async with tunnel(max_bytes=1000) as through, echoing(b"x" * 100_000) as port:
        _, rest = await ask(through, f"CONNECT site.example:{port} HTTP/1.1", b"go")
    assert len(rest) <= 1000
    assert through.refused is not None
    assert through.refused.kind == "too_large"


async def test_a_closed_port_is_a_bad_gateway() -> None:
    async with echoing() as port:
        pass
    async with tunnel() as through:
        assert (await ask(through, f"CONNECT site.example:{port} HTTP/1.1"))[0] == "502 Bad Gateway"
