"""How many connections the server keeps: callers who open ever more leave handles for the bot's own work."""

from __future__ import annotations

import asyncio
import resource

from uvicorn.protocols.http.h11_impl import H11Protocol

_MOST = 4096


def most_connections() -> int:
    """Half of the file handles that this process may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else min(_MOST, max(1, soft // 2))


def protocol_with(most: int) -> type[asyncio.Protocol]:
    """uvicorn's protocol, closing a connection beyond `most` and one on which no request arrives in time."""

    class Bounded(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
            super().connection_made(transport)
            if len(self.connections) > most:
                transport.abort()
                return
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

        def data_received(self, data: bytes) -> None:
            # uvicorn's own stops the clock at the first byte; here it runs until a request's head is whole.
            self.conn.receive_data(data)
            self.handle_events()

    return Bounded
