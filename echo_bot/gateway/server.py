"""The gateway's life: bind, serve, hand out log-in links, stop. `start` imports FastAPI and uvicorn."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING

from echo_bot.channel import AsgiApp
from echo_bot.errors import StartError
from echo_bot.gateway.login import Clock, LoginDesk
from echo_bot.gateway.origin import Names, reachable_host
from echo_bot.gateway.settings import GatewaySettings
from echo_bot.storage.protocol import Logins

if TYPE_CHECKING:
    from echo_bot.gateway.api.parts import ApiParts
    from echo_bot.gateway.embedded import EmbeddedServer

_STOP_SECONDS = 3.0
LOCAL_IDENTITY = "web:local"


class Gateway:
    """One HTTP server. `mounts` maps a path ("/") to a channel's `routes()`, served behind the log-in.

    `hooks` are called by platforms, without one; their paths passed `hook_problem`. `api` opens the HTTP API.
    """

    def __init__(
        self,
        settings: GatewaySettings,
        logins: Logins,
        clock: Clock,
        mounts: Mapping[str, AsgiApp],
        hooks: Mapping[str, AsgiApp] | None = None,
        api: ApiParts | None = None,
    ) -> None:
        self._settings = settings
        self._desk = LoginDesk(logins, clock)
        self._mounts, self._hooks, self._api = dict(mounts), dict(hooks or {}), api
        self._server: EmbeddedServer | None = None
        self._serving: asyncio.Task[None] | None = None
        self._url = ""

    @property
    def url(self) -> str:
        """The base URL without a closing slash; "" while it does not serve."""
        return self._url

    async def start(self) -> str:
        """Serve; returns the base URL. Raises StartError when the address cannot be had."""
        from echo_bot.gateway.app import build_app
        from echo_bot.gateway.embedded import EmbeddedServer

        listener = _listen(self._settings)
        port = listener.getsockname()[1]
        names = Names(self._settings.host, port, self._settings.allowed_hosts, self._settings.allowed_origins)
        limit = self._settings.max_body_bytes
        app = build_app(self._desk, self._mounts, names, limit, self._hooks, self._api)
        self._server = EmbeddedServer(app)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]), name="gateway")
        await self._server.wait_started(self._serving)
        self._url = f"http://{reachable_host(self._settings.host)}:{port}"
        return self._url

    async def stop(self) -> None:
        """Close every connection and end the server. Idempotent."""
        server, serving = self._server, self._serving
        self._server, self._serving, self._url = None, None, ""
        if server is None or serving is None:
            return
        server.should_exit = True
        try:
            await asyncio.wait_for(asyncio.shield(serving), _STOP_SECONDS)
        except TimeoutError:
            serving.cancel()
        await asyncio.gather(serving, *server.server_state.tasks, return_exceptions=True)

    async def new_login_link(self, identity: str = LOCAL_IDENTITY) -> str:
        """A URL that logs `identity` in, once, within 10 minutes."""
        if not self._url:
            raise StartError("there is no log-in link while the gateway does not serve: start it first")
        return login_url(self._url, await self._desk.new_secret(identity))


def login_url(base: str, secret: str) -> str:
    """The link that spends a log-in secret."""
    return f"{base}/login/{secret}"


def _listen(settings: GatewaySettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=256)
    except OSError as error:
        raise StartError(_why_not(settings, error)) from error


def _why_not(settings: GatewaySettings, error: OSError) -> str:
    place = f"port {settings.port} on {settings.host}"
    if error.errno == errno.EADDRINUSE:
        return (
            f"{place} is taken by another program, perhaps another Echo Bot: stop that one, "
            "or set gateway.port to another port (0 takes any free one)"
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"{place} may not be used by this user: set gateway.port to one above 1023"
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return (
            f"this machine has no address {settings.host}: set gateway.host to one it has, such as 127.0.0.1"
        )
    return f"the gateway cannot listen on {place} ({error.strerror}): check gateway.host and gateway.port"
