"""Drafts whose sending was never answered: one that stands after all is taken away, its text follows."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.entities import unescaped
from channels.slack.failures import SDK_ERRORS, error_code
from echo_bot.channel.errands import Errands
from echo_bot.events import Address

log = structlog.get_logger(__name__)

_MOST_HEARD = 200
_MOST_LOST = 50
_GOES_ON = "…"


@dataclass(frozen=True, slots=True)
class Draft:
    """What was sent where, in letters and digits: Slack may give the marks of a text another form.

    The sign that a draft goes on counts as well: the final text may have the same words.
    """

    channel: str
    thread: str
    words: str
    since: float

    def is_same(self, other: Draft) -> bool:
        return (self.channel, self.thread, self.words) == (other.channel, other.thread, other.words)


class Strays:
    """Slack tells the bot of its own messages too, and so of one that it took without saying so.

    Only what the bot itself wrote, after a lost draft began to be sent, and in its very words, is taken away.
    """

    def __init__(
        self,
        web: AsyncWebClient,
        account: str,
        errands: Errands,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._web, self._account, self._errands, self._monotonic = web, account, errands, monotonic
        self._heard: deque[tuple[str, Draft]] = deque(maxlen=_MOST_HEARD)
        self._lost: deque[Draft] = deque(maxlen=_MOST_LOST)
        self._known: deque[str] = deque(maxlen=_MOST_HEARD)

    def begin(self, to: Address, text: str) -> Draft:
        """A draft is about to be sent."""
        return Draft(to.chat_id, to.thread_id, _words(text), self._monotonic())

    def stands(self, draft: Draft, ts: str) -> None:
        """Slack said where it stands."""
        self._known.append(f"{draft.channel}:{ts}")

    def lost(self, draft: Draft) -> None:
        """Nobody knows whether it stands, and where."""
        for ts, heard in self._heard:
            if heard.is_same(draft) and heard.since >= draft.since and self._is_unknown(heard.channel, ts):
                self._take_away(heard.channel, ts)
                return
        self._lost.append(draft)

    def heard(self, channel: str, thread: str, ts: str, text: str) -> None:
        """A message of the bot's own stands there."""
        found = Draft(channel, thread, _words(text), self._monotonic())
        lost = next((each for each in self._lost if each.is_same(found)), None)
        if lost is None or not self._is_unknown(channel, ts):
            self._heard.append((ts, found))
            return
        self._lost.remove(lost)
        self._take_away(channel, ts)

    def _is_unknown(self, channel: str, ts: str) -> bool:
        return f"{channel}:{ts}" not in self._known

    def _take_away(self, channel: str, ts: str) -> None:
        self._known.append(f"{channel}:{ts}")
        self._errands.run(self._delete(channel, ts), "slack:stray")

    async def _delete(self, channel: str, ts: str) -> None:
        try:
            await self._web.chat_delete(channel=channel, ts=ts)
        except SDK_ERRORS as error:
            log.info("slack_stray_draft_stays", account=self._account, error=error_code(error))


def _words(text: str) -> str:
    return "".join(each for each in unescaped(text) if each.isalnum() or each == _GOES_ON)
