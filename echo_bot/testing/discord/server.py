"""The loopback server of the emulator: HTTP, the gateway's websocket, and files."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Address
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute

from echo_bot.testing.discord.gateway import Gateway
from echo_bot.testing.discord.rest import Call, Rest, Upload, read_form
from echo_bot.testing.discord.world import World
from echo_bot.testing.waiting import eventually

_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


class _Quiet(uvicorn.Server):
    """Leaves the process's signals to others, and ends as soon as it is told to."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Server:
    """Serves until `stop`. `cut` breaks every connection as a network does."""

    def __init__(self, world: World, rest: Rest, gateway: Gateway) -> None:
        self._world, self._rest, self._gateway = world, rest, gateway
        self._server: uvicorn.Server | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self, port: int) -> None:
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        self._world.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        app = Starlette(
            routes=[
                Route("/api/v10/{path:path}", self._api, methods=_METHODS),
                Route("/cdn/{path:path}", self._file),
                WebSocketRoute("/gateway", self._gateway.serve),
                WebSocketRoute("/gateway/", self._gateway.serve),
            ]
        )
        config = uvicorn.Config(
            app, ws="websockets-sansio", lifespan="off", log_config=None, timeout_graceful_shutdown=1
        )
        self._server = _Quiet(config)
        serving = self._server.serve(sockets=[listening])
        self._task = asyncio.create_task(serving, name="emulator:server")
        await eventually(lambda: self._server and self._server.started, "the emulator to listen")

    async def stop(self) -> None:
        if self._server is None or self._task is None:
            return
        self.cut()
        self._server.should_exit = True
        await self._task
        self._server = None

    def cut(self) -> None:
        """Break every connection, as a network does."""
        self._cut(None)

    def _cut(self, client: Address | None) -> None:
        """Break the connection of one client, or all."""
        connections = self._server.server_state.connections if self._server is not None else ()
        for connection in list(connections):
            transport = getattr(connection, "transport", None)
            if transport is not None and client in (None, getattr(connection, "client", None)):
                transport.abort()

    async def _api(self, request: Request) -> Response:
        body = await request.body()
        kind = request.headers.get("content-type", "")
        uploads: tuple[Upload, ...] = ()
        if kind.startswith("multipart/form-data"):
            payload, uploads = read_form(kind, body)
        else:
            payload = json.loads(body) if body else None
        reply = await self._rest.answer(
            Call(
                request.method,
                f"/{request.path_params['path']}",
                payload,
                dict(request.query_params),
                uploads,
                request.headers.get("authorization", ""),
            )
        )
        if reply.is_dropped:
            self._cut(request.client)
            return Response()
        if reply.status == 204:
            return Response(status_code=204, headers=reply.headers)
        text = self._world.on_the_wire(json.dumps(reply.body, default=str))
        # discord.py compares the whole header, so no charset may follow.
        headers = {"content-type": "application/json", **reply.headers}
        return Response(text, status_code=reply.status, headers=headers)

    async def _file(self, request: Request) -> Response:
        content = self._world.stored_file(request.path_params["path"], request.query_params.get("ex", ""))
        return Response(content) if content is not None else Response(status_code=404)
