"""The images that came with a message, read from the workspace again for every request that shows them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from echo_bot.agent.received.files import MOST_IMAGE_BYTES, ReceivedFile, images_shown
from echo_bot.agent.received.storing import Storing
from echo_bot.files import FileRefusal
from echo_bot.policy.settings import PlaceSettings
from echo_bot.tools.media.kinds import image_kind
from echo_bot.tools.media.seeing import Image


class ReceivedImages:
    """Nothing is kept in memory: a turn may wait for days."""

    def __init__(self, places: PlaceSettings) -> None:
        self._storing = Storing(places)

    async def read(self, files: Sequence[ReceivedFile]) -> tuple[Image, ...]:
        """Those that a model may be shown; one that is gone, or no image any more, is left out."""
        return await asyncio.to_thread(self._read, images_shown(files))

    def _read(self, files: Sequence[ReceivedFile]) -> tuple[Image, ...]:
        found: list[Image] = []
        left = MOST_IMAGE_BYTES
        for file in files:
            data = self._storing.read(file.path, left)
            if isinstance(data, FileRefusal) or (kind := image_kind(data)) is None:
                continue
            found.append(Image(data, kind))
            left -= len(data)
        return tuple(found)
