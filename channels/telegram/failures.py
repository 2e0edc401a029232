"""Telegram's errors as the port's: worth another try, a chat that is gone, a matter for a person."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http import HTTPStatus
from json import JSONDecodeError
from textwrap import shorten

import httpx
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Forbidden,
    InvalidToken,
    NetworkError,
    TelegramError,
)
from telegram.error import RetryAfter as TelegramRetryAfter

from channels.telegram.reading import UNREADABLE
from channels.telegram.redaction import without_token
from echo_bot.errors import (
    ChannelError,
    ChannelFatal,
    FormatRejected,
    OutcomeUnknown,
    RetryAfter,
    TargetGone,
    TemporaryFailure,
)

TOKEN_FIX = "Get a token from @BotFather, set channels.telegram.token to it and start again"

_GONE = (
    "chat not found",
    "user not found",
    "user_is_blocked",
    "user_deactivated",
    "peer_id_invalid",
    "message to edit not found",
    "message can't be edited",
    "message_id_invalid",
    "message thread not found",
    "topic_closed",
    "topic_deleted",
    "chat_write_forbidden",
    "channel_private",
    "group chat was deactivated",
    "chat_restricted",
    "chat_admin_required",
    "chat_send_plain_forbidden",
    "user_banned_in_channel",
    "not enough rights",
    "have no rights",
    "no write access",
    "need administrator rights",
)
"""What the Bot API says, in lower case, when no later try can reach the chat or message."""


_LONGEST = 300
_NOT_ASKED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)


class ServerFailed(NetworkError):
    """A status of 500 or more, of Telegram's own or of a gateway before it: some of it may have been done."""

    def __init__(self, status: int) -> None:
        phrase = HTTPStatus(status).phrase if status in list(HTTPStatus) else "Server error"
        super().__init__(f"{phrase} ({status})")


class LeftOut(TelegramRetryAfter):
    """A draft that is not sent, so that there is room for what must arrive: nobody else has to wait."""


def failure_of(error: TelegramError, token: str) -> ChannelError:
    """The leaf of `ChannelError` for what the SDK raised; its text never holds the token."""
    said = without_token(_shortened(error.message), token)
    match error:
        case InvalidToken(__cause__=InvalidToken() as refusal):
            # The SDK's start puts words of its own around what was answered.
            return failure_of(refusal, token)
        case _ if _is_page(error):
            return TemporaryFailure(f"Telegram could not be asked: {said}")
        case InvalidToken():
            return ChannelFatal("Telegram does not accept the bot's token", TOKEN_FIX, "token")
        case LeftOut():
            return TemporaryFailure("There is little room left in the chat's minute")
        case TelegramRetryAfter():
            return RetryAfter(seconds_of(error.retry_after))
        case Forbidden() | ChatMigrated():
            return TargetGone(said)
        case BadRequest() if any(phrase in said.lower() for phrase in _GONE):
            return TargetGone(said)
        case BadRequest():
            return FormatRejected(said)
        case _ if _was_asked(error):
            return OutcomeUnknown(f"Telegram's answer was lost: {said}")
        case _:
            return TemporaryFailure(f"Telegram could not be asked: {said}")


def is_not_modified(error: BadRequest) -> bool:
    """Does the message already show what it was to be changed to?"""
    return "message is not modified" in error.message.lower()


def is_about_format(error: BadRequest) -> bool:
    """Would the same text pass without entities?"""
    said = error.message.lower()
    return "can't parse" in said or "entit" in said


@contextmanager
def translated(token: str) -> Iterator[None]:
    """Raise the port's errors in place of the SDK's, without the SDK's own text as context."""
    try:
        yield
    except TelegramError as error:
        raise failure_of(error, token) from None
    except UNREADABLE as error:
        raise OutcomeUnknown(f"Telegram's answer could not be read ({type(error).__name__})") from None


def _shortened(said: str) -> str:
    """The SDK repeats the whole answer where it is no JSON: a gateway's page, mostly."""
    return shorten(said.partition(". Parsing the server response")[0], _LONGEST, placeholder=" …")


def _is_page(error: TelegramError) -> bool:
    """Did a proxy or gateway refuse? Telegram answers in JSON; what the SDK could not read is the cause."""
    return type(error.__cause__) is TelegramError


def _was_asked(error: TelegramError) -> bool:
    """Did the server fail, the connection break or time run out, once the request may have arrived?

    Or was it done, by the status, and the rest of the answer was cut off or another's?
    """
    cause = error.__cause__
    if isinstance(error, ServerFailed) or isinstance(cause, JSONDecodeError):
        return True
    return isinstance(cause, httpx.TransportError) and not isinstance(cause, _NOT_ASKED)


def seconds_of(value: int | timedelta) -> float:
    return value.total_seconds() if isinstance(value, timedelta) else float(value)
