"""Markdown to Telegram's text and entities: nothing of the text is lost, and no unsafe link is made."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from itertools import pairwise

import pyromark
from telegram import MessageEntity
from telegramify_markdown import RenderConfig, convert
from telegramify_markdown.converter import STANDARD_OPTIONS

from channels.telegram.losses import is_safe_link, letters, shown_whole
from channels.telegram.quiet import quiet
from echo_bot.channel import LengthUnit
from echo_bot.events import Card
from echo_bot.text import TextEntity, encode_card_telegram
from echo_bot.text.measure import measure

MAX_UNITS = 4096
_LITERAL = frozenset({"Html", "InlineHtml", "InlineMath", "DisplayMath"})
_SIGN = re.compile(rb"[<$]")
_NOT_SHOWN = re.compile(
    r"\]\([^)\n]*\)|\][ ]?\[[^\]\n]*\]|^ {0,3}\[[^\]\n]+\]:.*$"
    r"|^[ >]*(?:`{3,}|~{3,})[ \t]*[^\s`]*|^[ >]*(?:[-*+]|\d+[.)])[ \t]+\[[xX]\](?=\s)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Rendered:
    text: str
    entities: tuple[MessageEntity, ...] = ()


def render_markdown(source: str) -> Rendered:
    """The formatted text, or `source` as it is where formatting would lose words or outgrow a message."""
    text, found = convert(literal_markup(shown_whole(source)), latex_escape=False, config=_plain_symbols())
    if measure(text, LengthUnit.UTF16) > MAX_UNITS or not keeps_words(source, text):
        return render_plain(source)
    entities = tuple(
        MessageEntity(type=one.type, offset=one.offset, length=one.length, url=one.url, language=one.language)
        for one in found
        if one.type != "text_link" or is_safe_link(one.url or "")
    )
    return Rendered(text, quiet(text, entities))


def render_plain(text: str) -> Rendered:
    """The text as it is; of what Telegram would mark by itself, names are shown as code."""
    return Rendered(text, quiet(text, ()))


def render_card(card: Card) -> Rendered:
    """The card as the text package encodes it: everything in it literal."""
    text, found = encode_card_telegram(card)
    return Rendered(text, tuple(_entity(one) for one in found))


def _entity(one: TextEntity) -> MessageEntity:
    return MessageEntity(one.kind, one.offset, one.length, language=one.language or None)


def literal_markup(source: str) -> str:
    """`source` with raw HTML and formulas escaped: the converter drops the one and the signs of the other."""
    encoded = source.encode("utf-8", "replace")
    while places := _literal_places(encoded):
        pieces = [encoded[start:end] for start, end in pairwise([0, *places, len(encoded)])]
        encoded = b"\\".join(pieces)
    return encoded.decode()


def keeps_words(source: str, text: str) -> bool:
    """Are the letters and digits of `source`, but for addresses and fences' languages, still in `text`?"""
    return letters(text) >= letters(html.unescape(_NOT_SHOWN.sub("", source)))


def _literal_places(encoded: bytes) -> list[int]:
    """Byte offsets of signs to escape. Of an HTML block only the first: its other lines may then be code."""
    places: set[int] = set()
    block_is_open = False
    for event, span in pyromark.events_with_range(encoded.decode(), options=STANDARD_OPTIONS):
        if not isinstance(event, dict) or _LITERAL.isdisjoint(event):
            continue
        in_block = "Html" in event
        if not (in_block and block_is_open):
            places |= _first_sign(encoded, span["start"], span["end"])
        block_is_open = in_block
    return sorted(places)


def _first_sign(encoded: bytes, start: int, end: int) -> set[int]:
    found = _SIGN.search(encoded, start, end)
    return {found.start()} if found else set()


def _plain_symbols() -> RenderConfig:
    """Headings without emoji: the converter's defaults decorate every level."""
    config = RenderConfig.isolated()
    for level in range(1, 7):
        setattr(config.markdown_symbol, f"heading_level_{level}", "")
    config.markdown_symbol.unordered_list_item = "•"
    return config
