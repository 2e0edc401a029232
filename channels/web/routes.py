"""The paths of the web channel: the page, its scripts, delivered files, the WebSocket."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, stat_result
from pathlib import Path

from fastapi import FastAPI, Response, WebSocket
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse
from fastapi.staticfiles import StaticFiles

from channels.web.files import SentFiles
from channels.web.tabs import CLOSE_TRY_AGAIN
from channels.web.talk import House, Talk
from channels.web.words import index_page, words_script
from echo_bot.channel import AsgiApp
from echo_bot.events import Identity
from echo_bot.text.language import _

PAGE_FOLDER = Path(__file__).parent / "page"

# Scripts only from files of ours, and markup only through the sanitiser: the browser itself refuses the rest.
_PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types dompurify"
    ),
    "Cache-Control": "no-cache",
}


def build_routes(house: Callable[[], House | None], files: SentFiles) -> AsgiApp:
    """`house` gives None while the channel does not run; pages are then told to come back."""
    paths = _Paths(house, files)
    app = FastAPI(openapi_url=None)
    app.add_api_route("/", _page, methods=["GET"], response_class=HTMLResponse)
    app.add_api_route("/words.js", _words, methods=["GET"], response_class=Response)
    app.add_api_route("/files/{file_id}", paths.file, methods=["GET"], response_class=FileResponse)
    app.add_api_websocket_route("/ws", paths.socket)
    app.mount("/", _PageFiles(directory=PAGE_FOLDER))
    return app


async def _page() -> Response:
    return HTMLResponse(index_page(PAGE_FOLDER), headers=_PAGE_HEADERS)


async def _words() -> Response:
    return Response(
        words_script(PAGE_FOLDER), media_type="text/javascript", headers={"Cache-Control": "no-cache"}
    )


class _Paths:
    def __init__(self, house: Callable[[], House | None], files: SentFiles) -> None:
        self._house = house
        self._files = files

    async def file(self, file_id: str) -> Response:
        sent = self._files.get(file_id)
        if sent is None:
            gone = _("This file is no longer kept here. Ask the bot to send it again.")
            return PlainTextResponse(f"{gone}\n", status_code=404)
        return FileResponse(
            sent.path,
            media_type=sent.link.mime if sent.link.inline else "application/octet-stream",
            filename=sent.link.name,
            content_disposition_type="inline" if sent.link.inline else "attachment",
            headers={"Content-Security-Policy": "default-src 'none'; sandbox"},
        )

    async def socket(self, socket: WebSocket) -> None:
        viewer = socket.scope.get("state", {}).get("viewer")
        if not isinstance(viewer, Identity):
            await socket.close(1008)  # not behind the gateway's log-in: refuse the handshake
            return
        await socket.accept()
        house = self._house()
        if house is None:
            await socket.close(CLOSE_TRY_AGAIN, "the bot is starting or stopping")
            return
        await Talk(socket, viewer, house).run()


class _PageFiles(StaticFiles):
    """Scripts and styles may be kept by the browser, but are asked for again each time."""

    def file_response(
        self,
        full_path: PathLike[str] | str,
        stat_result: stat_result,
        scope: object,
        status_code: int = 200,
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)  # type: ignore[arg-type]
        response.headers.setdefault("Cache-Control", "no-cache")
        return response
