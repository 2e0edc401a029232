"""A call made again where that may help: for what is no message of a turn, and so in no outbox."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from telegram.error import RetryAfter, TelegramError

from channels.telegram.failures import failure_of, seconds_of
from echo_bot.errors import RetryAfter as AskedToWait
from echo_bot.errors import TemporaryFailure

_PAUSES_SECONDS = (0.5, 2.0)


async def patiently(send: Callable[[], Awaitable[object]], token: str) -> None:
    """Try three times, waiting as Telegram asks. Raises the last TelegramError.

    Also where the answer was lost: of a press only the first answer counts, and whoever is asked or told
    twice is better off than whoever waits for nothing.
    """
    for pause in _PAUSES_SECONDS:
        try:
            await send()
            return
        except TelegramError as error:
            if not isinstance(failure_of(error, token), AskedToWait | TemporaryFailure):
                raise
            await asyncio.sleep(seconds_of(error.retry_after) if isinstance(error, RetryAfter) else pause)
    await send()
