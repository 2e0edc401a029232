"""An OpenAI-compatible model server on loopback that follows a script: chat completions, streamed or not."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from echo_bot.testing.scripted_model import CallTool, Fail, Say, Told

_NAME = "scripted"


class ModelServer:
    """`base_url` goes into `models.base_url`; `requests` holds the bodies of every request.

    Steps are used up one a request; past the end it says "(script ended)". `add` appends more while it runs.
    """

    def __init__(self, steps: Sequence[Told]) -> None:
        self._steps = list(steps)
        self._calls = 0
        self.requests: list[dict[str, Any]] = []
        self.base_url = ""

    def add(self, *steps: Told) -> None:
        self._steps.extend(steps)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[ModelServer]:
        listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        app = Starlette(routes=[Route("/v1/chat/completions", self._answer, methods=["POST"])])
        config = uvicorn.Config(app, log_level="error", lifespan="off", ws="none")
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
        step = self._steps.pop(0) if self._steps else Say("(script ended)")
        if isinstance(step, Fail):
            return JSONResponse(
                {"error": {"message": str(step.error), "type": "server_error"}}, status_code=500
            )
        message = self._message(step)
        if body.get("stream"):
            return StreamingResponse(_chunks(message), media_type="text/event-stream")
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return JSONResponse(_envelope("chat.completion") | {"choices": [choice], "usage": _USAGE})

    def _message(self, step: Say | CallTool) -> dict[str, Any]:
        if isinstance(step, Say):
            return {"role": "assistant", "content": step.text}
        calls = []
        for call in (step, *step.also):
            self._calls += 1
            function = {"name": call.tool, "arguments": json.dumps(dict(call.args))}
            calls.append({"id": f"call_{self._calls}", "type": "function", "function": function})
        return {"role": "assistant", "content": step.say or None, "tool_calls": calls}


_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _envelope(kind: str) -> dict[str, Any]:
    return {"id": "scripted-1", "object": kind, "created": 0, "model": _NAME}


async def _chunks(message: dict[str, Any]) -> AsyncIterator[str]:
    text = message.get("content") or ""
    for start in range(0, len(text), 16):
        yield _event({"role": "assistant", "content": text[start : start + 16]})
    for index, call in enumerate(message.get("tool_calls", ())):
        yield _event({"role": "assistant", "tool_calls": [{"index": index, **call}]})
    yield _event({}, "tool_calls" if message.get("tool_calls") else "stop")
    yield f"data: {json.dumps(_envelope('chat.completion.chunk') | {'choices': [], 'usage': _USAGE})}\n\n"
    yield "data: [DONE]\n\n"


def _event(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps(_envelope('chat.completion.chunk') | {'choices': [choice]})}\n\n"
