"""Servers over streamable HTTP, through the guarded client: a real one, and answers no server should give."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from echo_bot.mcp.failing import McpFailed
from echo_bot.mcp.http import MOST_BYTES
from echo_bot.mcp.server import ServerState
from echo_bot.testing.loopback import HttpRequest, HttpResponse, HttpServer
from tests.mcp.rig import PATIENCE, eventually

Running = Callable[..., Any]
Answering = Callable[[HttpRequest], HttpResponse]
LIBRARY = Path(__file__).parent / "servers" / "library.py"


@asynccontextmanager
async def library() -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """The real server: its address, and its process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(LIBRARY), "http", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            port = int(await process.stdout.readline())
        yield f"http://127.0.0.1:{port}/mcp", process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@asynccontextmanager
async def answering(answer: Answering) -> AsyncIterator[tuple[str, list[HttpRequest]]]:
    """A server that answers as it is told: its address, and the requests so far."""
    seen: list[HttpRequest] = []

    async def respond(request: HttpRequest) -> HttpResponse:
        seen.append(request)
        return answer(request)

    server = HttpServer(respond)
    await server.start()
    try:
        yield f"http://127.0.0.1:{server.port}/mcp", seen
    finally:
        await server.stop()


def by_the_book(result: Callable[[str, dict[str, Any]], Any]) -> Answering:
    """A handshake as it should be, and what `result` says to every other request (method, parameters)."""

    def answer(request: HttpRequest) -> HttpResponse:
        if request.method != "POST":
            return HttpResponse(b"", status=405)
        message = json.loads(request.body)
        if "id" not in message:
            return HttpResponse(b"", status=202)
        method = message["method"]
        if method == "server/discover":
            error = {"code": -32601, "message": "no such method"}
            return said({"jsonrpc": "2.0", "id": message["id"], "error": error})
        if method == "initialize":
            info = {"name": "book", "version": "1"}
            shake = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
            return said({"jsonrpc": "2.0", "id": message["id"], "result": shake})
        found = result(method, message.get("params") or {})
        if isinstance(found, HttpResponse):
            return found
        return said({"jsonrpc": "2.0", "id": message["id"], "result": found})

    return answer


def said(message: object) -> HttpResponse:
    return HttpResponse(json.dumps(message).encode())


TOOLS = {"tools": [{"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}]}


async def test_a_real_server_is_listed_called_and_heard_when_its_tools_change(running: Running) -> None:
    async with library() as (url, _), running(command="", args=(), url=url) as rig:
        await rig.until(ServerState.READY)
        assert sorted(rig.server.offered) == ["mcp_git_add", "mcp_git_grow", "mcp_git_wait"]
        result = await rig.server.call("add", {"a": 2, "b": 3})
        assert result["content"][0]["text"] == "5"
        call = asyncio.create_task(rig.server.call("wait", {"seconds": 60}))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait({call})
        await rig.server.call("grow", {})
        await eventually(lambda: "mcp_git_subtract" in rig.server.offered)


async def test_one_that_is_gone_fails_and_is_found_again(running: Running) -> None:
    async with library() as (url, process), running(command="", args=(), url=url) as rig:
        await rig.until(ServerState.READY)
        process.kill()
        await process.wait()
        with pytest.raises(McpFailed, match="cannot be reached"):
            await rig.server.call("add", {"a": 1, "b": 1})
        await rig.until(ServerState.FAILED)
        assert "cannot be reached" in rig.server.status.reason


async def test_headers_go_along_and_no_other_encoding_is_asked_for(running: Running) -> None:
    answer = by_the_book(lambda method, params: TOOLS)
    async with (
        answering(answer) as (url, seen),
        running(command="", args=(), url=url, headers={"Authorization": "Bearer hunter2-hunter2"}) as rig,
    ):
        await rig.until(ServerState.READY)
        assert {each.headers["authorization"] for each in seen} == {"Bearer hunter2-hunter2"}
        assert {each.headers["accept-encoding"] for each in seen} == {"identity"}


@pytest.mark.parametrize(
    "target", ["http://169.254.169.254/latest/", "http://10.0.0.1/", "http://127.0.0.1:1/"]
)
async def test_a_redirect_to_a_private_address_is_refused(running: Running, target: str) -> None:
    async with (
        answering(lambda request: HttpResponse(b"", status=307, headers={"Location": target})) as (url, _),
        running(command="", args=(), url=url) as rig,
    ):
        await rig.until(ServerState.FAILED)
        assert rig.server.status.reason.startswith("refused: ")


async def test_a_redirect_within_the_origin_is_followed_and_one_elsewhere_is_not(running: Running) -> None:
    book = by_the_book(lambda method, params: TOOLS)

    def moved(request: HttpRequest) -> HttpResponse:
        if request.path == "/mcp":
            return HttpResponse(b"", status=307, headers={"Location": "/mcp/"})
        return book(request)

    async with answering(moved) as (url, _), running(command="", args=(), url=url) as rig:
        await rig.until(ServerState.READY)
    elsewhere = HttpResponse(b"", status=307, headers={"Location": "http://93.184.216.34/mcp"})
    async with (
        answering(lambda request: elsewhere) as (url, _),
        running(command="", args=(), url=url) as rig,
    ):
        await rig.until(ServerState.FAILED)
        assert "not followed" in rig.server.status.reason


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (HttpResponse(b"who are you", status=401), "set its headers (Authorization)"),
        (HttpResponse(b"oops", status=500), "error response"),
        (HttpResponse(b"not JSON at all"), "Failed to parse"),
        (HttpResponse(b"<html>", content_type="text/html"), "Unexpected content type"),
        (HttpResponse(b"x", headers={"Content-Encoding": "gzip"}), "encoding that was not asked for"),
        (HttpResponse(b"[" * 100_000), "Failed to parse"),
    ],
    ids=["401", "500", "not json", "a page", "gzip", "deep"],
)
async def test_what_is_no_answer_is_the_reason(running: Running, answer: HttpResponse, reason: str) -> None:
    async with answering(lambda request: answer) as (url, _), running(command="", args=(), url=url) as rig:
        await rig.until(ServerState.FAILED)
        assert reason in rig.server.status.reason


async def test_an_answer_without_end_is_cut(running: Running) -> None:
    def result(method: str, params: dict[str, Any]) -> Any:
        return TOOLS if method == "tools/list" else HttpResponse(b" " * (MOST_BYTES + 1))

    async with answering(by_the_book(result)) as (url, _), running(command="", args=(), url=url) as rig:
        await rig.until(ServerState.READY)
        with pytest.raises(McpFailed, match="larger than"):
            await rig.server.call("add", {})


@pytest.mark.parametrize(
    "listed",
    [{"tools": "none"}, {"tools": [{"name": 7}]}, {"tools": [{"name": "x", "inputSchema": 1}]}, {}, []],
)
async def test_a_list_that_is_none_is_said(running: Running, listed: Any) -> None:
    async with (
        answering(by_the_book(lambda method, params: listed)) as (url, _),
        running(command="", args=(), url=url) as rig,
    ):
        await rig.until(ServerState.FAILED)
        assert rig.server.status.reason
