"""What every group of endpoints shares: who calls, and that admin endpoints are for admin tokens."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer

from echo_bot.gateway.api.door import caller_of
from echo_bot.gateway.api.failures import ADMIN_ONLY, RESPONSES, ApiFailure
from echo_bot.gateway.tokens import Caller

_BEARER = HTTPBearer(auto_error=False, description="A token of gateway.api_tokens or gateway.admin_tokens.")


class _AdminRoute(APIRoute):
    """Refuses ordinary tokens before anything of the request is read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_for_admins(request: Request) -> Response:
            if not caller_of(request.scope).is_admin:
                raise ApiFailure(403, "forbidden", ADMIN_ONLY)
            return await handle(request)

        return handle_for_admins


def router(tag: str, *, admin: bool = False) -> APIRouter:
    """A group of endpoints, which declares every failure that the API has."""
    return APIRouter(
        tags=[tag],
        responses=RESPONSES,
        dependencies=[Security(_BEARER)],
        route_class=_AdminRoute if admin else APIRoute,
    )


def _caller(request: Request) -> Caller:
    return caller_of(request.scope)


CallerHere = Annotated[Caller, Depends(_caller)]
"""Whoever presented the token."""
