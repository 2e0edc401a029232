"""Text that people read: measured, split, freed of markup, and cards encoded for each kind of surface."""

from __future__ import annotations

from echo_bot.text.encodable import encodable
from echo_bot.text.encode import (
    TextEntity,
    card_text,
    encode_card_discord,
    encode_card_html,
    encode_card_plain,
    encode_card_slack,
    encode_card_telegram,
    label_before,
)
from echo_bot.text.measure import measure
from echo_bot.text.parts import TooLong, card_parts, closed_card
from echo_bot.text.plain import defuse_mentions, strip_markup
from echo_bot.text.split import join_parts, split_markdown, split_plain
from echo_bot.text.visible import is_blank

__all__ = [
    "TextEntity",
    "TooLong",
    "card_parts",
    "card_text",
    "closed_card",
    "defuse_mentions",
    "encodable",
    "encode_card_discord",
    "encode_card_html",
    "encode_card_plain",
    "encode_card_slack",
    "encode_card_telegram",
    "is_blank",
    "join_parts",
    "label_before",
    "measure",
    "split_markdown",
    "split_plain",
    "strip_markup",
]
