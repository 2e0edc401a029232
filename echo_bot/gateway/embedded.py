"""uvicorn as a guest: it leaves signals and logging to the program around it, and tells when it serves."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn

from echo_bot.channel import AsgiApp
from echo_bot.gateway.connections import most_connections, protocol_with

_GRACE_SECONDS = 1
_WS_MAX_BYTES = 8 * 1024 * 1024


class EmbeddedServer(uvicorn.Server):
    """Serves `app` on sockets that are bound already. X-Forwarded-* is believed from loopback only.

    `most` connections are kept at a time; one is closed on which no request arrives for `idle_seconds`.
    """

    def __init__(self, app: AsgiApp, *, most: int | None = None, idle_seconds: int = 5) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                lifespan="off",
                http=protocol_with(most_connections() if most is None else most),
                timeout_keep_alive=idle_seconds,
                ws="websockets-sansio",
                ws_max_size=_WS_MAX_BYTES,
                proxy_headers=True,
                forwarded_allow_ips="127.0.0.1,::1",
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        self._ready = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals belong to the program that embeds the server."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._ready.set()

    async def wait_started(self, serving: asyncio.Task[None]) -> None:
        """Return once connections are taken; raise what `serving` raised if it ended before."""
        ready = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait({ready, serving}, return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                await serving
        finally:
            ready.cancel()
            await asyncio.gather(ready, return_exceptions=True)
