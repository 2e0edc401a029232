"""The client of a model's endpoint: bound to its origin, on loopback too; nothing of it goes elsewhere."""

from __future__ import annotations

import gzip

import httpx2
import pytest

from echo_bot.net.endpoint import endpoint_client
from echo_bot.testing.site import serving

KEY = {"x-api-key": "sk-secret", "authorization": "Bearer sk-secret"}


def reply(body: bytes = b"{}", *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", "connection: close", f"content-length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def test_an_endpoint_on_loopback_is_reached_and_answers_decoded() -> None:
    packed = gzip.compress(b'{"a": 1}')
    async with serving(lambda head, body: reply(packed, "content-encoding: gzip")) as site:
        client = endpoint_client(site.base, 5)
        try:
            answer = await client.post(f"{site.base}/chat", json={"q": 1}, headers=KEY)
            assert answer.json() == {"a": 1}
        finally:
            await client.aclose()
        assert "accept-encoding: gzip, deflate" in site.heads[0].lower()
        assert site.sent == {"q": 1}


async def test_another_origin_is_refused_before_anything_is_sent() -> None:
    async with serving(lambda head, body: reply()) as site, serving(lambda head, body: reply()) as other:
        client = endpoint_client(site.base, 5)
        try:
            with pytest.raises(httpx2.ConnectError, match="another site"):
                await client.get(f"{other.base}/x", headers=KEY)
        finally:
            await client.aclose()
        assert other.heads == []


@pytest.mark.parametrize("follows", [True, False])
async def test_a_redirect_that_leaves_the_origin_carries_neither_key_nor_conversation(follows: bool) -> None:
    async with serving(lambda head, body: reply()) as other:

        def away(head: str, body: bytes) -> bytes:
            return reply(b"", f"location: {other.base}/stolen", status="307 Temporary Redirect")

        async with serving(away) as site:
            client = endpoint_client(site.base, 5)
            try:
                with pytest.raises(httpx2.ConnectError, match="another site"):
                    await client.post(site.base, content=b"talk", headers=KEY, follow_redirects=follows)
            finally:
                await client.aclose()
        assert other.heads == []


async def test_a_redirect_within_the_origin_may_be_followed() -> None:
    def moved(head: str, body: bytes) -> bytes:
        if "/v1/new" in head.split("\r\n")[0]:
            return reply(b'{"here": true}')
        return reply(b"", "location: /v1/new", status="308 Permanent Redirect")

    async with serving(moved) as site:
        client = endpoint_client(site.base, 5)
        try:
            answer = await client.post(f"{site.base}/old", content=b"talk", follow_redirects=True)
            assert answer.json() == {"here": True}
        finally:
            await client.aclose()


async def test_a_server_that_is_not_there_is_a_connection_error() -> None:
    client = endpoint_client("http://127.0.0.1:9/v1", 5)
    try:
        with pytest.raises(httpx2.ConnectError):
            await client.get("http://127.0.0.1:9/v1")
    finally:
        await client.aclose()


async def test_proxies_of_the_environment_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with serving(lambda head, body: reply()) as site:
        client = endpoint_client(site.base, 5)
        try:
            assert (await client.get(site.base)).status_code == 200
        finally:
            await client.aclose()


@pytest.mark.parametrize("endpoint", ["", "ftp://a/v1", "not a url", "http://"])
def test_an_address_that_is_none_is_refused(endpoint: str) -> None:
    with pytest.raises(ValueError, match="cannot be used as an endpoint"):
        endpoint_client(endpoint, 5)
