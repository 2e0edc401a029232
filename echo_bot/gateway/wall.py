"""The wall between the network and a channel's pages: only a logged-in visitor passes, with a name."""

from __future__ import annotations

import asyncio
from http.cookies import CookieError, SimpleCookie

from echo_bot.channel import AsgiApp
from echo_bot.gateway.edge import Message, Receive, Scope, Send, header_values
from echo_bot.gateway.login import COOKIE_NAME, Login, LoginDesk, hash_of
from echo_bot.gateway.pages import Page, stranger_page

WS_NOT_LOGGED_IN = 4401
"""The WebSocket close code a page reads as "log in again" (a refused handshake would tell it nothing)."""


class LiveSockets:
    """The open WebSockets of each cookie, so that logging out ends them too."""

    def __init__(self) -> None:
        self._endings: dict[str, set[asyncio.Event]] = {}

    def open(self, cookie: str) -> asyncio.Event:
        ending = asyncio.Event()
        self._endings.setdefault(hash_of(cookie), set()).add(ending)
        return ending

    def forget(self, cookie: str, ending: asyncio.Event) -> None:
        endings = self._endings.get(hash_of(cookie), set())
        endings.discard(ending)
        if not endings:
            self._endings.pop(hash_of(cookie), None)

    def end(self, cookie: str) -> None:
        for ending in self._endings.get(hash_of(cookie), ()):
            ending.set()


class LoginWall:
    """Puts a channel's routes behind the log-in; `scope["state"]["viewer"]` is who looks."""

    def __init__(self, app: AsgiApp, desk: LoginDesk, live: LiveSockets) -> None:
        self._app = app
        self._desk = desk
        self._live = live

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return
        cookie = session_cookie(scope)
        login = await self._desk.login_of(cookie)
        if login is None:
            await _turn_away(scope, receive, send)
            return
        inner = {**scope, "state": {**scope.get("state", {}), "viewer": login.viewer}}
        if scope["type"] == "http":
            await self._app(inner, receive, send)
        else:
            await self._serve_socket(cookie, login, inner, receive, send)

    async def _serve_socket(
        self, cookie: str, login: Login, scope: Scope, receive: Receive, send: Send
    ) -> None:
        ending = self._live.open(cookie)

        async def receive_until_logout() -> Message:
            message = await _first(receive, ending)
            if message is None or self._comes_too_late(login, message):
                await send({"type": "websocket.close", "code": WS_NOT_LOGGED_IN, "reason": "logged out"})
                return {"type": "websocket.disconnect", "code": WS_NOT_LOGGED_IN}
            return message

        try:
            await self._app(scope, receive_until_logout, send)
        finally:
            self._live.forget(cookie, ending)

    def _comes_too_late(self, login: Login, message: Message) -> bool:
        """A page that is never closed is logged in no longer than any other."""
        return message["type"] == "websocket.receive" and self._desk.has_run_out(login)


async def _first(receive: Receive, ending: asyncio.Event) -> Message | None:
    """The next message, or None when the log-out comes first."""
    message = asyncio.ensure_future(receive())
    logout = asyncio.ensure_future(ending.wait())
    try:
        await asyncio.wait({message, logout}, return_when=asyncio.FIRST_COMPLETED)
        return None if logout.done() else message.result()
    finally:
        for task in (message, logout):
            task.cancel()
        await asyncio.gather(message, logout, return_exceptions=True)


async def _turn_away(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close", "code": WS_NOT_LOGGED_IN, "reason": "not logged in"})
        return
    await send_page(send, stranger_page(), 401)


async def send_page(send: Send, page: Page, status: int) -> None:
    headers = [(name.lower().encode(), value.encode()) for name, value in page.headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": page.html.encode()})


def session_cookie(scope: Scope) -> str:
    """The session cookie's value as sent, or ""."""
    for header in header_values(scope, b"cookie"):
        try:
            morsel = SimpleCookie(header).get(COOKIE_NAME)
        except CookieError:
            continue
        if morsel is not None:
            return str(morsel.value)
    return ""
