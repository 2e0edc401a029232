"""The reference server `@modelcontextprotocol/server-everything`, from npm."""

from __future__ import annotations

from tests.node_tools import npm_package

PACKAGE = "@modelcontextprotocol/server-everything"
VERSION = "2026.8.31"


def everything() -> tuple[str, ...]:
    """The command that starts it, over stdio."""
    installed = npm_package(PACKAGE, VERSION)
    return (installed.node, str(installed.folder / "dist" / "index.js"), "stdio")
