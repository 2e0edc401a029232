"""Names to addresses: the one place that asks the system's resolver."""

from __future__ import annotations

import asyncio
import socket
from typing import Protocol


class Resolver(Protocol):
    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """All addresses of an ASCII host, in the order to try them; empty when there is none."""
        ...


class SystemResolver:
    """Asks getaddrinfo, in a thread."""

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        loop = asyncio.get_running_loop()
        try:
            answers = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return ()
        return tuple(dict.fromkeys(str(answer[4][0]) for answer in answers))
