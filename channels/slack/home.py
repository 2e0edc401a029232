"""The App Home tab: the open approvals that the viewer may decide, with their buttons."""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import structlog

from channels.slack.client import Clients
from channels.slack.failures import SDK_ERRORS, failure_of
from channels.slack.inbound import NAME
from channels.slack.render import button_rows, card_blocks, literal_blocks
from echo_bot.channel import Port
from echo_bot.channel.errands import Errands
from echo_bot.errors import EchoBotError, RetryAfter
from echo_bot.events import Card, Identity
from echo_bot.text.language import N_, _, listed

log = structlog.get_logger(__name__)

MAX_BLOCKS = 100
MAX_CHARACTERS = 60_000
"""Far below the 250 kB that Slack takes for a view, however the text is encoded."""
_REMEMBERED = 200
_NOTICE_SECONDS = 60.0
_NONE_OPEN = N_("Nothing waits for your decision.")
_UNKNOWN = N_("This bot does not know you.")

Block = dict[str, Any]


class Home:
    """Publishes a viewer's tab when they open it, and again whenever the open approvals change."""

    def __init__(
        self,
        clients: Clients,
        port: Port,
        account: str,
        errands: Errands,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clients, self._port, self._account, self._errands = clients, port, account, errands
        self._monotonic = monotonic
        self._shown: OrderedDict[str, list[Block]] = OrderedDict()
        self._notices: dict[str, tuple[str, float]] = {}
        self._publishing = asyncio.Lock()
        self._dirty = self._republishing = False

    def opened(self, user_id: str) -> None:
        self._shown[user_id] = []
        self._shown.move_to_end(user_id)
        while len(self._shown) > _REMEMBERED:
            self._shown.popitem(last=False)
        self._errands.run(self._publish_quietly(user_id), "slack:home")

    def changed(self) -> None:
        """Publish again for everybody who has looked; changes meanwhile are taken together."""
        self._dirty = True
        if not self._republishing and self._shown:
            self._republishing = True
            self._errands.run(self._republish(), "slack:home")

    async def tell(self, user_id: str, notice: str) -> None:
        """Show this person a sentence above the cards, for a minute at least."""
        self._notices = {user: each for user, each in self._notices.items() if each[1] > self._monotonic()}
        self._notices[user_id] = (notice, self._monotonic() + _NOTICE_SECONDS)
        await self._publish_quietly(user_id)

    async def _republish(self) -> None:
        try:
            while self._dirty:
                self._dirty = False
                for user_id in list(self._shown):
                    if wait := await self._publish_quietly(user_id):
                        self._dirty = True
                        await asyncio.sleep(wait)
        finally:
            self._republishing = False

    async def _publish_quietly(self, user_id: str) -> float:
        """Publish; returns how many seconds to wait before another try, 0 when there is no need of one."""
        try:
            async with self._publishing:
                await self._publish(user_id)
        except EchoBotError as error:
            log.warning("slack_home_not_read", account=self._account, error=type(error).__name__)
        except SDK_ERRORS as error:
            failure = failure_of(error, str)
            log.info("slack_home_not_published", account=self._account, error=str(failure))
            return failure.seconds if isinstance(failure, RetryAfter) else 0.0
        return 0.0

    async def _publish(self, user_id: str) -> None:
        viewer = Identity(NAME, user_id, self._account)
        cards = await self._port.pending(viewer)
        known = bool(cards) or await self._port.admits(viewer)
        notice, until = self._notices.get(user_id, ("", 0.0))
        blocks = home_blocks(cards, notice if self._monotonic() < until else "", known=known)
        stood = self._shown.get(user_id)
        if blocks != stood:
            await self._clients.web.views_publish(user_id=user_id, view={"type": "home", "blocks": blocks})
            # Whoever opened the tab meanwhile is still to be shown it.
            if stood is not None and self._shown.get(user_id) is stood:
                self._shown[user_id] = blocks


def home_blocks(cards: Sequence[Card], notice: str = "", *, known: bool = True) -> list[Block]:
    """As many whole cards as Slack takes; the others are counted, and named by their ids."""
    top = [*literal_blocks(notice), {"type": "divider"}] if notice else []
    if not known:
        return top + literal_blocks(_(_UNKNOWN))
    if not cards:
        return top + literal_blocks(_(_NONE_OPEN))
    blocks = list(top)
    left_off: list[str] = []
    for place, card in enumerate(cards):
        shown = [*card_blocks(card), *button_rows(card.buttons, f"{place}:"), {"type": "divider"}]
        if left_off or len(blocks) + len(shown) > MAX_BLOCKS - 1 or _size(blocks + shown) > MAX_CHARACTERS:
            left_off.append(card.short_id)
        else:
            blocks += shown
    if left_off:
        told = _("{count} more: {ids}. Decide them in their chats or by /echo approve ID.")
        blocks += literal_blocks(told.format(count=len(left_off), ids=listed(left_off[:20])))
    return blocks


def _size(blocks: Sequence[Block]) -> int:
    return len(json.dumps(blocks, ensure_ascii=False))
