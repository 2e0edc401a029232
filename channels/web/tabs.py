"""The open tabs and what is on its way to each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from echo_bot.events import Identity

_MAX_WAITING_FRAMES = 1000

CLOSE_TRY_AGAIN = 1013
CLOSE_RESTART = 1012


class Tab:
    """One connected page. Frames wait in a bounded line; a tab that reads too slowly is sent to resync."""

    def __init__(self, viewer: Identity) -> None:
        self.viewer = viewer
        self.closing_code: int | None = None
        self._line: asyncio.Queue[str | None] = asyncio.Queue()

    def send(self, frame: str) -> None:
        if self.closing_code is not None:
            return
        if self._line.qsize() >= _MAX_WAITING_FRAMES:
            self.close(CLOSE_TRY_AGAIN)
            return
        self._line.put_nowait(frame)

    def close(self, code: int) -> None:
        """End the connection after the frames that wait; the page connects again and gets everything."""
        if self.closing_code is None:
            self.closing_code = code
            self._line.put_nowait(None)

    async def next_frame(self) -> str | None:
        """The next frame; None once the tab is to be closed with `closing_code`."""
        return await self._line.get()


class Tabs:
    """All connected pages. A chat belongs to one log-in: its id is the viewer's sender id."""

    def __init__(self) -> None:
        self._open: set[Tab] = set()

    @contextmanager
    def joined(self, viewer: Identity) -> Iterator[Tab]:
        tab = Tab(viewer)
        self._open.add(tab)
        try:
            yield tab
        finally:
            self._open.discard(tab)

    def all(self) -> tuple[Tab, ...]:
        return tuple(self._open)

    def broadcast(self, chat_id: str, frame: str) -> None:
        for tab in self.all():
            if tab.viewer.sender_id == chat_id:
                tab.send(frame)

    def close_all(self, code: int) -> None:
        for tab in self.all():
            tab.close(code)
