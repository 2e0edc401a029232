"""Discord's errors as the port's: worth another try, a place that is gone, a matter for a person."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from discord import (
    ConnectionClosed,
    DiscordException,
    HTTPException,
    LoginFailure,
    PrivilegedIntentsRequired,
    RateLimited,
)

from echo_bot.errors import (
    ChannelError,
    ChannelFatal,
    FormatRejected,
    RetryAfter,
    TargetGone,
    TemporaryFailure,
)

PORTAL = "https://discord.com/developers/applications"
TOKEN_FIX = (
    f"Open {PORTAL}, choose your application, press Reset Token under Bot, "
    "set channels.discord.token to the new one and start again"
)
INTENTS_FIX = (
    f"Open {PORTAL}, choose your application, switch on Message Content Intent under "
    "Bot, Privileged Gateway Intents, and start again"
)

UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, UNKNOWN_INTERACTION = 10003, 10008, 10062
ACKNOWLEDGED_ALREADY = 40060
_TOO_LARGE = 40005
_ENTITY_TOO_LARGE = 413
_MISSING_PERMISSIONS = 50013
_GONE = {
    UNKNOWN_CHANNEL: "the channel does not exist, or was deleted",
    10004: "the server does not exist, or the bot was removed from it",
    UNKNOWN_MESSAGE: "the message was deleted",
    10013: "there is no such user",
    50001: "the bot cannot see this channel: give it the permission View Channel there",
    50005: "the message was written by somebody else",
    50007: "this person takes no direct messages from the bot: they share no server with it, or refuse them",
    50024: "nothing can be written in a channel of this kind",
    50033: "there is no such user",
    50083: "the thread is archived",
    160005: "the thread is locked",
}
"""What no later try can reach, by Discord's own error code."""

_TOKEN_REFUSED, _INTENT_REFUSED = 4004, 4014
_FATAL = {
    _TOKEN_REFUSED: ("Discord does not accept the bot's token", TOKEN_FIX, "token"),
    4010: ("Discord refuses the shard", "Report this: the bot uses no shards"),
    4011: ("The bot is in too many servers for one connection", "Remove it from some, or use a second bot"),
    4012: ("Discord no longer speaks this version of its protocol", "Update Echo Bot"),
    4013: ("Discord does not know the intents that were asked for", "Update Echo Bot"),
    _INTENT_REFUSED: ("Discord does not let the bot read messages", INTENTS_FIX),
}
"""What a person must change, by the code with which the gateway closes: what `ChannelFatal` is made of."""


SDK_ERRORS = (
    DiscordException,
    aiohttp.ClientError,
    OSError,
    TimeoutError,
    RuntimeError,
    ValueError,
    KeyError,
    TypeError,
)
"""What a call of the SDK may raise.

RuntimeError: its session was closed under the call. ValueError, KeyError and TypeError: the answer was not
Discord's.
"""


def failure_of(error: BaseException, permission: str = "") -> ChannelError:
    """The leaf of `ChannelError` for what the SDK raised; `permission` is what the call needed."""
    match error:
        case ChannelError():
            return error
        case RateLimited():
            return RetryAfter(error.retry_after)
        case LoginFailure():
            return ChannelFatal(*_FATAL[_TOKEN_REFUSED])
        case PrivilegedIntentsRequired():
            return ChannelFatal(*_FATAL[_INTENT_REFUSED])
        case ConnectionClosed() if error.code in _FATAL:
            return ChannelFatal(*_FATAL[error.code])
        case ConnectionClosed():
            return TemporaryFailure(f"Discord closed the line ({error.code})")
        case HTTPException():
            return _refusal(error, permission)
        case TimeoutError():
            return TemporaryFailure("Discord did not answer in time")
        case aiohttp.ClientError() | OSError():
            return TemporaryFailure(f"Discord could not be reached ({type(error).__name__})")
        case _:
            return TemporaryFailure(f"Discord could not be understood ({type(error).__name__})")


def _refusal(error: HTTPException, permission: str) -> ChannelError:
    if error.status == 429:
        return RetryAfter(_retry_after(error))
    if error.status != _ENTITY_TOO_LARGE and not _is_discords(error):
        return TemporaryFailure(f"something between the bot and Discord refuses ({error.status})")
    if error.status == 401:
        return ChannelFatal(*_FATAL[_TOKEN_REFUSED])
    if error.status >= 500:
        return TemporaryFailure(f"Discord has trouble of its own ({error.status})")
    if error.code == _MISSING_PERMISSIONS:
        return TargetGone(f"the bot may not do this here: give it the permission {permission or 'it needs'}")
    if error.code in _GONE:
        return TargetGone(_GONE[error.code])
    if error.code == _TOO_LARGE or error.status == _ENTITY_TOO_LARGE:
        return FormatRejected("the file is larger than Discord takes")
    if error.status in (403, 404):
        return TargetGone(f"Discord refuses: {error.text} ({error.code})")
    return FormatRejected(f"Discord refuses: {error.text} ({error.code})")


def _is_discords(error: HTTPException) -> bool:
    """Discord refuses in JSON. A page comes from something before it, and says nothing of the call."""
    return "json" in error.response.headers.get("Content-Type", "")


def _retry_after(error: HTTPException) -> float:
    try:
        return float(error.response.headers.get("Retry-After", ""))
    except ValueError:
        return 5.0


@asynccontextmanager
async def translated(seconds: float, permission: str = "") -> AsyncIterator[None]:
    """Raise the port's errors in place of the SDK's; whatever takes longer than `seconds` is given up."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except SDK_ERRORS as error:
        raise failure_of(error, permission) from None
