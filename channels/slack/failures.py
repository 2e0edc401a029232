"""Slack's errors as the port's: worth another try, a chat that is gone, a matter for a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from echo_bot.errors import (
    ChannelError,
    ChannelFatal,
    FormatRejected,
    OutcomeUnknown,
    RetryAfter,
    TargetGone,
    TemporaryFailure,
)

BOT_TOKEN_FIX = (
    "Install the app in your workspace, copy its Bot User OAuth Token (xoxb-…) to channels.slack.bot_token "
    "and start again"
)
APP_TOKEN_FIX = (
    "Make an app-level token (xapp-…) with the scope connections:write under Basic Information, set "
    "channels.slack.app_token to it and start again"
)
SIGNING_SECRET_FIX = (
    "Copy the Signing Secret from the app's Basic Information to channels.slack.signing_secret, "
    "or set channels.slack.mode to socket"
)

SDK_ERRORS = (SlackClientError, aiohttp.ClientError, TimeoutError, ConnectionError)
"""What a call of the SDK may raise."""

_NOT_ASKED = (aiohttp.ClientConnectorError, aiohttp.WSServerHandshakeError)
"""The request did not get as far as Slack; after everything else that is no answer of Slack's it may have."""

_BAD_TOKEN = frozenset({
    "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "org_login_required",
    "not_allowed_token_type", "team_access_not_granted", "enterprise_is_restricted",
})  # fmt: skip
_GONE = frozenset({
    "channel_not_found", "is_archived", "is_inactive", "not_in_channel", "not_found", "no_permission",
    "user_not_found", "users_not_found", "user_disabled", "user_not_visible", "user_not_in_channel",
    "cannot_dm_bot", "messages_tab_disabled", "access_denied", "ekm_access_denied",
    "message_not_found", "cant_update_message", "edit_window_closed", "cannot_reply_to_message",
    "restricted_action", "restricted_action_read_only_channel", "restricted_action_thread_only_channel",
    "restricted_action_thread_locked", "restricted_action_non_threadable_channel",
    "thread_not_found", "file_not_found", "file_deleted",
})  # fmt: skip
_PASSING = frozenset({
    "service_unavailable", "request_timeout", "team_added_to_org",
    "accesslimited", "external_channel_migrating",
})  # fmt: skip
_IN_DOUBT = frozenset({"internal_error", "fatal_error"})
"""Slack says of these that some of what was asked may have been done."""

_RATE_LIMITED = frozenset({"ratelimited", "rate_limited"})
_UNTOLD_WAIT_SECONDS = 30.0

Clean = Callable[[str], str]


def error_code(error: BaseException) -> str:
    """Slack's own word for what is wrong; "" when it did not get so far."""
    response = getattr(error, "response", None) if isinstance(error, SlackApiError) else None
    data = getattr(response, "data", response)
    return str(data.get("error") or "") if isinstance(data, dict) else ""


def app_token_refused(code: str) -> ChannelFatal:
    return ChannelFatal(f"Slack does not accept the app token ({code})", APP_TOKEN_FIX, "app_token")


def require_bot(bot_id: str, token: str) -> None:
    """Raises ChannelFatal for a token that Slack knows as a person's: the bot would speak as that person.

    Other servers' tokens look different, and what they say of bots is theirs.
    """
    if not bot_id and token.startswith("xox"):
        raise ChannelFatal("The bot token is a person's, not the bot's", BOT_TOKEN_FIX, "bot_token")


def failure_of(error: Exception, clean: Clean) -> ChannelError:
    """The leaf of `ChannelError` for what the SDK raised; `clean` takes the secrets out of texts."""
    if not isinstance(error, SlackApiError):
        said = clean(str(error)) or type(error).__name__
        if isinstance(error, _NOT_ASKED):
            return TemporaryFailure(f"Slack could not be asked: {said}")
        return OutcomeUnknown(f"Slack's answer was lost: {said}")
    code, status = error_code(error), _status(error)
    if status == 429 or code in _RATE_LIMITED:
        return RetryAfter(_seconds_to_wait(error))
    if code == "missing_scope":
        return _missing_scope(error)
    if code in _BAD_TOKEN:
        return ChannelFatal(f"Slack does not accept the bot's token ({code})", BOT_TOKEN_FIX, "bot_token")
    if code in _GONE:
        return TargetGone(f"Slack: {code}")
    if status >= 500 or code in _IN_DOUBT:
        return OutcomeUnknown(f"Slack's answer was lost: {code or f'status {status}'}")
    if code in _PASSING or not code:
        return TemporaryFailure(f"Slack could not be asked: {code or f'status {status}'}")
    return FormatRejected(f"Slack refused it: {code}")


@contextmanager
def translated(clean: Clean) -> Iterator[None]:
    """Raise the port's errors in place of the SDK's, without the SDK's own text as context."""
    try:
        yield
    except SDK_ERRORS as error:
        raise failure_of(error, clean) from None


@contextmanager
def nothing_shown() -> Iterator[None]:
    """Until a last call nobody sees anything of it: what was lost on the way may simply be done again."""
    try:
        yield
    except OutcomeUnknown as error:
        raise TemporaryFailure(str(error)) from None


def _missing_scope(error: SlackApiError) -> ChannelFatal:
    needed = str(error.response.get("needed") or "a scope")
    return ChannelFatal(
        f"The Slack app lacks {needed}",
        f"Add {needed} under OAuth & Permissions, or paste docs/slack-manifest.yaml, and reinstall the app",
    )


def _status(error: SlackApiError) -> int:
    return int(getattr(error.response, "status_code", None) or getattr(error.response, "status", 0) or 0)


def _seconds_to_wait(error: SlackApiError) -> float:
    headers = getattr(error.response, "headers", {}) or {}
    told = next((value for name, value in headers.items() if name.lower() == "retry-after"), "")
    try:
        return max(float(told[0] if isinstance(told, list) else told), 0.0)
    except ValueError:
        return _UNTOLD_WAIT_SECONDS
