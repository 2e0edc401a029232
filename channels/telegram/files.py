"""Files on their way to Telegram, and where to fetch those that people sent."""

from __future__ import annotations

import asyncio
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from telegram.error import BadRequest

from channels.telegram.client import OFFICIAL_API, TelegramBot
from channels.telegram.failures import translated
from echo_bot.channel import FileLocation
from echo_bot.errors import FormatRejected, TargetGone
from echo_bot.events import ContentBlock

MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024
MAX_UPLOAD_BYTES = 50 * 1024 * 1024


_TOO_BIG = (
    f"the file is larger than {MAX_DOWNLOAD_BYTES // 2**20} MB, the most that Telegram gives to bots. "
    "A Bot API server of your own (channels.telegram.api_base) has no such limit"
)


async def locate_file(bot: TelegramBot, block: ContentBlock, *, is_official: bool) -> FileLocation:
    """Where a received file is: at the API's file address, or on this machine with a server in local mode.

    Raises TargetGone when Telegram does not give the file, with the reason.
    """
    if is_official and block.size > MAX_DOWNLOAD_BYTES:
        raise TargetGone(_TOO_BIG)
    with translated(bot.token):
        try:
            found = await bot.get_file(block.ref)
        except BadRequest as error:
            too_big = "too big" in error.message.lower()
            raise TargetGone(_TOO_BIG if too_big else "Telegram does not have this file any more") from None
    path = (found.file_path or "").removeprefix(f"{bot.base_file_url}/")
    if not path:
        raise TargetGone("Telegram does not have this file any more")
    if not is_official and PurePosixPath(path).is_absolute():
        return FileLocation(path=path)
    url = f"{bot.base_file_url}/{quote(path)}"
    return FileLocation(url=url, at_platform=url.startswith(f"{OFFICIAL_API}/"))


async def read_for_upload(path: str) -> bytes:
    """The file's bytes. Raises FormatRejected when it is too big for Telegram or cannot be read."""
    try:
        content = await asyncio.to_thread(_read, Path(path))
    except OSError as error:
        raise FormatRejected(f"the file cannot be read: {error.strerror}") from error
    if len(content) > MAX_UPLOAD_BYTES:
        raise FormatRejected(
            f"the file is larger than {MAX_UPLOAD_BYTES // 2**20} MB, Telegram's limit for bots"
        )
    if not content:
        raise FormatRejected("the file is empty, which Telegram does not take")
    return content


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_UPLOAD_BYTES + 1)
