"""The gateway over real sockets: log-in, the wall, refusals, and that stopping leaves nothing behind."""

from __future__ import annotations

import asyncio
import hashlib
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie
from pathlib import Path

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from echo_bot.channel import AsgiApp
from echo_bot.errors import StartError, StorageError
from echo_bot.gateway import Gateway, GatewaySettings
from echo_bot.gateway.edge import Receive, Scope, Send
from echo_bot.storage.store import SqlStore, open_store


class Clock:
    """Time that moves when told."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


async def who_looks(scope: Scope, receive: Receive, send: Send) -> None:
    """A channel's routes: answers with the viewer's name; echoes over a WebSocket."""
    viewer = str(scope["state"]["viewer"])
    if scope["type"] == "http":
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": viewer.encode()})
        return
    await receive()
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.send", "text": viewer})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    opened = await open_store(f"sqlite+aiosqlite:///{tmp_path}/gateway.db")
    yield opened
    await opened.close()


@asynccontextmanager
async def serving(
    store: SqlStore,
    clock: Callable[[], datetime],
    app: AsgiApp = who_looks,
    settings: GatewaySettings | None = None,
) -> AsyncIterator[Gateway]:
    gateway = Gateway(settings or GatewaySettings(port=0), store.logins, clock, {"/": app})
    await gateway.start()
    try:
        yield gateway
    finally:
        await gateway.stop()


def client(gateway: Gateway, cookie: str = "") -> httpx.AsyncClient:
    headers = {"Cookie": f"echo_bot_session={cookie}"} if cookie else {}
    return httpx.AsyncClient(base_url=gateway.url, headers=headers, trust_env=False, verify=False)


async def log_in(gateway: Gateway) -> str:
    """The cookie's value after a log-in by a new link."""
    async with client(gateway) as browser:
        answer = await browser.post(await gateway.new_login_link())
        return str(SimpleCookie(answer.headers["set-cookie"])["echo_bot_session"].value)


async def test_looking_at_a_link_does_not_spend_it(store: SqlStore) -> None:
    async with serving(store, Clock()) as gateway, client(gateway) as browser:
        link = await gateway.new_login_link()
        looks = [await browser.get(link) for _ in range(3)]
        answer = await browser.post(link)
    assert [look.status_code for look in looks] == [200, 200, 200]
    assert "Continue" in looks[0].text
    assert "set-cookie" not in looks[0].headers
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


async def test_a_link_logs_in_once_even_when_two_press_at_once(store: SqlStore) -> None:
    async with (
        serving(store, Clock()) as gateway,
        client(gateway) as one,
        client(gateway) as other,
        client(gateway) as third,
    ):
        link = await gateway.new_login_link()
        answers = await asyncio.gather(one.post(link), other.post(link))
        later = await third.get(link)
    assert sorted(answer.status_code for answer in answers) == [303, 410]
    assert later.status_code == 410
    assert "echo-bot login" in later.text


async def test_a_link_ends_after_ten_minutes(store: SqlStore) -> None:
    clock = Clock()
    async with serving(store, clock) as gateway, client(gateway) as browser:
        link = await gateway.new_login_link()
        clock.now += timedelta(minutes=10, seconds=1)
        assert (await browser.get(link)).status_code == 410
        assert (await browser.post(link)).status_code == 410


async def test_the_cookie_is_strict_and_ends_after_thirty_days(store: SqlStore) -> None:
    clock = Clock()
    async with serving(store, clock) as gateway, client(gateway) as browser:
        answer = await browser.post(await gateway.new_login_link())
        morsel = SimpleCookie(answer.headers["set-cookie"])["echo_bot_session"]
        assert (morsel["httponly"], morsel["samesite"], morsel["path"]) == (True, "strict", "/")
        assert not morsel["secure"]
        assert morsel["max-age"] == str(30 * 24 * 3600)
        async with client(gateway, morsel.value) as visitor:
            clock.now += timedelta(days=29)
            assert (await visitor.get("/")).text == "web:local"
            clock.now += timedelta(days=2)
            assert (await visitor.get("/")).status_code == 401


async def test_behind_a_tls_proxy_on_this_machine_the_cookie_is_secure(store: SqlStore) -> None:
    async with serving(store, Clock()) as gateway, client(gateway) as browser:
        link = await gateway.new_login_link()
        answer = await browser.post(link, headers={"X-Forwarded-Proto": "https"})
    assert SimpleCookie(answer.headers["set-cookie"])["echo_bot_session"]["secure"] is True


async def test_a_cookie_survives_a_new_gateway_over_the_same_store(store: SqlStore) -> None:
    async with serving(store, Clock()) as first:
        cookie = await log_in(first)
    async with serving(store, Clock()) as second, client(second, cookie) as visitor:
        assert (await visitor.get("/anywhere")).text == "web:local"


async def test_the_store_holds_no_secret(store: SqlStore, tmp_path: Path) -> None:
    async with serving(store, Clock()) as gateway:
        cookie = await log_in(gateway)
        secret = (await gateway.new_login_link()).rpartition("/")[2]
        assert await store.logins.link_is_open(hashlib.sha256(secret.encode()).hexdigest(), Clock().now)
    await store.close()
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert secret.encode() not in data
    assert cookie.encode() not in data
    assert hashlib.sha256(cookie.encode()).hexdigest().encode() in data


async def test_a_visitor_without_log_in_is_told_what_to_do(store: SqlStore) -> None:
    async with serving(store, Clock()) as gateway, client(gateway, "wrong") as visitor:
        answer = await visitor.get("/")
    assert answer.status_code == 401
    assert "echo-bot run" in answer.text


async def test_log_out_ends_the_cookie_and_its_open_sockets(store: SqlStore) -> None:
    async with serving(store, Clock()) as gateway:
        cookie, other_cookie = await log_in(gateway), await log_in(gateway)
        async with open_socket(gateway, cookie) as mine, open_socket(gateway, other_cookie) as theirs:
            assert await mine.recv() == await theirs.recv() == "web:local"
            async with client(gateway, cookie) as visitor:
                assert (await visitor.post("/logout")).status_code == 200
                assert (await visitor.get("/")).status_code == 401
            with pytest.raises(ConnectionClosed) as closed:
                await mine.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4401
            await theirs.send("still here")
            assert await theirs.recv() == "still here"


async def test_an_open_socket_obeys_nobody_whose_log_in_has_run_out(store: SqlStore) -> None:
    clock = Clock()
    async with serving(store, clock) as gateway, open_socket(gateway, await log_in(gateway)) as mine:
        assert await mine.recv() == "web:local"
        clock.now += timedelta(days=29)
        await mine.send("still here")
        assert await mine.recv() == "still here"
        clock.now += timedelta(days=2)
        await mine.send("and now?")
        with pytest.raises(ConnectionClosed) as closed:
            await mine.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401


async def test_an_open_page_is_heard_while_the_store_cannot_be_read(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuses(*_: object) -> None:
        raise StorageError("the database is locked")

    async with serving(store, Clock()) as gateway, open_socket(gateway, await log_in(gateway)) as mine:
        assert await mine.recv() == "web:local"
        monkeypatch.setattr(store.logins, "cookie", refuses)
        await mine.send("still here")
        assert await mine.recv() == "still here"


def open_socket(gateway: Gateway, cookie: str = "", origin: str = "") -> connect:
    return connect(
        gateway.url.replace("http", "ws") + "/ws",
        additional_headers={
            **({"Cookie": f"echo_bot_session={cookie}"} if cookie else {}),
            **({"Origin": origin} if origin else {}),
        },
        proxy=None,
    )


async def test_a_socket_without_log_in_is_closed_with_4401(store: SqlStore) -> None:
    async with serving(store, Clock()) as gateway, open_socket(gateway) as stranger:
        with pytest.raises(ConnectionClosed) as closed:
            await stranger.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401


async def test_a_socket_from_another_site_is_refused_though_it_has_the_cookie(store: SqlStore) -> None:
    async with serving(store, Clock()) as gateway:
        cookie = await log_in(gateway)
        for origin in ("https://evil.example", "http://127.0.0.1:1", "null"):
            with pytest.raises(InvalidStatus) as refused:
                await open_socket(gateway, cookie, origin)
            assert refused.value.response.status_code == 403


async def test_a_post_from_another_site_is_refused(store: SqlStore) -> None:
    async with serving(store, Clock()) as gateway, client(gateway, await log_in(gateway)) as visitor:
        link = await gateway.new_login_link()
        for path in ("/logout", link, "/anything"):
            answer = await visitor.post(path, headers={"Origin": "https://evil.example"})
            assert answer.status_code == 403
            assert "gateway.allowed_origins" in answer.text
        assert (await visitor.get("/")).status_code == 200
        assert (await visitor.post(link, headers={"Origin": gateway.url})).status_code == 303


async def test_a_foreign_host_name_is_refused_everywhere(store: SqlStore) -> None:
    async with serving(store, Clock()) as gateway, client(gateway) as visitor:
        for path in ("/", "/healthz", "/login/x"):
            answer = await visitor.get(path, headers={"Host": "rebound.example"})
            assert answer.status_code == 403
            assert "gateway.allowed_hosts" in answer.text


async def test_an_allowed_host_name_is_served(store: SqlStore) -> None:
    settings = GatewaySettings(port=0, allowed_hosts=("bot.example.org",))
    async with serving(store, Clock(), settings=settings) as gateway, client(gateway) as visitor:
        answer = await visitor.get("/healthz", headers={"Host": "bot.example.org"})
    assert answer.json() == {"status": "ok"}


async def test_a_body_over_the_limit_is_refused_by_its_length_and_by_counting(store: SqlStore) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x" * 100_000

    settings = GatewaySettings(port=0, max_body_mb=1)
    async with (
        serving(store, Clock(), settings=settings) as gateway,
        client(gateway, await log_in(gateway)) as visitor,
    ):
        small = await visitor.post("/", content=b"x" * 1_000_000)
        declared = await visitor.post("/", content=b"x" * 1_100_000)
        counted = await visitor.post("/", content=endless())
    assert [small.status_code, declared.status_code, counted.status_code] == [200, 413, 413]
    assert "gateway.max_body_mb" in counted.text


async def test_every_answer_carries_the_security_headers(store: SqlStore) -> None:
    async with serving(store, Clock()) as gateway, client(gateway) as visitor:
        answers = [await visitor.get(path) for path in ("/", "/healthz", "/login/x", "/no/such/path")]
        answers.append(await visitor.get(await gateway.new_login_link()))
        answers.append(await visitor.get("/", headers={"Host": "rebound.example"}))
    for headers in (answer.headers for answer in answers):
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe-inline" not in headers["content-security-policy"]
        assert "server" not in headers


async def test_a_taken_port_is_a_start_error_that_says_what_to_do(store: SqlStore) -> None:
    async with serving(store, Clock()) as gateway:
        port = int(gateway.url.rpartition(":")[2])
        second = Gateway(GatewaySettings(port=port), store.logins, Clock(), {})
        with pytest.raises(StartError, match=rf"port {port} on 127\.0\.0\.1 is taken.*gateway\.port"):
            await second.start()
        await second.stop()


async def test_an_address_of_another_machine_is_a_start_error(store: SqlStore) -> None:
    with pytest.raises(StartError, match=r"no address 192\.0\.2\.1: set gateway\.host"):
        await Gateway(GatewaySettings(host="192.0.2.1", port=0), store.logins, Clock(), {}).start()


async def test_there_is_no_link_while_it_does_not_serve(store: SqlStore) -> None:
    with pytest.raises(StartError, match="start it first"):
        await Gateway(GatewaySettings(port=0), store.logins, Clock(), {}).new_login_link()


async def test_stopping_is_quick_and_leaves_no_task_no_socket_and_no_signal_handler(store: SqlStore) -> None:
    loop = asyncio.get_running_loop()
    handler = signal.getsignal(signal.SIGTERM)
    before = asyncio.all_tasks()
    gateway = Gateway(GatewaySettings(port=0), store.logins, Clock(), {"/": who_looks})
    url = await gateway.start()
    port = int(url.rpartition(":")[2])
    assert signal.getsignal(signal.SIGTERM) is handler
    socket_in_use = await open_socket(gateway, await log_in(gateway))
    idle = socket.create_connection(("127.0.0.1", port))
    started = loop.time()
    await gateway.stop()
    assert loop.time() - started < 5
    await gateway.stop()
    with pytest.raises(ConnectionClosed):
        await asyncio.wait_for(_drain(socket_in_use.recv), 10)
    await socket_in_use.wait_closed()
    assert idle.recv(1) == b""
    idle.close()
    assert {task for task in asyncio.all_tasks() - before if not task.done()} == set()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port))


async def _drain(recv: Callable[..., object]) -> None:
    while True:
        await recv()  # type: ignore[misc]


async def test_a_request_that_never_ends_does_not_hold_up_the_stop(store: SqlStore) -> None:
    reached = asyncio.Event()

    async def never_ends(scope: Scope, receive: Receive, send: Send) -> None:
        reached.set()
        await asyncio.Event().wait()

    loop = asyncio.get_running_loop()
    gateway = Gateway(GatewaySettings(port=0), store.logins, Clock(), {"/": never_ends})
    await gateway.start()
    async with client(gateway, await log_in(gateway)) as visitor:
        request = asyncio.create_task(visitor.get("/", timeout=10))
        await reached.wait()
        started = loop.time()
        await gateway.stop()
        assert loop.time() - started < 5
        await asyncio.gather(request, return_exceptions=True)
