"""The server keeps so many connections, and no idle ones: the bot keeps file handles for its own work."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from echo_bot.gateway.connections import most_connections
from echo_bot.gateway.edge import Receive, Scope, Send
from echo_bot.gateway.embedded import EmbeddedServer


async def answers(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"here"})


@asynccontextmanager
async def serving(server: EmbeddedServer) -> AsyncIterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        task = asyncio.create_task(server.serve(sockets=[listener]))
        await server.wait_started(task)
        yield listener.getsockname()[1]
        server.should_exit = True
        await task


async def is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await asyncio.wait_for(reader.read(1), 10) == b""
    except ConnectionResetError:
        return True


async def closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


async def test_a_connection_too_many_is_closed_and_the_others_are_served() -> None:
    async with serving(EmbeddedServer(answers, most=3, idle_seconds=60)) as port:
        kept = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await is_closed(reader)
        await closed(writer)
        kept[0][1].write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert (await asyncio.wait_for(kept[0][0].read(), 10)).endswith(b"here\r\n0\r\n\r\n")
        async with httpx.AsyncClient(trust_env=False) as client:
            assert (await client.get(f"http://127.0.0.1:{port}/")).text == "here"
        for _, each in kept:
            await closed(each)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (b"", b""),
        (b"G", b""),
        (b"GET / HTTP/1.1\r\nHost: x\r\n", b""),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", b"200 OK"),
    ],
    ids=["nothing", "one byte", "half a head", "no body"],
)
async def test_a_connection_on_which_no_request_arrives_is_closed(said: bytes, answer: bytes) -> None:
    async with serving(EmbeddedServer(answers, idle_seconds=1)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        if answer:
            assert answer in await reader.readuntil(b"here\r\n0\r\n\r\n")
            writer.write(b"x")
        assert await is_closed(reader)
        await closed(writer)


@pytest.mark.parametrize(("handles", "most"), [(64, 32), (1024, 512), (resource.RLIM_INFINITY, 4096)])
def test_half_of_the_file_handles_stay(handles: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (handles, handles))
    assert most_connections() == most
