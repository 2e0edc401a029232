"""Paths that platforms call: reached without a log-in and under any name, with the body as it was sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from echo_bot.gateway import Gateway, GatewaySettings, hook_problem
from echo_bot.gateway.edge import Receive, Scope, Send
from echo_bot.storage.store import open_store


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """A hook: answers with the method and the raw body."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["method"].encode() + b" " + body})


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    store = await open_store(f"sqlite+aiosqlite:///{tmp_path}/gateway.db")
    gateway = Gateway(
        GatewaySettings(port=0, max_body_mb=1),
        store.logins,
        lambda: datetime.now(UTC),
        {},
        {"/slack/events": echo},
    )
    url = await gateway.start()
    async with httpx.AsyncClient(base_url=url, trust_env=False, verify=False) as client:
        yield client
    await gateway.stop()
    await store.close()


async def test_a_platform_calls_under_the_proxys_name_with_its_raw_body(client: httpx.AsyncClient) -> None:
    body = b'{"a":  1, "b": "\xc3\xa9\x00"}'
    headers = {"host": "bot.example.org", "origin": "https://slack.example"}
    answer = await client.post("/slack/events", content=body, headers=headers)
    assert (answer.status_code, answer.content) == (200, b"POST " + body)
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_body_over_the_limit_never_arrives(client: httpx.AsyncClient) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield bytes(600_000)

    assert (await client.post("/slack/events", content=bytes(1_200_000))).status_code == 413
    assert (await client.post("/slack/events", content=pieces())).status_code == 413


@pytest.mark.parametrize("path", ["/slack/events/", "/slack", "/slack/events/x", "/SLACK/events", "/"])
async def test_any_other_path_is_no_hook(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.post(path, headers={"host": "bot.example.org"})).status_code == 403
    assert (await client.post(path)).status_code == 404


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("/slack/events", ""),
        ("/telegram", ""),
        ("/healthz", "gateway itself"),
        ("/login/abc", "gateway itself"),
        ("/logout", "gateway itself"),
        ("/taken", "another channel"),
        ("/forum/x", "the page at /forum"),
        ("slack", "no path"),
        ("/", "no path"),
        ("", "no path"),
        ("/a?b=1", "no path"),
        ("//host/a", "no path"),
    ],
)
def test_a_path_that_cannot_be_a_hook_is_named(path: str, part: str) -> None:
    problem = hook_problem(path, {"/taken"}, {"/": echo, "/forum": echo})
    assert part in problem
    assert bool(part) is bool(problem)
