"""An OpenAI-compatible model server on loopback that follows a script: chat completions, streamed or not."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from echo_bot.testing.scripted_model import CallTool, Fail, Say, Told

_NAME = "scripted"


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer with this status instead."""

    status: int
    message: str = "refused"
    retry_after: str = ""


@dataclass(frozen=True, slots=True)
class Garbage:
    """Answer 200 with a body that is no answer."""

    body: str = "<html>It works!</html>"


@dataclass(frozen=True, slots=True)
class BreakOff:
    """Stream this much of an answer, then drop the connection."""

    text: str


@dataclass(frozen=True, slots=True)
class CutOff:
    """Answer this much, and end for this reason instead of being done."""

    text: str
    reason: str = "length"


Served = Told | Refuse | Garbage | BreakOff | CutOff
Body = Mapping[str, Any]
Usage = tuple[int, int]


class ModelServer:
    """`base_url` goes into `models.base_url`; `requests` holds the bodies of every request.

    Steps are used up one a request; past the end `otherwise` answers, by default with "(script ended)".
    `usage` says what a request used: tokens read and written. As strict servers do, it refuses messages where
    a call has no result, roles do not follow one another or a system message stands in the middle; what was
    wrong is in `problems`.
    """

    def __init__(
        self,
        steps: Sequence[Served] = (),
        *,
        otherwise: Callable[[Body], Served] = lambda body: Say("(script ended)"),
        usage: Callable[[Body], Usage] = lambda body: (1, 1),
    ) -> None:
        self._steps, self._otherwise, self._usage = list(steps), otherwise, usage
        self._calls = 0
        self.requests: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self.base_url = ""

    def add(self, *steps: Served) -> None:
        self._steps.extend(steps)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[ModelServer]:
        listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        app = Starlette(routes=[Route("/v1/chat/completions", self._answer, methods=["POST"])])
        config = uvicorn.Config(app, log_level="critical", lifespan="off", ws="none")
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield self
        finally:
            server.should_exit = True
            await task

    async def _answer(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append(body)
        if problem := problem_of_messages(body.get("messages", ())):
            self.problems.append(problem)
            return _refusal(400, problem)
        step = self._steps.pop(0) if self._steps else self._otherwise(body)
        match step:
            case Fail(error):
                return _refusal(500, str(error))
            case Refuse(status, message, retry_after):
                return _refusal(status, message, {"Retry-After": retry_after} if retry_after else {})
            case Garbage(text):
                return Response(text, media_type="text/html")
            case BreakOff(text):
                return StreamingResponse(_broken(text), media_type="text/event-stream")
            case _:
                return self._said(body, step)

    def _said(self, body: Body, step: Say | CallTool | CutOff) -> Response:
        message, usage = self._message(step), _usage(self._usage(body))
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        finish = step.reason if isinstance(step, CutOff) else finish
        if body.get("stream"):
            return StreamingResponse(_chunks(message, usage, finish), media_type="text/event-stream")
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return JSONResponse(_envelope("chat.completion") | {"choices": [choice], "usage": usage})

    def _message(self, step: Say | CallTool | CutOff) -> dict[str, Any]:
        if isinstance(step, Say | CutOff):
            return {"role": "assistant", "content": step.text}
        calls = []
        for call in (step, *step.also):
            self._calls += 1
            function = {"name": call.tool, "arguments": json.dumps(dict(call.args))}
            calls.append({"id": f"call_{self._calls}", "type": "function", "function": function})
        return {"role": "assistant", "content": step.say or None, "tool_calls": calls}


def problem_of_messages(messages: Sequence[Body]) -> str:
    """Why a server would refuse them; "" when they are valid."""
    open_calls: set[str] = set()
    before = ""
    for place, message in enumerate(messages):
        role = message.get("role", "")
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                return f"message {place}: a result of no call"
            open_calls.discard(message["tool_call_id"])
        elif open_calls:
            return f"message {place}: {len(open_calls)} calls have no result"
        elif role == "assistant":
            if before in ("", "assistant", "system"):
                return f"message {place}: an answer to nothing"
            open_calls = {call["id"] for call in message.get("tool_calls") or ()}
        elif role not in ("user", "system", "developer"):
            return f"message {place}: no such role"
        elif role == "user" and before == "user":
            return f"message {place}: two messages of the user in a row"
        elif role != "user" and before not in ("", "system", "developer"):
            return f"message {place}: a system message in the middle"
        before = role
    return "" if before in ("user", "tool") and not open_calls else "they do not end in something to answer"


def _refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    error = {"error": {"message": message, "type": "server_error"}}
    return JSONResponse(error, status_code=status, headers=dict(headers or {}))


def _usage(used: Usage) -> dict[str, int]:
    read, written = used
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _envelope(kind: str) -> dict[str, Any]:
    return {"id": "scripted-1", "object": kind, "created": 0, "model": _NAME}


async def _chunks(message: Body, usage: Mapping[str, int], finish: str) -> AsyncIterator[str]:
    text = message.get("content") or ""
    for start in range(0, len(text), 16):
        yield _event({"role": "assistant", "content": text[start : start + 16]})
    for index, call in enumerate(message.get("tool_calls", ())):
        yield _event({"role": "assistant", "tool_calls": [{"index": index, **call}]})
    yield _event({}, finish)
    yield f"data: {json.dumps(_envelope('chat.completion.chunk') | {'choices': [], 'usage': usage})}\n\n"
    yield "data: [DONE]\n\n"


async def _broken(text: str) -> AsyncIterator[str]:
    for start in range(0, len(text), 16):
        yield _event({"role": "assistant", "content": text[start : start + 16]})
    raise ConnectionAbortedError("the script drops the connection here")


def _event(delta: Body, finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps(_envelope('chat.completion.chunk') | {'choices': [choice]})}\n\n"
