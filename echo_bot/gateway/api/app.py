"""The HTTP API as one ASGI application. Imported only when serving."""

from __future__ import annotations

from fastapi import FastAPI

from echo_bot import __version__
from echo_bot.channel import AsgiApp
from echo_bot.gateway.api.deciding import asking, deciding
from echo_bot.gateway.api.door import OPEN_PATH, Door
from echo_bot.gateway.api.failures import answer_failures
from echo_bot.gateway.api.looking import looking, tools
from echo_bot.gateway.api.parts import ApiParts
from echo_bot.gateway.api.talking import talking
from echo_bot.gateway.tokens import Tokens


def build_api(parts: ApiParts) -> AsgiApp:
    """Every endpoint, behind the door."""
    app = FastAPI(
        title="Echo Bot",
        version=__version__,
        summary="Messages, approvals, grants, audit and status of one bot.",
        openapi_url=OPEN_PATH,
        docs_url=None,
        redoc_url=None,
    )
    for group in (talking, asking, deciding, tools, looking):
        app.include_router(group(parts))
    answer_failures(app)
    return Door(app, parts.tokens, has_limits=parts.has_limits)


def closed_api() -> AsgiApp:
    """The API of a bot without tokens: it says so."""
    return Door(FastAPI(openapi_url=None), Tokens(), has_limits=False)
