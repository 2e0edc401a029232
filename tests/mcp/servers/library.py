"""An MCP server made with the Python SDK. `library.py stdio`, or `library.py http`: prints its port."""

from __future__ import annotations

import asyncio
import socket
import sys

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("library")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
async def wait(seconds: float) -> str:
    """Wait, then say so."""
    await asyncio.sleep(seconds)
    return "waited"


@server.tool()
async def grow(ctx: Context) -> str:
    """Add a tool to this server."""
    server.add_tool(subtract)
    await ctx.notify_tools_changed()
    return "grown"


def subtract(a: int, b: int) -> int:
    """Subtract b from a."""
    return a - b


async def serve_http() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="error", lifespan="on")
    await uvicorn.Server(config).serve(sockets=[listener])


if sys.argv[1] == "http":
    asyncio.run(serve_http())
else:
    server.run("stdio")
