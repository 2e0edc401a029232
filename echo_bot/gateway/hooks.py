"""Paths that a platform calls: no log-in, no Host or Origin check, since the app behind proves who calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from echo_bot.channel import AsgiApp
from echo_bot.gateway.edge import Receive, Scope, Send

OWN_PATHS = ("/healthz", "/login", "/logout", "/api")


class Hooks:
    """An ASGI middleware: a hook's path, written exactly so, goes to its app, everything else further in.

    The public name of a hook is the proxy's, which the gateway cannot know.
    """

    def __init__(self, hooks: Mapping[str, AsgiApp], app: AsgiApp) -> None:
        self._hooks, self._app = dict(hooks), app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_http = scope["type"] == "http"
        app = self._hooks.get(scope["path"], self._app) if is_http else self._app
        await app(scope, receive, send)


def hook_problem(path: str, hooks: Iterable[str], mounts: Mapping[str, AsgiApp]) -> str:
    """Why a channel cannot be called at `path`, as a sentence; "" when it can."""
    if not path.startswith("/") or path == "/" or any(char in path for char in "?#{}%\\ ") or "//" in path:
        return f"{path!r} is no path that a platform can call: write one such as /telegram/webhook"
    if any(_is_under(path, own) for own in OWN_PATHS):
        return f"the path {path} belongs to the gateway itself: use another one"
    if path in hooks:
        return f"the path {path} is taken by another channel: use another one"
    for mount, app in mounts.items():
        pages = {getattr(route, "path", "") for route in getattr(app, "routes", ())}
        if (mount != "/" and _is_under(path, mount)) or (mount == "/" and path in pages):
            return f"the path {path} belongs to the page at {mount}: use another one"
    return ""


def _is_under(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
