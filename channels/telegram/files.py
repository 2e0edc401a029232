"""Where to fetch the files that people sent, and how much Telegram takes and gives."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import quote

from telegram.error import BadRequest

from channels.telegram.client import OFFICIAL_API, TelegramBot
from channels.telegram.failures import translated
from echo_bot.channel import FileLocation
from echo_bot.errors import ChannelError, TargetGone
from echo_bot.events import ContentBlock

MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024
MAX_UPLOAD_BYTES = 50 * 1024 * 1024


_TOO_BIG = (
    f"the file is larger than {MAX_DOWNLOAD_BYTES // 2**20} MB, the most that Telegram gives to bots. "
    "A Bot API server of your own (channels.telegram.api_base) has no such limit"
)


async def locate_file(bot: TelegramBot, block: ContentBlock, *, is_official: bool) -> FileLocation:
    """Where a received file is: at the API's file address, or on this machine with a server in local mode.

    Raises TargetGone where Telegram does not have the file any more, ChannelError for one that is too large.
    """
    if is_official and block.size > MAX_DOWNLOAD_BYTES:
        raise ChannelError(_TOO_BIG)
    with translated(bot.token):
        try:
            found = await bot.get_file(block.ref)
        except BadRequest as error:
            if "too big" in error.message.lower():
                raise ChannelError(_TOO_BIG) from None
            raise TargetGone("Telegram does not have this file any more") from None
    path = (found.file_path or "").removeprefix(f"{bot.base_file_url}/")
    if not path:
        raise TargetGone("Telegram does not have this file any more")
    if not is_official and PurePosixPath(path).is_absolute():
        return FileLocation(path=path)
    url = f"{bot.base_file_url}/{quote(path)}"
    return FileLocation(url=url, at_platform=url.startswith(f"{OFFICIAL_API}/"))
