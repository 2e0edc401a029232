"""A card as plain text with the commands to type, for channels without buttons."""

from __future__ import annotations

from collections.abc import Iterable

from echo_bot.approval.request import Choice
from echo_bot.approval.words import Words
from echo_bot.events import Card, CardState
from echo_bot.text import encode_card_plain

_TYPED = {
    Choice.ONCE: "/approve {id} once",
    Choice.SESSION: "/approve {id} session",
    Choice.HOUR: "/approve {id} 1h",
    Choice.ALWAYS: "/approve {id} always",
    Choice.DENY: "/deny {id}",
    Choice.DENY_REASON: "/deny {id} <reason>",
}


def fallback_text(card: Card, offered: Iterable[Choice] = (Choice.ONCE, Choice.DENY)) -> str:
    """The card's text; an open one ends with what can be typed to decide it."""
    text = encode_card_plain(card)
    typed = [_TYPED[choice].format(id=card.short_id) for choice in offered if choice in _TYPED]
    if card.state is not CardState.OPEN or not typed:
        return text
    return "\n".join([text, "", Words.to_approve, *typed])
