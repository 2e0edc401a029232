"""One Socket Mode connection over the SDK: one try to connect, and word when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from channels.slack.client import Clients

Handle = Callable[[SocketModeRequest], Awaitable[SocketModeResponse | None]]
"""Handles an envelope; returns its acknowledgement, None when it must come again."""

_CONNECT_SECONDS = 10.0
_PROBLEMS = {
    "link_disabled": "Socket Mode is switched off in the app's settings: switch it on there, or set "
    "channels.slack.mode to http",
    "too_many_websockets": "The app has more connections than Slack allows: stop the other programs that use "
    "its app token",
}
"""Why Slack says that it ends a connection, where somebody has to do something about it."""
_GOODBYE_SECONDS = 0.3


class Socket(SocketModeClient):
    """The SDK's client without its own reconnecting, which tries one address for ever."""

    def __init__(self, clients: Clients, handle: Handle, logger: logging.Logger, ping_seconds: float) -> None:
        super().__init__(
            clients.app_token,
            logger=logger,
            web_client=clients.web,
            auto_reconnect_enabled=False,
            ping_interval=ping_seconds,
        )
        self.proxy = clients.proxy
        self._handle = handle
        self._told_to_go = asyncio.Event()
        self.has_delivered, self.problem = False, ""
        self._in_hand: set[asyncio.Task[object]] = set()
        self.socket_mode_request_listeners.append(self._take)
        self.on_message_listeners.append(self._look_at)

    async def connect(self) -> None:
        """Ask for an address and connect to it, once. Raises the SDK's and the session's errors."""
        async with asyncio.timeout(_CONNECT_SECONDS):
            opened = await self.web_client.apps_connections_open(app_token=self.app_token)
            self.wss_uri = str(opened["url"])
            self.current_session = await self.aiohttp_client_session.ws_connect(
                self.wss_uri, autoping=False, heartbeat=self.ping_interval, proxy=self.proxy
            )
        self.current_session_monitor = asyncio.ensure_future(self.monitor_current_session())
        self.message_receiver = asyncio.ensure_future(self.receive_messages())

    async def connect_to_new_endpoint(self, force: bool = False) -> None:
        """Slack, through the SDK, tells this connection to go."""
        self._told_to_go.set()

    async def ended(self, look_seconds: float) -> bool:
        """Returns when the connection is lost or stale, or true when Slack is about to close it."""
        while not self._told_to_go.is_set() and await self.is_connected():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._told_to_go.wait(), look_seconds)
        return self._told_to_go.is_set()

    async def run_message_listeners(self, message: dict[str, Any], raw_message: str) -> None:
        """The SDK reads no envelope whose payload is no object: such a one is taken as an empty one."""
        if message.get("envelope_id") and not isinstance(message.get("payload"), dict):
            message = {**message, "payload": {}}
        await super().run_message_listeners(message, raw_message)

    async def close(self, patience_seconds: float = 0.3) -> None:
        """Let what is in hand finish, and end every task and connection."""
        if self._in_hand:
            await asyncio.wait(self._in_hand, timeout=patience_seconds)
        self.closed = True
        tasks = [self.message_processor, self.current_session_monitor, self.message_receiver, *self._in_hand]
        running = [task for task in tasks if task is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if self.current_session is not None:
            with contextlib.suppress(TimeoutError, ConnectionError, aiohttp.ClientError):
                await asyncio.wait_for(self.current_session.close(), _GOODBYE_SECONDS)
        await self.aiohttp_client_session.close()

    async def _look_at(self, message: aiohttp.WSMessage) -> None:
        """A farewell says why. The SDK reads it, but tells nobody."""
        if message.type is aiohttp.WSMsgType.TEXT and '"disconnect"' in message.data:
            with contextlib.suppress(ValueError, AttributeError):
                said = json.loads(message.data)
                if said.get("type") == "disconnect":
                    self.problem = _PROBLEMS.get(str(said.get("reason")), "")

    async def _take(self, _: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        self.has_delivered = True
        task = asyncio.current_task()
        if task is not None:
            self._in_hand.add(task)
            task.add_done_callback(self._in_hand.discard)
        acknowledgement = await self._handle(request)
        if acknowledgement is not None:
            # Where the line broke meanwhile, Slack delivers it again, and it is known by then.
            with contextlib.suppress(ConnectionError, aiohttp.ClientError):
                await self.send_socket_mode_response(acknowledgement)
