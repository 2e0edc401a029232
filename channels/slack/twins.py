"""A mention in a channel comes twice, as `app_mention` and as `message`, in either order."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

_REMEMBERED = 1000
_PATIENCE_SECONDS = 0.5
"""An app that is subscribed to mentions alone gets no `message`: then the mention counts as it is."""


class Twins:
    """Lets the `message` go first where both come, since Slack may leave the files out of the mention."""

    def __init__(self, patience_seconds: float = _PATIENCE_SECONDS) -> None:
        self._patience_seconds = patience_seconds
        self._come: OrderedDict[str, asyncio.Event] = OrderedDict()

    def has_come(self, place: str) -> None:
        """The `message` at this place, which is a channel and a ts, is here."""
        self._at(place).set()

    async def wait(self, place: str) -> None:
        """Before the mention at this place is read. Returns once its `message` came, or without it."""
        try:
            async with asyncio.timeout(self._patience_seconds):
                await self._at(place).wait()
        except TimeoutError:
            return

    def _at(self, place: str) -> asyncio.Event:
        found = self._come.setdefault(place, asyncio.Event())
        self._come.move_to_end(place)
        while len(self._come) > _REMEMBERED:
            self._come.popitem(last=False)
        return found
