"""The loopback servers of the emulator: HTTP with files, and the gateway's websockets."""

from __future__ import annotations

import json
import logging
from urllib.parse import parse_qs

from websockets.asyncio.server import Server as SocketServer
from websockets.asyncio.server import serve

from echo_bot.testing.discord.gateway import Gateway
from echo_bot.testing.discord.rest import Call, Rest, Upload, read_form
from echo_bot.testing.discord.world import World
from echo_bot.testing.loopback import HttpRequest, HttpResponse, HttpServer

_API, _CDN = "/api/v10", "/cdn/"
_NO_CONTENT = 204


class Server:
    """Serves until `stop`. `cut` breaks every connection as a network does."""

    def __init__(self, world: World, rest: Rest, gateway: Gateway) -> None:
        self._world, self._rest, self._gateway = world, rest, gateway
        self._http = HttpServer(self._answer)
        self._sockets: SocketServer | None = None

    async def start(self, port: int, gateway_port: int) -> None:
        await self._http.start(port)
        self._world.url = f"http://127.0.0.1:{self._http.port}"
        self._sockets = await serve(
            self._gateway.serve,
            "127.0.0.1",
            gateway_port,
            ping_interval=None,
            close_timeout=0.1,
            compression=None,
            logger=_quiet(),
        )
        taken = next(iter(self._sockets.sockets)).getsockname()[1]
        self._world.gateway_url = f"ws://127.0.0.1:{taken}/gateway"

    async def stop(self) -> None:
        sockets, self._sockets = self._sockets, None
        if sockets is None:
            return
        self._gateway.cut()
        sockets.close()
        await sockets.wait_closed()
        await self._http.stop()

    def cut(self) -> None:
        self._gateway.cut()
        self._http.drop_connections()

    async def _answer(self, request: HttpRequest) -> HttpResponse | None:
        query = {key: values[0] for key, values in parse_qs(request.query).items()}
        if request.path.startswith(_CDN):
            content = self._world.stored_file(request.path.removeprefix(_CDN), query.get("ex", ""))
            return HttpResponse(
                content or b"", 200 if content is not None else 404, "application/octet-stream"
            )
        kind = request.headers.get("content-type", "")
        uploads: tuple[Upload, ...] = ()
        if kind.startswith("multipart/form-data"):
            payload, uploads = read_form(kind, request.body)
        else:
            payload = json.loads(request.body) if request.body else None
        token = request.headers.get("authorization", "")
        path = request.path.removeprefix(_API)
        reply = await self._rest.answer(Call(request.method, path, payload, query, uploads, token))
        if reply.is_dropped:
            return None
        if reply.status == _NO_CONTENT:
            return HttpResponse(b"", _NO_CONTENT, "text/html", reply.headers)
        if isinstance(reply.body, str):
            return HttpResponse(reply.body.encode(), reply.status, "text/html", reply.headers)
        text = json.dumps(reply.body, default=str)
        return HttpResponse(self._world.on_the_wire(text).encode(), reply.status, headers=reply.headers)


def _quiet() -> logging.Logger:
    """Lines that are cut on purpose are no news."""
    logger = logging.getLogger("emulator.discord")
    logger.setLevel(logging.CRITICAL)
    return logger
