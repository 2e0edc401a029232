"""May a request with this Host and this Origin reach the bot? Pure answers against DNS rebinding and CSRF."""

from __future__ import annotations

from dataclasses import dataclass

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
_WILDCARD_HOSTS = frozenset({"", "0.0.0.0", "::"})
_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_WEB_SCHEME = {"ws": "http", "wss": "https"}


@dataclass(frozen=True, slots=True)
class Names:
    """The names the bot answers to: loopback and the bound host at `port`, and what the operator allowed."""

    bound_host: str
    port: int
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()

    def knows_host(self, host: str, scheme: str) -> bool:
        """`host` is the Host header as sent. An allowed entry without a port stands for every port."""
        name, port = _split(host, scheme)
        if not name:
            return False
        if port == self.port and name in self._own_names():
            return True
        return any(_matches(entry, name, port, scheme) for entry in self.allowed_hosts)

    def knows_origin(self, origin: str, host: str, scheme: str) -> bool:
        """Same origin as the request itself, or written down by the operator. "null" is neither."""
        sent = origin.rstrip("/").lower()
        if sent in {entry.rstrip("/").lower() for entry in self.allowed_origins}:
            return True
        origin_scheme, separator, authority = sent.partition("://")
        if not separator or origin_scheme != _WEB_SCHEME.get(scheme, scheme):
            return False
        return _split(authority, origin_scheme) == _split(host, scheme)

    def _own_names(self) -> frozenset[str]:
        if self.bound_host in _WILDCARD_HOSTS:
            return LOOPBACK_NAMES
        return LOOPBACK_NAMES | {bracketed(self.bound_host.lower())}


def bracketed(host: str) -> str:
    """The host as a URL writes it: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def reachable_host(bound_host: str) -> str:
    """A name under which this machine itself reaches a server bound to `bound_host`."""
    if bound_host in _WILDCARD_HOSTS:
        return "[::1]" if bound_host == "::" else "127.0.0.1"
    return bracketed(bound_host)


def _matches(entry: str, name: str, port: int, scheme: str) -> bool:
    entry_name, entry_port = _split(entry, scheme)
    has_port = entry.rpartition(":")[2].isdigit() and not entry.endswith("]")
    return entry_name == name and (not has_port or entry_port == port)


def _split(authority: str, scheme: str) -> tuple[str, int]:
    """Name in lower case without a closing dot, and port. ("", 0) for what is not `name` or `name:port`."""
    name, colon, port = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        name, port = authority, str(_DEFAULT_PORTS.get(scheme, 0))
    is_plain = bool(name) and not any(char in name for char in "/@ ,?#\\")
    is_address = name.startswith("[") == name.endswith("]") and (":" not in name or name.startswith("["))
    if not (is_plain and is_address and port.isascii() and port.isdigit() and len(port) <= 5):
        return "", 0
    return name.lower().rstrip("."), int(port)
