"""Names in a text that would ping somebody, shown as code instead; and code that stands for itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from telegram import MessageEntity

from echo_bot.channel import LengthUnit
from echo_bot.text.measure import measure

MAX_ENTITIES = 100
"""Telegram heeds so many of a message."""

_NAME = re.compile(r"(?<!\w)@\w{2,64}", re.ASCII)
_MOST_NAMES = 40
_CODE = frozenset({MessageEntity.CODE, MessageEntity.PRE})
_STYLES = frozenset(
    {
        MessageEntity.BOLD,
        MessageEntity.ITALIC,
        MessageEntity.UNDERLINE,
        MessageEntity.STRIKETHROUGH,
        MessageEntity.SPOILER,
    }
)

_Span = tuple[int, int]


def quiet(text: str, entities: Sequence[MessageEntity]) -> tuple[MessageEntity, ...]:
    """`entities` with every `@name` as code, where Telegram looks for no names.

    Telegram knows code neither in a link nor within a style: code in a link is dropped, a style ends before
    code and goes on behind it.
    """
    links = [_span(one) for one in entities if one.type == MessageEntity.TEXT_LINK]
    code = [one for one in entities if one.type in _CODE and not _meets(_span(one), links)]
    closed = [*links, *map(_span, code)]
    names = [span for span in _names(text) if not _meets(span, closed)]
    code += [
        MessageEntity(MessageEntity.CODE, start, end - start)
        for start, end in _few(names)
        if not _meets((start, end), closed)
    ]
    blocks = sorted(map(_span, code))
    styled = [one for one in entities if one.type in _STYLES]
    rest = [one for one in entities if one.type not in _STYLES and one.type not in _CODE]
    cut = (piece for one in styled for piece in _around(one, blocks))
    return (*code, *rest, *cut)[:MAX_ENTITIES]


def _names(text: str) -> Iterator[_Span]:
    """Where the names stand, in UTF-16 units."""
    place = units = 0
    for name in _NAME.finditer(text):
        start = units + measure(text[place : name.start()], LengthUnit.UTF16)
        place, units = name.end(), start + measure(name[0], LengthUnit.UTF16)
        yield start, units


def _few(names: Sequence[_Span]) -> Sequence[_Span]:
    """Of too many names each would need what Telegram no longer heeds: neighbours are taken together."""
    size = -(-len(names) // _MOST_NAMES)
    groups = (names[start : start + size] for start in range(0, len(names), size or 1))
    return [(group[0][0], group[-1][1]) for group in groups]


def _around(one: MessageEntity, blocks: Iterable[_Span]) -> Iterator[MessageEntity]:
    place, end = _span(one)
    for block_start, block_end in blocks:
        if block_end <= place or block_start >= end:
            continue
        if block_start > place:
            yield MessageEntity(one.type, place, block_start - place)
        place = block_end
    if place < end:
        yield MessageEntity(one.type, place, end - place)


def _span(one: MessageEntity) -> _Span:
    return one.offset, one.offset + one.length


def _meets(span: _Span, others: Iterable[_Span]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)
