"""Files on their way to a platform: read whole, within what it takes from bots."""

from __future__ import annotations

import asyncio
from pathlib import Path

from echo_bot.errors import FormatRejected


async def read_for_upload(path: str, max_bytes: int, platform: str) -> bytes:
    """The file's bytes. Raises FormatRejected when `platform` does not take it, or it cannot be read."""
    try:
        content = await asyncio.to_thread(_read, Path(path), max_bytes + 1)
    except OSError as error:
        raise FormatRejected(f"the file cannot be read: {error.strerror}") from error
    if len(content) > max_bytes:
        raise FormatRejected(f"the file is larger than {max_bytes // 2**20} MB, {platform}'s limit for bots")
    if not content:
        raise FormatRejected(f"the file is empty, which {platform} does not take")
    return content


def _read(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)
