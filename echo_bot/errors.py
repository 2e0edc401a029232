"""The error tree. A refusal by policy is a value, never one of these.

EchoBotError
├── ConfigError          the configuration cannot be used: file, line, key, what to write instead
├── StartError           a part cannot start: what, why, what to do
├── StorageError         the database or a state file cannot be read or written
├── ToolArgumentsError   a tool's arguments do not fit its schema
└── ChannelError         a platform did not take or give something
    ├── RetryAfter       the platform asks to wait `seconds`
    ├── TemporaryFailure worth another try after a back-off
    │   └── OutcomeUnknown   the answer was lost: it may have been done all the same
    ├── FormatRejected   the platform refused the formatting; plain text may pass
    ├── TargetGone       the chat or message cannot be reached any more (blocked, deleted, not found)
    └── ChannelFatal     the channel cannot work until a person changes something (`fix`)
"""

from __future__ import annotations


class EchoBotError(Exception):
    """The root: everything Echo Bot raises on purpose."""


class ConfigError(EchoBotError):
    """The configuration cannot be used. `str()` is one line: file, line, key, reason, nearest valid name."""

    def __init__(self, reason: str, *, file: str = "", line: int = 0, key: str = "") -> None:
        self.reason, self.file, self.line, self.key = reason, file, line, key
        place = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        super().__init__(f"{place}{key}: {reason}" if key else f"{place}{reason}")


class StartError(EchoBotError):
    """A part cannot start; the message says what, why and what to do."""


class StorageError(EchoBotError):
    """The database or a state file cannot be read or written; nothing was overwritten."""


class ToolArgumentsError(EchoBotError):
    """A tool's arguments do not fit its schema; the message names the field."""


class ChannelError(EchoBotError):
    """A platform did not take or give something."""


class RetryAfter(ChannelError):
    """The platform asks to wait `seconds` before the next try."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"the platform asks to wait {seconds:g} s")


class TemporaryFailure(ChannelError):
    """Worth another try after a back-off: a dropped connection, a server error."""


class OutcomeUnknown(TemporaryFailure):
    """The platform's answer was lost: it may have done what was asked. Another try may repeat it."""


class FormatRejected(ChannelError):
    """The platform refused the formatting; the same text may pass unformatted."""


class TargetGone(ChannelError):
    """The chat or message cannot be reached any more: blocked, deleted, never existed."""


class ChannelFatal(ChannelError):
    """The channel cannot work until a person changes something; `fix` says what.

    `secret` is the manifest's name of the secret that the platform refused, if that is the trouble.
    """

    def __init__(self, reason: str, fix: str, secret: str = "") -> None:
        self.reason, self.fix, self.secret = reason, fix, secret
        super().__init__(f"{reason}. {fix}")
