"""Files the bot delivered: a private copy of each, reachable by an opaque id until the bot stops."""

from __future__ import annotations

import asyncio
import mimetypes
import secrets
import shutil
import tempfile
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from channels.web.wire import FileLink
from echo_bot.errors import TargetGone
from echo_bot.events import OutboundFile

_MAX_FILES = 64
_MAX_TOTAL_BYTES = 512 * 1024 * 1024
_DRAWN_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


@dataclass(frozen=True, slots=True)
class SentFile:
    """A copy as it was when it was sent; later changes of the original do not show."""

    path: Path
    link: FileLink


class SentFiles:
    """Keeps the newest files up to a number and a total size; older links answer 404."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._by_id: OrderedDict[str, SentFile] = OrderedDict()
        self._by_message: dict[str, str] = {}

    async def keep(self, file: OutboundFile, message_id: str) -> FileLink:
        """Copy the file. Raises TargetGone when it cannot be read."""
        file_id = secrets.token_urlsafe(24)
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="echo-bot-web-"))
        copy = self._folder / file_id
        try:
            await asyncio.to_thread(shutil.copyfile, file.path, copy)
        except OSError as error:
            raise TargetGone(f"the file {file.name} cannot be read: {error.strerror}") from error
        mime = file.mime or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        link = FileLink(
            url=f"files/{file_id}",
            name=file.name,
            mime=mime,
            size=copy.stat().st_size,
            inline=mime in _DRAWN_TYPES,
        )
        self._by_id[file_id] = SentFile(copy, link)
        self._by_message[message_id] = file_id
        self._drop_old()
        return link

    def get(self, file_id: str) -> SentFile | None:
        return self._by_id.get(file_id)

    def of_message(self, message_id: str) -> FileLink | None:
        sent = self._by_id.get(self._by_message.get(message_id, ""))
        return sent.link if sent else None

    def clear(self) -> None:
        """Remove every copy."""
        self._by_id.clear()
        self._by_message.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _drop_old(self) -> None:
        while len(self._by_id) > 1 and (len(self._by_id) > _MAX_FILES or self._total() > _MAX_TOTAL_BYTES):
            file_id, sent = self._by_id.popitem(last=False)
            sent.path.unlink(missing_ok=True)
            self._by_message = {m: f for m, f in self._by_message.items() if f != file_id}

    def _total(self) -> int:
        return sum(sent.link.size for sent in self._by_id.values())
