"""What the guarded client could not do, as a tool's result."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from echo_bot.net import FetchFailed, Refused
from echo_bot.tools.base import ErrorKind, ToolResult

_KINDS: Mapping[str, ErrorKind] = {
    "too_slow": "timeout",
    "no_address": "dependency",
    "too_large": "business",
    "too_many_redirects": "business",
    "bad_length": "business",
    "bad_encoding": "business",
}
"""By the finding's kind; whatever else the guard refuses was denied."""

_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})


def not_fetched(outcome: Refused | FetchFailed, what: str) -> ToolResult:
    """`what` names what was asked for, in words that hold no secret."""
    if isinstance(outcome, FetchFailed):
        return ToolResult(
            False, error=f"{what} could not be reached: {outcome.reason[:300]}", error_kind="dependency"
        )
    where = f" (after {outcome.hop} redirects)" if outcome.hop else ""
    kind = _KINDS.get(outcome.finding.kind, "denied")
    return ToolResult(False, error=f"{what}{where}: {outcome.finding.sentence}", error_kind=kind)


def status_words(status: int) -> str:
    """Such as "404 Not Found"."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def status_kind(status: int) -> ErrorKind:
    """Is an answer of this status worth another try?"""
    return "dependency" if status in _TRANSIENT or status >= 500 else "business"
