"""The App Home tab: the open approvals that the viewer may decide, with their buttons."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import structlog

from channels.slack.client import Clients
from channels.slack.errands import Errands
from channels.slack.failures import SDK_ERRORS, error_code
from channels.slack.inbound import NAME
from channels.slack.render import button_rows, card_blocks, literal_blocks
from echo_bot.channel import Port
from echo_bot.errors import EchoBotError
from echo_bot.events import Card, Identity

log = structlog.get_logger(__name__)

MAX_BLOCKS = 100
MAX_CHARACTERS = 60_000
"""Far below the 250 kB that Slack takes for a view, however the text is encoded."""
_REMEMBERED = 200
_NONE_OPEN = "Nothing waits for your decision."
_UNKNOWN = "This bot does not know you."

Block = dict[str, Any]


class Home:
    """Publishes a viewer's tab when they open it, and again whenever the open approvals change."""

    def __init__(self, clients: Clients, port: Port, account: str, errands: Errands) -> None:
        self._clients, self._port, self._account, self._errands = clients, port, account, errands
        self._viewers: OrderedDict[str, None] = OrderedDict()
        self._dirty = self._republishing = False

    def opened(self, user_id: str) -> None:
        self._viewers[user_id] = None
        self._viewers.move_to_end(user_id)
        while len(self._viewers) > _REMEMBERED:
            self._viewers.popitem(last=False)
        self._errands.run(self.publish(user_id), "slack:home")

    def changed(self) -> None:
        """Publish again for everybody who has looked; changes meanwhile are taken together."""
        self._dirty = True
        if not self._republishing and self._viewers:
            self._republishing = True
            self._errands.run(self._republish(), "slack:home")

    async def publish(self, user_id: str, notice: str = "") -> None:
        viewer = Identity(NAME, user_id, self._account)
        try:
            known = await self._port.admits(viewer)
            cards = await self._port.pending(viewer)
            blocks = home_blocks(cards, notice, known=known or bool(cards))
            await self._clients.web.views_publish(user_id=user_id, view={"type": "home", "blocks": blocks})
        except EchoBotError as error:
            log.warning("slack_home_not_read", account=self._account, error=type(error).__name__)
        except SDK_ERRORS as error:
            log.info("slack_home_not_published", account=self._account, error=error_code(error))

    async def _republish(self) -> None:
        try:
            while self._dirty:
                self._dirty = False
                for user_id in list(self._viewers):
                    await self.publish(user_id)
        finally:
            self._republishing = False


def home_blocks(cards: Sequence[Card], notice: str = "", *, known: bool = True) -> list[Block]:
    """As many whole cards as Slack takes; the others are counted, and named by their ids."""
    top = [*literal_blocks(notice), {"type": "divider"}] if notice else []
    if not known:
        return top + literal_blocks(_UNKNOWN)
    if not cards:
        return top + literal_blocks(_NONE_OPEN)
    blocks = list(top)
    left_off: list[str] = []
    for place, card in enumerate(cards):
        shown = [*card_blocks(card), *button_rows(card.buttons, f"{place}:"), {"type": "divider"}]
        if left_off or len(blocks) + len(shown) > MAX_BLOCKS - 1 or _size(blocks + shown) > MAX_CHARACTERS:
            left_off.append(card.short_id)
        else:
            blocks += shown
    if left_off:
        ids = ", ".join(left_off[:20])
        blocks += literal_blocks(
            f"{len(left_off)} more: {ids}. Decide them in their chats or by /echo approve ID."
        )
    return blocks


def _size(blocks: Sequence[Block]) -> int:
    return len(json.dumps(blocks, ensure_ascii=False))
