"""Drafts whose sending was never answered: one that stands after all is taken away, its text follows."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.entities import unescaped
from channels.slack.failures import SDK_ERRORS, error_code
from echo_bot.channel.errands import Errands
from echo_bot.errors import OutcomeUnknown
from echo_bot.events import Address

log = structlog.get_logger(__name__)

_MOST_HEARD = 200
_MOST_LOST = 50
_GOES_ON = "…"

_Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Said:
    """What was said where, in letters and digits: Slack may give the marks of a text another form.

    The sign that a draft goes on counts as well: the final text may have the same words.
    """

    place: _Place
    words: str
    since: float
    ts: str = ""

    def may_be(self, draft: _Said) -> bool:
        return (self.place, self.words) == (draft.place, draft.words) and self.since >= draft.since


class Strays:
    """Slack tells the bot of its own messages too, and so of one that it took without saying so.

    Only what the bot itself wrote, after a lost draft began to be sent, and in its very words, is taken away.
    Slack may tell of a message before it answers its sending: while anything is being sent to a place, it is
    not known yet what is astray there.
    """

    def __init__(
        self,
        web: AsyncWebClient,
        account: str,
        errands: Errands,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._web, self._account, self._errands, self._monotonic = web, account, errands, monotonic
        self._heard: deque[_Said] = deque(maxlen=_MOST_HEARD)
        self._lost: deque[_Said] = deque(maxlen=_MOST_LOST)
        self._known: deque[tuple[str, str]] = deque(maxlen=_MOST_HEARD)
        self._under_way: Counter[_Place] = Counter()

    @contextmanager
    def sending(self, to: Address, text: str, *, is_draft: bool) -> Iterator[None]:
        """Around the call that sends `text`: a draft that ends without an answer may be astray."""
        place = (to.chat_id, to.thread_id)
        draft = _Said(place, _words(text), self._monotonic())
        self._under_way[place] += 1
        try:
            yield
        except (OutcomeUnknown, asyncio.CancelledError):
            if is_draft:
                self._lost.append(draft)
            raise
        finally:
            self._under_way[place] -= 1
            if not self._under_way[place]:
                del self._under_way[place]
                self._look_at(place)

    def stands(self, channel: str, ts: str) -> None:
        """Slack said where a message stands. To be told before its `sending` ends."""
        self._known.append((channel, ts))

    def heard(self, channel: str, thread: str, ts: str, text: str) -> None:
        """A message of the bot's own stands there."""
        place = (channel, thread)
        self._heard.append(_Said(place, _words(text), self._monotonic(), ts))
        if place not in self._under_way:
            self._look_at(place)

    def _look_at(self, place: _Place) -> None:
        for draft in [each for each in self._lost if each.place == place]:
            found = (said for said in self._heard if said.may_be(draft) and self._is_unknown(said))
            if (stray := next(found, None)) is not None:
                self._lost.remove(draft)
                self.stands(place[0], stray.ts)
                self._errands.run(self._delete(place[0], stray.ts), "slack:stray")

    def _is_unknown(self, said: _Said) -> bool:
        return (said.place[0], said.ts) not in self._known

    async def _delete(self, channel: str, ts: str) -> None:
        try:
            await self._web.chat_delete(channel=channel, ts=ts)
        except SDK_ERRORS as error:
            log.info("slack_stray_draft_stays", account=self._account, error=error_code(error))


def _words(text: str) -> str:
    return "".join(each for each in unescaped(text) if each.isalnum() or each == _GOES_ON)
