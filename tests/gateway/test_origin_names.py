"""Which Host and Origin headers the gateway believes."""

from __future__ import annotations

import pytest

from echo_bot.gateway.origin import Names, reachable_host

LOCAL = Names("127.0.0.1", 8765)
OPEN = Names("0.0.0.0", 8765, allowed_hosts=("bot.example.org", "lan.example:9000"))
WITH_ORIGIN = Names("127.0.0.1", 8765, allowed_origins=("https://panel.example.org/",))


@pytest.mark.parametrize(
    ("names", "host", "scheme", "known"),
    [
        pytest.param(LOCAL, "127.0.0.1:8765", "http", True, id="the loopback address with the port"),
        pytest.param(LOCAL, "localhost:8765", "ws", True, id="localhost, over a WebSocket"),
        pytest.param(LOCAL, "LocalHost.:8765", "http", True, id="case and a closing dot do not matter"),
        pytest.param(LOCAL, "[::1]:8765", "http", True, id="the IPv6 loopback address"),
        pytest.param(LOCAL, "localhost", "http", False, id="localhost without the port means port 80"),
        pytest.param(LOCAL, "localhost:9999", "http", False, id="another port"),
        pytest.param(LOCAL, "evil.example:8765", "http", False, id="a rebinding name"),
        pytest.param(LOCAL, "localhost.evil.example:8765", "http", False, id="a name that begins like ours"),
        pytest.param(LOCAL, "evil.localhost:8765", "http", False, id="a name that ends like ours"),
        pytest.param(LOCAL, "user@localhost:8765", "http", False, id="user information in front"),
        pytest.param(LOCAL, "localhost:8765:8765", "http", False, id="two ports"),
        pytest.param(LOCAL, "localhost:٨٧٦٥", "http", False, id="digits of another script"),
        pytest.param(LOCAL, "", "http", False, id="an empty host"),
        pytest.param(LOCAL, ":8765", "http", False, id="a port alone"),
        pytest.param(OPEN, "bot.example.org", "https", True, id="an allowed host on its default port"),
        pytest.param(
            OPEN, "bot.example.org:444", "https", True, id="an allowed host without a port: any port"
        ),
        pytest.param(OPEN, "lan.example:9000", "http", True, id="an allowed host with its port"),
        pytest.param(OPEN, "lan.example:9001", "http", False, id="an allowed host with another port"),
        pytest.param(OPEN, "sub.bot.example.org", "https", False, id="a subdomain of an allowed host"),
        pytest.param(OPEN, "0.0.0.0:8765", "http", False, id="the wildcard address is nobody's name"),
        pytest.param(Names("192.0.2.7", 80), "192.0.2.7", "http", True, id="the address it is bound to"),
        pytest.param(Names("2001:db8::7", 80), "[2001:db8::7]", "http", True, id="a bound IPv6 address"),
    ],
)
def test_host(names: Names, host: str, scheme: str, known: bool) -> None:
    assert names.knows_host(host, scheme) is known


@pytest.mark.parametrize(
    ("names", "origin", "host", "scheme", "known"),
    [
        pytest.param(LOCAL, "http://localhost:8765", "localhost:8765", "http", True, id="same origin"),
        pytest.param(
            LOCAL, "http://localhost:8765", "localhost:8765", "ws", True, id="same origin, WebSocket"
        ),
        pytest.param(
            LOCAL, "https://a.example", "a.example:443", "https", True, id="the default port is implied"
        ),
        pytest.param(
            LOCAL, "http://127.0.0.1:8765", "localhost:8765", "http", False, id="another loopback name"
        ),
        pytest.param(
            LOCAL, "http://localhost:3000", "localhost:8765", "http", False, id="another local port"
        ),
        pytest.param(LOCAL, "https://localhost:8765", "localhost:8765", "http", False, id="another scheme"),
        pytest.param(LOCAL, "https://evil.example", "localhost:8765", "http", False, id="another site"),
        pytest.param(LOCAL, "null", "localhost:8765", "http", False, id="a sandboxed frame"),
        pytest.param(LOCAL, "", "localhost:8765", "http", False, id="an empty origin"),
        pytest.param(
            WITH_ORIGIN, "https://panel.example.org", "localhost:8765", "ws", True, id="allowed by name"
        ),
        pytest.param(
            WITH_ORIGIN, "http://panel.example.org", "localhost:8765", "ws", False, id="not its http twin"
        ),
    ],
)
def test_origin(names: Names, origin: str, host: str, scheme: str, known: bool) -> None:
    assert names.knows_origin(origin, host, scheme) is known


@pytest.mark.parametrize(
    ("bound", "reachable"),
    [
        pytest.param("127.0.0.1", "127.0.0.1", id="an address is itself"),
        pytest.param("0.0.0.0", "127.0.0.1", id="every IPv4 address includes loopback"),
        pytest.param("::", "[::1]", id="every IPv6 address includes loopback"),
        pytest.param("2001:db8::7", "[2001:db8::7]", id="IPv6 goes into brackets"),
    ],
)
def test_the_link_names_a_host_this_machine_reaches(bound: str, reachable: str) -> None:
    assert reachable_host(bound) == reachable
