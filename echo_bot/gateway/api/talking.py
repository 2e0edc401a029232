"""Endpoints of messages and chats."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from echo_bot.events import Address
from echo_bot.gateway.api.endpoints import CallerHere, router
from echo_bot.gateway.api.failures import ApiFailure
from echo_bot.gateway.api.messages import Happening, Messages
from echo_bot.gateway.api.models import (
    Accepted,
    ApprovalView,
    CallerView,
    ChatView,
    Line,
    MessageView,
    NewMessage,
    SaidView,
    StreamedMessage,
)
from echo_bot.gateway.api.parts import ApiParts
from echo_bot.gateway.api.views import line_of
from echo_bot.policy.settings import API

_FINAL = frozenset({"done", "failed", "stopped", "unknown"})
_NOT_YOURS = "There is no such chat of yours."
_EVENT_NAMES: dict[type[BaseModel], str] = {
    Accepted: "accepted",
    SaidView: "said",
    ApprovalView: "approval",
    MessageView: "end",
}
_EVENT_SCHEMA = {
    "type": "object",
    "properties": {
        "event": {"enum": [*_EVENT_NAMES.values()]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["event", "data"],
}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events `accepted`, `said`, `approval` and, last, `end` with the whole message.",
        "content": {"text/event-stream": {"schema": _EVENT_SCHEMA}},
    }
}
_UNFINISHED: dict[int | str, dict[str, Any]] = {
    202: {"model": MessageView, "description": "Not ended yet: ask again by its id."}
}

Limit = Annotated[int, Query(ge=1, le=1000)]
Part = Annotated[str, Query(max_length=256)]


def talking(parts: ApiParts) -> APIRouter:
    routes, messages = router("messages"), Messages(parts)

    @routes.get("/whoami")
    async def whoami(caller: CallerHere) -> CallerView:
        """Whom the token makes you."""
        return CallerView(name=caller.name, identity=str(caller.identity), scope=caller.scope.value)

    @routes.post("/messages", responses=_UNFINISHED)
    async def post_message(wanted: NewMessage, caller: CallerHere, response: Response) -> MessageView:
        """Say something to the bot and wait for the answer, or until you have to decide something."""
        view = await messages.post(caller, wanted, wanted.wait_seconds)
        response.status_code = 200 if view.state in _FINAL else 202
        return view

    @routes.post("/messages/stream", response_class=StreamingResponse, responses=_STREAM)
    async def stream_message(wanted: StreamedMessage, caller: CallerHere) -> StreamingResponse:
        """Say something to the bot and hear of everything as it comes, as server-sent events."""
        happenings = messages.stream(caller, wanted)
        first = await anext(happenings)
        return StreamingResponse(_events(first, happenings), media_type="text/event-stream")

    @routes.get("/messages/{message_id}", responses=_UNFINISHED)
    async def show_message(
        message_id: Annotated[str, Path(pattern=r"^[A-Za-z0-9_.:-]{1,128}$")],
        caller: CallerHere,
        response: Response,
    ) -> MessageView:
        """What became of a message of yours."""
        view = await messages.show(caller, message_id)
        response.status_code = 200 if view.state in _FINAL else 202
        return view

    @routes.get("/sessions")
    async def list_sessions(caller: CallerHere, limit: Limit = 100) -> list[ChatView]:
        """Your chats, the latest first; with an admin token all chats."""
        channel, chat = (None, None) if caller.is_admin else (API, caller.name)
        found = await parts.store.sessions.chats(channel, chat, limit)
        return [
            ChatView(channel=a.channel, account=a.account, chat=a.chat_id, thread=a.thread_id, last_at=at)
            for a, at in found
        ]

    @routes.get("/sessions/transcript")
    async def show_transcript(
        caller: CallerHere,
        thread: Part = "",
        chat: Part | None = None,
        channel: Part = API,
        account: Part = "",
        limit: Limit = 100,
    ) -> list[Line]:
        """The last lines of a chat, oldest first. Without `chat` it is your own."""
        address = Address(channel, caller.name if chat is None else chat, thread, account)
        if not (caller.is_admin or (channel, account, address.chat_id) == (API, "", caller.name)):
            raise ApiFailure(404, "not_found", _NOT_YOURS)
        return [line_of(row) for row in await parts.store.sessions.transcript(address, limit)]

    return routes


async def _events(first: Happening, happenings: AsyncGenerator[Happening, None]) -> AsyncIterator[str]:
    yield _event(first)
    async for happening in happenings:
        yield _event(happening)


def _event(happening: Happening) -> str:
    """As server-sent events are written; a comment keeps the connection open while nothing happens."""
    if happening is None:
        return ":\n\n"
    return f"event: {_EVENT_NAMES[type(happening)]}\ndata: {happening.model_dump_json()}\n\n"
