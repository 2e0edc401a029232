"""Files that a message carries: read through the file door, kept as copies until they are sent."""

from __future__ import annotations

import asyncio
import mimetypes
import os
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from echo_bot.events import OutboundFile
from echo_bot.files import FileDoor, FileRefusal
from echo_bot.tools.sites import CallSite

KEEP_COPIES_SECONDS = 86400
"""A message is given up long before this."""


class OutgoingFiles:
    """`folder` is made when first needed. `now` is Unix time."""

    def __init__(
        self,
        door_of: Callable[[CallSite], FileDoor],
        workspace: str,
        folder: Path,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._door_of, self._workspace, self._folder, self._now = door_of, workspace, folder, now

    async def stage(self, site: CallSite, path: str) -> OutboundFile | str:
        """A copy to send, or the sentence that refuses."""
        return await asyncio.to_thread(self._stage, site, path)

    def sweep(self) -> int:
        """Drop copies that were sent, or given up, long ago; how many went."""
        oldest = self._now() - KEEP_COPIES_SECONDS
        dropped = 0
        for copy in self._folder.glob("*/content"):
            with suppress(OSError):
                if copy.stat().st_mtime < oldest:
                    copy.unlink()
                    dropped += 1
                    copy.parent.rmdir()
        return dropped

    def _stage(self, site: CallSite, path: str) -> OutboundFile | str:
        content = self._door_of(site).read_bytes(path, self._workspace)
        if isinstance(content, FileRefusal):
            return content.sentence
        self.sweep()
        name = os.path.basename(path) or "file"
        folder = self._folder / uuid.uuid4().hex
        folder.mkdir(parents=True, mode=0o700)
        copy = folder / "content"
        copy.write_bytes(content.data)
        mime = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return OutboundFile(str(copy), name, mime)
