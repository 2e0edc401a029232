"""A card too long for one message: shown whole over several, with the buttons on the last, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from echo_bot.channel import LengthUnit
from echo_bot.events import Card, CardBlock, CodeBlock, Fields, Paragraph
from echo_bot.text.encode import card_text, encode_card_discord, encode_card_slack
from echo_bot.text.language import N_, _
from echo_bot.text.measure import measure
from echo_bot.text.split import split_plain

MAX_PARTS = 24
"""More messages than this nobody reads before pressing a button."""

_SHOWN_ABOVE = N_("shown whole in the messages above")

Encoder = Callable[[Card], str]


@dataclass(frozen=True, slots=True)
class TooLong:
    """The card cannot be shown whole, so it must not be approved; `reason` says so to a person."""

    reason: str


def longest_encoding(card: Card, unit: LengthUnit) -> int:
    """How long a card is on the surface where it is longest."""
    return max(measure(encode(card), unit) for encode in (card_text, encode_card_discord, encode_card_slack))


def card_parts(
    card: Card, max_length: int, unit: LengthUnit, *, encode: Encoder | None = None
) -> tuple[Card, ...] | TooLong:
    """Cards that each fit one message and together show all of `card`; only the last has buttons.

    Lengths are those of `encode`, or of the longest encoding for a caller that does not know the surface.
    """

    def fits(part: Card) -> bool:
        size = measure(encode(part), unit) if encode else longest_encoding(part, unit)
        return size <= max_length

    if fits(card):
        return (card,)
    bare = replace(card, blocks=(), title=_numbered(card.title, MAX_PARTS, MAX_PARTS))
    groups: list[tuple[CardBlock, ...]] = [()]
    for piece in _pieces(card.blocks, bare, fits):
        if piece is None or len(groups) > MAX_PARTS:
            return TooLong(_reason(max_length))
        if groups[-1] and not fits(replace(bare, blocks=(*groups[-1], piece))):
            *above, last = groups[-1]
            goes_along = bool(above) and _is_heading(last) and fits(replace(bare, blocks=(last, piece)))
            if goes_along:
                groups[-1] = tuple(above)
            groups.append((last,) if goes_along else ())
        groups[-1] = (*groups[-1], piece)
    if len(groups) > MAX_PARTS:
        return TooLong(_reason(max_length))
    return _numbered_cards(card, groups)


def closed_card(card: Card, max_length: int, unit: LengthUnit, *, encode: Encoder | None = None) -> Card:
    """A decided card that fits one message: code shown in earlier messages is left out, which it says."""

    def fits(candidate: Card) -> bool:
        size = measure(encode(candidate), unit) if encode else longest_encoding(candidate, unit)
        return size <= max_length

    blocks = list(card.blocks)
    by_length = sorted(
        (place for place, block in enumerate(blocks) if isinstance(block, CodeBlock)),
        key=lambda place: -len(_code_text(blocks[place])),
    )
    for place in by_length:
        if fits(replace(card, blocks=tuple(blocks))):
            break
        blocks[place] = Paragraph(
            _("{label}: {text}").format(label=_label(blocks[place]), text=_(_SHOWN_ABOVE))
        )
    shortened = replace(card, blocks=tuple(blocks))
    return shortened if fits(shortened) else replace(card, blocks=card.blocks[:1])


def _is_heading(block: CardBlock) -> bool:
    return isinstance(block, Paragraph) and block.strong


def _code_text(block: CardBlock) -> str:
    return block.text if isinstance(block, CodeBlock) else ""


def _label(block: CardBlock) -> str:
    return (block.label if isinstance(block, CodeBlock) else "") or _("Call")


def _numbered_cards(card: Card, groups: list[tuple[CardBlock, ...]]) -> tuple[Card, ...]:
    count = len(groups)
    cards = [
        replace(card, title=_numbered(card.title, number, count), blocks=blocks, buttons=(), fallback="")
        for number, blocks in enumerate(groups, start=1)
    ]
    cards[-1] = replace(cards[-1], buttons=card.buttons, fallback=card.fallback)
    return tuple(cards)


def _numbered(title: str, number: int, count: int) -> str:
    return f"{title} ({number}/{count})"


def _reason(max_length: int) -> str:
    told = _(
        "This call is too long to be shown whole here ({parts} messages of {length} at most), "
        "so it cannot be approved here. Decide it on the web page, or ask for a shorter call."
    )
    return told.format(parts=MAX_PARTS, length=max_length)


def _pieces(
    blocks: tuple[CardBlock, ...], bare: Card, fits: Callable[[Card], bool]
) -> Iterator[CardBlock | None]:
    """The blocks, long ones cut until each fits a message of its own; None when one cannot be."""
    for block in blocks:
        if fits(replace(bare, blocks=(block,))):
            yield block
        elif isinstance(block, Fields):
            for row in block.rows:
                yield from _text_pieces(Paragraph(f"{row[0]}: {row[1]}"), bare, fits)
        else:
            yield from _text_pieces(block, bare, fits)


def _text_pieces(
    block: Paragraph | CodeBlock, bare: Card, fits: Callable[[Card], bool]
) -> Iterator[CardBlock | None]:
    """One text block cut into the largest equal limits that fit."""
    limit = len(block.text)
    while limit >= 2:
        cuts = split_plain(block.text, limit, LengthUnit.CHARACTERS)
        pieces = [_piece(block, text, first=index == 0) for index, text in enumerate(cuts)]
        if len(pieces) > MAX_PARTS:
            break
        if all(fits(replace(bare, blocks=(piece,))) for piece in pieces):
            yield from pieces
            return
        limit = limit * 3 // 4
    yield None


def _piece(block: Paragraph | CodeBlock, text: str, *, first: bool) -> CardBlock:
    if isinstance(block, Paragraph) or first:
        return replace(block, text=text)
    told = _("{label}, continued").format(label=block.label) if block.label else _("continued")
    return replace(block, text=text, label=told)
