"""How the connection stands: what `health` says, and how long to wait after each kind of failure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from echo_bot.channel import ChannelHealth, ChannelState
from echo_bot.errors import ChannelError, ChannelFatal, RetryAfter

log = structlog.get_logger(__name__)

_GROWTH = 1.5
_SLACK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How long to wait, in seconds, for updates and after failures."""

    poll: int = 10
    hold: float = 0.25
    """Between two looks for further updates while some are not stored yet."""
    album_quiet: float = 0.7
    """After the last part of an album, until its parts are one event; later ones are joined by the core."""
    album_quiet_webhook: float = 0.15
    """The same for parts that are delivered at once, or one by one and each only after the one before."""
    webhook_check: float = 60.0
    first_retry: float = 1.0
    longest_retry: float = 30.0
    first_fatal_retry: float = 2.0
    """A token that is refused while running: a person must act, but a proxy's 404 may pass by itself."""
    fatal_retry: float = 60.0
    last_word: float = 0.7


class Standing:
    """`pause` is how long to wait before the next call, in seconds."""

    def __init__(self, account: str, rhythm: Rhythm) -> None:
        self._account, self._rhythm = account, rhythm
        self._delay, self._fatal_delay, self.pause = rhythm.first_retry, rhythm.first_fatal_retry, 0.0
        self._contested = False
        self._state, self._error = ChannelState.STARTING, ""
        self._again_at: datetime | None = None
        self._last_event_at: datetime | None = None

    @property
    def health(self) -> ChannelHealth:
        return ChannelHealth(self._state, self._last_event_at, self._error, self._again_at)

    def heard(self) -> None:
        """An update was stored."""
        self._last_event_at = datetime.now(UTC)

    def succeeded(self, *, proven: bool) -> None:
        """A call that had to wait proves that nobody else polls; a quick one may have slipped between."""
        if proven:
            self._contested = False
            self._delay, self._fatal_delay = self._rhythm.first_retry, self._rhythm.first_fatal_retry
        self.pause = 0.0
        if not self._contested and self._state is not ChannelState.CONNECTED:
            log.info("telegram_connected", account=self._account)
            self._state, self._error, self._again_at = ChannelState.CONNECTED, "", None

    def contested(self) -> None:
        """Another program receives the bot's updates, until a long call proves the opposite."""
        self._contested = True

    def failed(self, failure: ChannelError) -> None:
        """Show the failure and how long to wait."""
        match failure:
            case RetryAfter():
                self.pause = failure.seconds + _SLACK_SECONDS
            case ChannelFatal():
                self.pause = min(self._fatal_delay, self._rhythm.fatal_retry)
                self._fatal_delay = self.pause * 2
            case _:
                self.pause = self._delay
                self._delay = min(self._delay * _GROWTH, self._rhythm.longest_retry)
        fatal = isinstance(failure, ChannelFatal)
        self._state, self._error = ChannelState.FAILED if fatal else ChannelState.RETRYING, str(failure)
        self._again_at = datetime.now(UTC) + timedelta(seconds=self.pause)
        log.warning("telegram_receiving_failed", account=self._account, error=self._error, pause=self.pause)
