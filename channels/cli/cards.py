"""The open cards of this terminal: one is asked, the others wait in line."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field

from echo_bot.events import Card, CardState

_REMEMBERED = 256


@dataclass(slots=True)
class OpenCard:
    """A card and the message that shows it. `closed` is set once it was decided, wherever that was.

    `draft`: words for one of its buttons that were refused.
    """

    card: Card
    message_id: str
    draft: str = ""
    closed: asyncio.Event = field(default_factory=asyncio.Event)


class CardLine:
    """First come, first asked. A card that comes again stays where it is in the line.

    `answers_a_command`: the next new card is what somebody just asked for, and comes first.
    """

    def __init__(self) -> None:
        self._open: OrderedDict[str, OpenCard] = OrderedDict()
        self._told: OrderedDict[str, CardState] = OrderedDict()
        self._answered: OrderedDict[str, None] = OrderedDict()
        self.answers_a_command = False

    def __len__(self) -> int:
        return len(self._open)

    def first(self) -> OpenCard | None:
        return next(iter(self._open.values()), None)

    def put(self, card: Card, message_id: str) -> None:
        """Add it, or take its new face."""
        known = self._open.get(card.card_id)
        if known is not None:
            known.card = card
            return
        self._open[card.card_id] = OpenCard(card, message_id)
        if self.answers_a_command:
            self._open.move_to_end(card.card_id, last=False)
            self.answers_a_command = False

    def drop(self, card_id: str) -> OpenCard | None:
        """It needs no answer here any more."""
        found = self._open.pop(card_id, None)
        if found is not None:
            found.closed.set()
        return found

    def clear(self) -> None:
        """Nothing is asked here any more; the transcript has the open cards for the next start."""
        for card_id in tuple(self._open):
            self.drop(card_id)

    def answered(self, card_id: str) -> None:
        """The person here did their part; others must still decide."""
        self.drop(card_id)
        self._answered[card_id] = None
        while len(self._answered) > _REMEMBERED:
            self._answered.popitem(last=False)

    def was_answered(self, card_id: str) -> bool:
        return card_id in self._answered

    def is_news(self, card: Card) -> bool:
        """Was this state of a closed card not told yet? Remembers that it is now."""
        if self._told.get(card.card_id) is card.state:
            return False
        self._told[card.card_id] = card.state
        while len(self._told) > _REMEMBERED:
            self._told.popitem(last=False)
        return True
