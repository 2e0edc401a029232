"""The gateway's web application: which path answers what. Imported only when serving."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from echo_bot.channel import AsgiApp
from echo_bot.gateway.api.app import build_api, closed_api
from echo_bot.gateway.api.parts import ApiParts
from echo_bot.gateway.edge import API_PREFIX, BodyLimit, Edge, Receive, Scope, Send
from echo_bot.gateway.hooks import Hooks
from echo_bot.gateway.login import COOKIE_NAME, LoginDesk, NewCookie
from echo_bot.gateway.origin import Names
from echo_bot.gateway.pages import Page, continue_page, logged_out_page, spent_page
from echo_bot.gateway.wall import LiveSockets, LoginWall, session_cookie


def build_app(
    desk: LoginDesk,
    mounts: Mapping[str, AsgiApp],
    names: Names,
    max_body_bytes: int,
    hooks: Mapping[str, AsgiApp],
    api: ApiParts | None = None,
) -> AsgiApp:
    """All that is served: hooks, the gateway's own paths, then the mounts, the longest path first.

    Without `api` the HTTP API says that it is closed.
    """
    live = LiveSockets()
    doors = _Doors(desk, live)
    app = FastAPI(title="Echo Bot", openapi_url=None)
    app.add_api_route("/healthz", _healthz, methods=["GET"])
    app.add_api_route("/login/{secret}", doors.show, methods=["GET"], response_class=HTMLResponse)
    app.add_api_route("/login/{secret}", doors.enter, methods=["POST"], response_class=HTMLResponse)
    app.add_api_route("/logout", doors.leave, methods=["POST"], response_class=HTMLResponse)
    for path in sorted(mounts, key=len, reverse=True):
        app.mount(path, LoginWall(mounts[path], desk, live))
    limited = {path: BodyLimit(hook, max_body_bytes) for path, hook in hooks.items()}
    served = Below(API_PREFIX, build_api(api) if api else closed_api(), app)
    return Hooks(limited, Edge(BodyLimit(served, max_body_bytes), names))


class Below:
    """An ASGI middleware: what is below a path goes to its own app, everything else further in.

    The framework's own mounts do not take every path: a newline in it leads past them.
    """

    def __init__(self, prefix: str, app: AsgiApp, other: AsgiApp) -> None:
        self._prefix, self._app, self._other = prefix, app, other

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and scope["path"].startswith(f"{self._prefix}/"):
            inner = {**scope, "root_path": scope.get("root_path", "") + self._prefix}
            await self._app(inner, receive, send)
        else:
            await self._other(scope, receive, send)


async def _healthz() -> dict[str, str]:
    return {"status": "ok"}


class _Doors:
    """The ways in and out."""

    def __init__(self, desk: LoginDesk, live: LiveSockets) -> None:
        self._desk = desk
        self._live = live

    async def show(self, secret: str, request: Request) -> Response:
        """Look at a link without spending it: link previews and virus scanners do that too."""
        if await self._desk.is_open(secret):
            return _html(continue_page(), 200)
        if await self._desk.login_of(session_cookie(request.scope)):
            return RedirectResponse("/", status_code=303)
        return _html(spent_page(), 410)

    async def enter(self, secret: str, request: Request) -> Response:
        cookie = await self._desk.exchange(secret)
        if cookie is None:
            return _html(spent_page(), 410)
        response = RedirectResponse("/", status_code=303)
        _set_cookie(response, cookie, secure=request.url.scheme == "https")
        return response

    async def leave(self, request: Request) -> Response:
        if cookie := session_cookie(request.scope):
            await self._desk.end(cookie)
            self._live.end(cookie)
        response = _html(logged_out_page(), 200)
        response.delete_cookie(COOKIE_NAME, path="/", httponly=True, samesite="strict")
        return response


def _html(page: Page, status: int) -> Response:
    return HTMLResponse(page.html, status_code=status, headers=page.headers)


def _set_cookie(response: Response, cookie: NewCookie, *, secure: bool) -> None:
    response.set_cookie(
        COOKIE_NAME,
        cookie.value,
        max_age=int(cookie.lifetime.total_seconds()),
        path="/",
        secure=secure,
        httponly=True,
        samesite="strict",
    )
