"""Keeping tokens and message text out of logs: the SDK writes both at its lower levels."""

from __future__ import annotations

import logging
import re

_MASK = "<token>"
_SECRET_PATHS = re.compile(r"(/(?:interactions|webhooks)/\d+/)[^/\s'\"?]+")


def without_secrets(text: str, token: str) -> str:
    """`text` with the bot's token and the tokens of interactions masked."""
    masked = _SECRET_PATHS.sub(rf"\1{_MASK}", text)
    return masked.replace(token, _MASK) if token else masked


class TokenFilter(logging.Filter):
    """Masks one token in the SDK's records, without their tracebacks.

    What is below WARNING is dropped: it holds message text, and whatever is worth telling reaches the adapter
    as an event or exception, which it reports itself.
    """

    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token

    def install(self) -> None:
        for logger in _sdk_loggers():
            logger.addFilter(self)

    def remove(self) -> None:
        for logger in _sdk_loggers():
            logger.removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return False
        record.msg, record.args = without_secrets(record.getMessage(), self._token), None
        record.exc_info = record.exc_text = None
        return True


def _sdk_loggers() -> list[logging.Logger]:
    """Filters do not pass to child loggers, so each one that exists by now is taken by name."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "discord"]
    return [logging.getLogger(name) for name in {"discord", *names}]
