"""Files on their way to Discord: read whole, within the size it takes from bots."""

from __future__ import annotations

import asyncio
from pathlib import Path

from echo_bot.errors import FormatRejected

MAX_UPLOAD_BYTES = 10 * 1024 * 1024


async def read_for_upload(path: str) -> bytes:
    """The file's bytes. Raises FormatRejected when it is too big for Discord or cannot be read."""
    try:
        content = await asyncio.to_thread(_read, Path(path))
    except OSError as error:
        raise FormatRejected(f"the file cannot be read: {error.strerror}") from error
    if len(content) > MAX_UPLOAD_BYTES:
        raise FormatRejected(
            f"the file is larger than {MAX_UPLOAD_BYTES // 2**20} MB, Discord's limit for bots"
        )
    return content


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_UPLOAD_BYTES + 1)
