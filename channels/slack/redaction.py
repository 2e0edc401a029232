"""Keeping tokens and what people write out of the SDK's logs."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

_SHAPES = re.compile(r"\bxox[a-z](?:\.xox[a-z])?-[\w.-]+|\bxapp-[\w-]+|(?<=ticket=)[^&\s'\"]+")
_MASK = "<token>"


class Redaction(logging.Filter):
    """Masks the channel's secrets, and whatever looks like a token of Slack, in log records."""

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__()
        self._secrets = tuple(sorted(filter(None, secrets), key=len, reverse=True))

    def clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, _MASK)
        return _SHAPES.sub(_MASK, text)

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self.clean(record.getMessage()), None
        if record.exc_info:
            record.exc_text = self.clean(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True


def sdk_logger(account: str, redaction: Redaction) -> logging.Logger:
    """The logger that the SDK writes to, and from which it makes its own: warnings only, and masked.

    Below that level the SDK writes the text of every message.
    """
    logger = logging.getLogger(f"channels.slack.sdk.{account}" if account else "channels.slack.sdk")
    logger.setLevel(logging.WARNING)
    logger.filters[:] = [redaction]
    return logger
