"""Errors of the HTTP API: one form for all, {"error": {"code", "message"}}, and never what was sent."""

from __future__ import annotations

from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from echo_bot.errors import StorageError
from echo_bot.text import encodable

log = structlog.get_logger(__name__)

_CODES = {400: "bad_request", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}
_MOST_TOLD = 5

NO_TOKENS = (
    "The HTTP API is closed: no token is configured. Add one to gateway.api_tokens "
    "(or gateway.admin_tokens) and restart."
)
NO_TOKEN = "Send a token of gateway.api_tokens or gateway.admin_tokens as `Authorization: Bearer <token>`."
ADMIN_ONLY = "This needs a token of gateway.admin_tokens; an ordinary one reads and writes its own chats."
TOO_MANY = "Too many requests; try again shortly."
INTERNAL = "Something went wrong on the bot's side; its log has the details under this request id."
NOT_STORED = "The database cannot be used right now, so nothing was done. The log says why."


class ErrorDetail(BaseModel):
    """`code` is for programs, `message` a sentence for people."""

    code: str
    message: str


class ErrorBody(BaseModel):
    error: ErrorDetail


class ApiFailure(Exception):
    """A request that is refused, with the status to answer."""

    def __init__(self, status: int, code: str, message: str) -> None:
        self.status, self.code, self.message = status, code, message
        super().__init__(message)


RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorBody, "description": "The body cannot be read."},
    401: {"model": ErrorBody, "description": "There is no token, or one that is not known."},
    403: {"model": ErrorBody, "description": "The token is not good for this, or the host is not known."},
    404: {"model": ErrorBody, "description": "There is no such thing, or it is somebody else's."},
    409: {"model": ErrorBody, "description": "It is too late for this, or the id was used before."},
    413: {"model": ErrorBody, "description": "The body is larger than gateway.max_body_mb."},
    422: {"model": ErrorBody, "description": "A field is missing, unknown or of the wrong form."},
    429: {"model": ErrorBody, "description": "Too many requests."},
    503: {"model": ErrorBody, "description": "The bot's database cannot be used right now."},
}
"""What any endpoint may answer besides its success."""


def error_json(code: str, message: str) -> dict[str, dict[str, str]]:
    return {"error": {"code": code, "message": encodable(message)}}


def answer_failures(app: FastAPI) -> None:
    """Give every failure of the app the one form."""
    app.add_exception_handler(ApiFailure, _refused)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(StorageError, _unstored)
    app.add_exception_handler(Exception, _broken)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ApiFailure)
    headers = {"Retry-After": "5"} if error.status in (429, 503) else None
    return JSONResponse(error_json(error.code, error.message), error.status, headers=headers)


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "refused")
    return JSONResponse(error_json(code, error.detail), error.status_code, headers=error.headers)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    """Names the fields and what is wrong, and repeats nothing that was sent."""
    assert isinstance(error, RequestValidationError)
    found = [f"{_place(each['loc'])}: {each['msg']}" for each in error.errors()]
    return JSONResponse(error_json("invalid", "; ".join(found[:_MOST_TOLD])), 422)


async def _unstored(request: Request, error: Exception) -> JSONResponse:
    log.error("api_not_stored", path=request.url.path, error=str(error))
    return JSONResponse(error_json("unavailable", NOT_STORED), 503, headers={"Retry-After": "5"})


async def _broken(request: Request, error: Exception) -> JSONResponse:
    """The framework raises it once more, for the door to log."""
    return JSONResponse(error_json("internal", INTERNAL), 500)


def _place(parts: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in parts if part != "body") or "the body"
