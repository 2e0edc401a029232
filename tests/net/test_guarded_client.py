"""The guarded client over real loopback sockets, through an injected resolver and address rule."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
import pytest

from echo_bot.net import Fetch, Fetched, FetchFailed, FetchLimits, GuardedClient, NetRefused, Refused
from echo_bot.net.transport import guarded_transport
from echo_bot.policy.guards.network import NetworkRules, judge_address

ALLOW = NetworkRules("allow")


@dataclass
class Server:
    """Answers every request with what `answer` makes of its head; remembers the heads."""

    answer: Callable[[str], bytes]
    heads: list[str] = field(default_factory=list)
    port: int = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.heads.append(head)
            writer.write(self.answer(head))
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving(answer: Callable[[str], bytes]) -> AsyncIterator[Server]:
    server = Server(answer)
    async with await asyncio.start_server(server.handle, "127.0.0.1", 0) as running:
        server.port = running.sockets[0].getsockname()[1]
        yield server


class Names:
    """A resolver that knows everything as loopback, except what the test says."""

    def __init__(self, **answers: tuple[str, ...]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        self.asked.append(host)
        return self.answers.get(host.partition(".")[0], ("127.0.0.1",))


def loopback_is_public(address: str) -> str | None:
    return None if address == "127.0.0.1" else judge_address(address)


def client(names: Names | None = None, limits: FetchLimits | None = None) -> GuardedClient:
    transport = guarded_transport(ALLOW, resolver=names or Names(), rule=loopback_is_public)
    return GuardedClient(transport, limits)


def reply(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", "connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def test_an_answer_is_fetched_and_the_name_stays_in_the_host_header() -> None:
    names = Names()
    async with serving(lambda head: reply(b"hello", "content-length: 5", "X-A: b")) as server:
        outcome = await client(names).fetch(Fetch(f"http://site.example:{server.port}/a?b=c#d"))
    assert isinstance(outcome, Fetched)
    assert (outcome.status, outcome.body, outcome.headers["x-a"]) == (200, b"hello", "b")
    assert server.heads[0].startswith("GET /a?b=c HTTP/1.1\r\n")
    assert f"host: site.example:{server.port}" in server.heads[0].lower()
    assert names.asked == ["site.example"]


async def test_the_default_rule_refuses_loopback_before_any_request() -> None:
    async with serving(lambda head: reply(b"")) as server:
        guarded = GuardedClient(guarded_transport(ALLOW, resolver=Names()))
        outcome = await guarded.fetch(Fetch(f"http://site.example:{server.port}/"))
    assert isinstance(outcome, Refused)
    assert (outcome.finding.kind, outcome.hop, server.heads) == ("private_address", 0, [])


async def test_one_private_answer_among_public_ones_refuses_the_name() -> None:
    names = Names(mixed=("127.0.0.1", "10.0.0.7"))
    async with serving(lambda head: reply(b"")) as server:
        outcome = await client(names).fetch(Fetch(f"http://mixed.example:{server.port}/"))
    assert isinstance(outcome, Refused)
    assert server.heads == []


async def test_a_redirect_into_the_network_is_refused_at_its_hop() -> None:
    names = Names(inner=("10.0.0.7",))
    location = "location: http://inner.example/"
    async with serving(lambda head: reply(b"", location, status="302 Found")) as server:
        outcome = await client(names).fetch(Fetch(f"http://site.example:{server.port}/"))
    assert isinstance(outcome, Refused)
    assert (outcome.finding.kind, outcome.hop) == ("private_address", 1)


@pytest.mark.parametrize(
    ("location", "kind"),
    [("file:///etc/passwd", "bad_scheme"), ("http://a\\b/", "bad_url"), ("//2130706433/", "bad_host")],
)
async def test_a_redirect_to_a_bad_address_is_refused(location: str, kind: str) -> None:
    async with serving(lambda head: reply(b"", f"location: {location}", status="307 Go")) as server:
        outcome = await client().fetch(Fetch(f"http://site.example:{server.port}/"))
    assert isinstance(outcome, Refused)
    assert (outcome.finding.kind, outcome.hop) == (kind, 1)


async def test_credentials_do_not_follow_to_another_origin() -> None:
    def answer(head: str) -> bytes:
        if "GET /start" in head:
            return reply(b"", f"location: http://other.example:{server.port}/end", status="302 Found")
        return reply(b"done")

    headers = {"Authorization": "Bearer x", "Cookie": "a=b", "X-Api-Key": "k", "Accept": "text/html"}
    async with serving(answer) as server:
        outcome = await client().fetch(Fetch(f"http://site.example:{server.port}/start", headers=headers))
    assert isinstance(outcome, Fetched)
    first, second = (head.lower() for head in server.heads)
    assert all(name in first for name in ("authorization:", "cookie:", "x-api-key:", "accept: text/html"))
    assert not any(name in second for name in ("authorization:", "cookie:", "x-api-key:"))
    assert "accept: text/html" in second


async def test_a_name_in_the_url_is_not_sent() -> None:
    async with serving(lambda head: reply(b"")) as server:
        await client().fetch(Fetch(f"http://bob:secret@site.example:{server.port}/"))
    assert "authorization" not in server.heads[0].lower()


async def test_content_is_not_sent_on_to_another_site() -> None:
    location = "location: http://other.example/"
    async with serving(lambda head: reply(b"", location, status="307 Go")) as server:
        wanted = Fetch(f"http://site.example:{server.port}/", "POST", body=b"form")
        outcome = await client().fetch(wanted)
    assert isinstance(outcome, Refused)
    assert outcome.finding.kind == "bad_redirect"


async def test_a_post_becomes_a_get_after_a_303() -> None:
    def answer(head: str) -> bytes:
        return reply(b"done") if head.startswith("GET") else reply(b"", "location: /end", status="303 See")

    async with serving(answer) as server:
        outcome = await client().fetch(Fetch(f"http://site.example:{server.port}/", "POST", body=b"form"))
    assert isinstance(outcome, Fetched)
    assert [head.split(" ")[0] for head in server.heads] == ["POST", "GET"]


async def test_a_circle_of_redirects_ends() -> None:
    async with serving(lambda head: reply(b"", "location: /", status="302 Found")) as server:
        outcome = await client().fetch(Fetch(f"http://site.example:{server.port}/"))
    assert isinstance(outcome, Refused)
    assert outcome.finding.kind == "too_many_redirects"


BOMB = gzip.compress(bytes(5_000_000))


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (reply(b"", "content-length: 100001"), "too_large"),
        (reply(bytes(200_000)), "too_large"),
        (reply(BOMB, "content-encoding: gzip", f"content-length: {len(BOMB)}"), "too_large"),
        (reply(b"x", "content-encoding: br"), "bad_encoding"),
        (reply(b"no gzip", "content-encoding: gzip"), "bad_encoding"),
    ],
    ids=["declared", "received", "decoded", "an encoding not asked for", "damaged data"],
)
async def test_a_body_over_a_limit_is_refused(answer: bytes, kind: str) -> None:
    limits = FetchLimits(max_bytes=100_000)
    async with serving(lambda head: answer) as server:
        outcome = await client(limits=limits).fetch(Fetch(f"http://site.example:{server.port}/"))
    assert isinstance(outcome, Refused)
    assert outcome.finding.kind == kind


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_an_encoded_body_is_decoded(encoding: str) -> None:
    import zlib

    raw = gzip.compress(b"page" * 100) if encoding == "gzip" else zlib.compress(b"page" * 100)
    async with serving(lambda head: reply(raw, f"content-encoding: {encoding}")) as server:
        outcome = await client().fetch(Fetch(f"http://site.example:{server.port}/"))
    assert isinstance(outcome, Fetched)
    assert outcome.body == b"page" * 100


async def test_the_deadline_holds_for_a_silent_server() -> None:
    silent = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await silent.wait()
        writer.close()

    async with await asyncio.start_server(hang, "127.0.0.1", 0) as running:
        port = running.sockets[0].getsockname()[1]
        limits = FetchLimits(total_seconds=0.2)
        outcome = await client(limits=limits).fetch(Fetch(f"http://site.example:{port}/"))
        silent.set()
    assert isinstance(outcome, Refused)
    assert outcome.finding.kind == "too_slow"


async def test_a_closed_port_is_a_failure_not_a_refusal() -> None:
    async with serving(lambda head: reply(b"")) as server:
        port = server.port
    outcome = await client().fetch(Fetch(f"http://site.example:{port}/"))
    assert isinstance(outcome, FetchFailed)


async def test_a_proxy_in_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9/")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9/")
    async with serving(lambda head: reply(b"direct")) as server:
        outcome = await client().fetch(Fetch(f"http://site.example:{server.port}/"))
    assert isinstance(outcome, Fetched)


async def test_an_operators_endpoint_is_reached_on_loopback_and_nothing_else_is() -> None:
    def answer(head: str) -> bytes:
        if "/leave" in head:
            return reply(b"", f"location: http://localhost.example:{server.port}/", status="302 Found")
        return reply(b"model")

    async with serving(answer) as server:
        endpoint = f"http://127.0.0.1:{server.port}/v1"
        transport = guarded_transport(ALLOW, endpoints=[endpoint], resolver=Names())
        async with httpx.AsyncClient(transport=transport, trust_env=False, follow_redirects=True) as http:
            assert (await http.get(endpoint)).text == "model"
            with pytest.raises(NetRefused, match="not a public address"):
                await http.get(f"http://127.0.0.1:{server.port}/leave")
            with pytest.raises(NetRefused, match="not a public address"):
                await http.get("http://127.0.0.1:9/")


async def test_a_proxy_is_used_for_the_configured_origins_and_for_no_other_host() -> None:
    async with (
        serving(lambda head: reply(b"by proxy", "content-length: 8")) as proxy,
        serving(lambda head: reply(b"direct", "content-length: 6")) as other,
    ):
        transport = guarded_transport(
            ALLOW,
            endpoints=["http://api.example:81/bot"],
            proxy=f"http://127.0.0.1:{proxy.port}",
            resolver=Names(),
            rule=loopback_is_public,
        )
        client = GuardedClient(transport)
        through = await client.fetch(Fetch("http://api.example:81/file/a", headers={"X-Key": "k"}))
        straight = await client.fetch(Fetch(f"http://cdn.example:{other.port}/a"))
        await client.aclose()
    assert isinstance(through, Fetched)
    assert isinstance(straight, Fetched)
    assert (through.body, straight.body) == (b"by proxy", b"direct")
    assert proxy.heads[0].startswith("GET http://api.example:81/file/a HTTP/1.1\r\n")
    assert len(proxy.heads) == 1
