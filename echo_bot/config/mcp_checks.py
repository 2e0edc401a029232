"""What is wrong with an MCP server's section though each of its keys is well-formed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from echo_bot.config.base import is_http_address
from echo_bot.config.model import Config
from echo_bot.config.tools import McpServer

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OURS = ("ECHO_BOT_", "ECHO_AGENT_")
_SET_BY_US = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "mcp-protocol-version",
        "mcp-session-id",
        "transfer-encoding",
    }
)


def wrong_servers(config: Config) -> Iterator[tuple[str, str]]:
    """Keys, each with what is wrong."""
    servers = config.tools.mcp_servers
    for name, server in servers.items():
        key = f"tools.mcp_servers.{name}"
        yield from ((f"{key}.{part}" if part else key, why) for part, why in _wrong(server))
        for other in servers:
            if other != name and name.startswith(f"{other}_"):
                yield key, f"the tools of {name} could not be told from those of {other}; choose another name"


def _wrong(server: McpServer) -> Iterator[tuple[str, str]]:
    if bool(server.command) == bool(server.url):
        both = "" if not server.url else ", not both"
        yield "url" if server.url else "", f"needs command (a program) or url (an address){both}"
        return
    if server.url:
        yield from _wrong_url(server)
    else:
        yield from _wrong_program(server)


def _wrong_url(server: McpServer) -> Iterator[tuple[str, str]]:
    if not is_http_address(server.url):
        yield "url", "must be the address of a server, like https://example.com/mcp"
    elif (parts := urlsplit(server.url)).username or parts.password:
        yield "url", "holds a name or password; write them as headers"
    elif parts.fragment:
        yield "url", "holds a fragment (#…), which is never sent; remove it"
    for key, is_set in (("args", bool(server.args)), ("env", bool(server.env))):
        if is_set:
            yield key, "belongs to a command; a server at a url takes headers"
    for name, value in server.headers.items():
        if not _HEADER.fullmatch(name) or name.lower() in _SET_BY_US:
            yield f"headers.{name}", "is no header that can be set here"
        elif not _is_header_value(value.get_secret_value()):
            yield f"headers.{name}", "holds characters that no header can hold"


def _wrong_program(server: McpServer) -> Iterator[tuple[str, str]]:
    if server.headers:
        yield "headers", "belongs to a url; a program takes env"
    if "\0" in "".join((server.command, *server.args)):
        yield "command", "holds a character that no command can hold"
    for name, value in server.env.items():
        if not _VARIABLE.fullmatch(name) or name.upper().startswith(_OURS):
            yield f"env.{name}", "is no variable that a server can be given"
        elif "\0" in value.get_secret_value():
            yield f"env.{name}", "holds a character that no variable can hold"


def _is_header_value(value: str) -> bool:
    return value.isascii() and value.isprintable() and value == value.strip()
