"""Keeping the token out of logs: the SDK and its HTTP client put it into every URL they write."""

from __future__ import annotations

import logging
from urllib.parse import quote

_NOISY = ("httpx", "httpcore", "telegram")
_MASK = "<token>"


def without_token(text: str, token: str) -> str:
    """`text` with the token masked in both its spellings."""
    return text.replace(token, _MASK).replace(quote(token, safe=""), _MASK) if token else text


class TokenFilter(logging.Filter):
    """Masks one token in records of the SDK and its HTTP client.

    The SDK's own records from INFO on are dropped: they hold message text, and whatever they report reaches
    the adapter as an exception, which it reports itself. So is the HTTP client's line for every request.
    """

    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token

    def install(self) -> None:
        for logger in _noisy_loggers():
            logger.addFilter(self)

    def remove(self) -> None:
        for logger in _noisy_loggers():
            logger.removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("telegram") and record.levelno >= logging.INFO:
            return False
        if record.name == "httpx" and record.levelno == logging.INFO:
            return self._token not in record.getMessage()
        record.msg, record.args = without_token(record.getMessage(), self._token), None
        if record.exc_info:
            record.exc_text = without_token(logging.Formatter().formatException(record.exc_info), self._token)
            record.exc_info = None
        return True


def _noisy_loggers() -> list[logging.Logger]:
    """Filters do not pass to child loggers, so each one that exists by now is taken by name."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in _NOISY]
    return [logging.getLogger(name) for name in {*_NOISY, *names}]
