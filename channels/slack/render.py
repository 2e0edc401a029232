"""What is sent: texts as mrkdwn within Slack's limits, cards as literal blocks with buttons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from channels.slack.entities import escaped
from channels.slack.mrkdwn import to_mrkdwn
from echo_bot.channel import LengthUnit
from echo_bot.errors import FormatRejected
from echo_bot.events import (
    Button,
    ButtonStyle,
    Card,
    CardBlock,
    CodeBlock,
    Fields,
    OutboundText,
    Paragraph,
)
from echo_bot.text import encode_card_slack, label_before, split_markdown, split_plain

MAX_CHARACTERS = 12_000
"""For the core to split by: what fits a message together with its formatting."""

MAX_SECTION = 3000
MAX_ALL_SECTIONS = 13_000
MAX_TEXT = 3900
"""The `text` of a message that also has blocks, or is changed later: Slack takes 4000 when changing."""

_MAX_SOURCE = 2800
_FINE_SOURCE = 700
"""Of pieces that are formatted or not one by one: few enough for the blocks of a message."""

_LEAST_SOURCE = 350
"""Five characters, as of `&amp;`, for each of so many still fit a section."""

_MAX_TOKEN = 2000
_MAX_LABEL = 75
_BUTTONS_A_ROW = 5
_STYLES = {ButtonStyle.PRIMARY: "primary", ButtonStyle.DANGER: "danger"}
PRESS, ASK = "press", "ask"
"""What an action id begins with: whether the button decides at once or asks for words first."""

_FENCED = re.compile(r"```\w*\n(.+)\n```\s*", re.DOTALL)

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rendered:
    """`text` is mrkdwn, unless `literal`; where there are blocks, they are shown instead of it."""

    text: str
    blocks: tuple[Block, ...] = ()
    literal: bool = False


def render_text(message: OutboundText) -> Rendered:
    """The message as one text where it fits, else as sections; literally where formatting loses words."""
    source = message.text
    formatted = to_mrkdwn(source) if message.markdown and len(source) <= MAX_SECTION else None
    if formatted is not None and len(formatted) <= MAX_SECTION:
        return Rendered(formatted)
    if formatted is None and len(escaped(source)) <= MAX_SECTION:
        return Rendered(escaped(source), literal=True)
    return Rendered(preview(source), _formatted_blocks(message), literal=True)


def render_card(card: Card) -> Rendered:
    """The whole card as literal rich text, and its buttons. Raises FormatRejected for an unusable token."""
    return Rendered(preview_of_card(card), (*card_blocks(card), *button_rows(card.buttons)), literal=True)


def preview(source: str) -> str:
    """What a notification shows of a text, escaped."""
    return _shortened(source, MAX_TEXT)


def preview_of_card(card: Card) -> str:
    text = encode_card_slack(card)
    return text if len(text) <= MAX_TEXT else preview(card.title)


def card_blocks(card: Card) -> list[Block]:
    """Rich text only: Slack looks for no markup, mention or link in it."""
    elements = [_section(card.title, bold=True)]
    for block in card.blocks:
        elements += _elements(block)
    return _packed(elements)


def literal_blocks(source: str) -> list[Block]:
    return _packed([_section(piece) for piece in split_plain(source, MAX_SECTION, LengthUnit.CHARACTERS)])


def button_rows(buttons: Sequence[Button], prefix: str = "") -> list[Block]:
    """The buttons in rows; their action ids are unique under different prefixes."""
    keys = [_button(button, f"{prefix}{place}") for place, button in enumerate(buttons)]
    rows = [keys[start : start + _BUTTONS_A_ROW] for start in range(0, len(keys), _BUTTONS_A_ROW)]
    return [{"type": "actions", "elements": row} for row in rows]


def plain(text: str, limit: int) -> Block:
    """A `plain_text` object. Slack decodes & < > in it, as everywhere."""
    return {"type": "plain_text", "text": _shortened(text, limit), "emoji": False}


def _shortened(text: str, limit: int) -> str:
    """`text` escaped, cut where it would be longer than `limit`."""
    if len(escaped(text)) <= limit:
        return escaped(text)
    kept = limit - 1
    while len(escaped(text[:kept])) >= limit:
        kept -= max(1, (len(escaped(text[:kept])) - limit) // 5)
    return f"{escaped(text[:kept])}…"


def _button(button: Button, number: str) -> Block:
    if not 1 <= len(button.token) <= _MAX_TOKEN:
        raise FormatRejected(f"the token of button {button.label!r} does not fit {_MAX_TOKEN} characters")
    key: Block = {
        "type": "button",
        "text": plain(button.label, _MAX_LABEL),
        "action_id": f"{ASK if button.prompt else PRESS}:{number}",
        "value": button.token,
    }
    style = _STYLES.get(button.style)
    return key | {"style": style} if style else key


def _formatted_blocks(message: OutboundText) -> tuple[Block, ...]:
    """The text in as much of its formatting as fits a message; what grows most by it goes without."""
    pieces = list(_pieces(message.text, _MAX_SOURCE)) if message.markdown else []
    if sum(_shown_length(*piece) for piece in pieces) > MAX_ALL_SECTIONS:
        pieces = list(_pieces(message.text, _FINE_SOURCE))
    shown = [block for _, block in pieces]
    growth = [_shown_length(*piece) - len(piece[0]) for piece in pieces]
    total = sum(_shown_length(*piece) for piece in pieces)
    for place in sorted(range(len(pieces)), key=growth.__getitem__, reverse=True):
        if total <= MAX_ALL_SECTIONS:
            break
        shown[place], total = None, total - growth[place]
    blocks: list[Block] = []
    raw = "" if pieces else message.text
    for (source, _), block in zip(pieces, shown, strict=True):
        if block is None:
            raw += source
            continue
        blocks += [*(literal_blocks(raw) if raw else ()), block]
        raw = ""
    return (*blocks, *(literal_blocks(raw) if raw else ()))


def _shown_length(source: str, block: Block | None) -> int:
    return len(source) if block is None else _length(block)


def _pieces(source: str, limit: int) -> Iterator[tuple[str, Block | None]]:
    """Pieces of at most `limit` with the block that shows each formatted, None where it must stay as it is.

    One that formatting makes too long is halved, but not below `_LEAST_SOURCE`.
    """
    for piece in split_markdown(source, limit, LengthUnit.CHARACTERS):
        if code := code_of(piece):
            # Literal, so that no < or & of it takes more room than it has.
            yield piece, {"type": "rich_text", "elements": [_preformatted(code)]}
            continue
        text = to_mrkdwn(piece)
        if text and len(text) > MAX_SECTION and limit // 2 >= _LEAST_SOURCE:
            yield from _pieces(piece, limit // 2)
        elif not text or len(text) > MAX_SECTION:
            yield piece, None
        else:
            section = {"type": "mrkdwn", "text": text, "verbatim": True}
            yield piece, {"type": "section", "text": section, "expand": True}


def code_of(piece: str) -> str:
    """The code of a piece that is one fence and nothing else; "" for any other."""
    found = _FENCED.fullmatch(piece)
    return found[1] if found and found[1].strip() and "```" not in found[1] else ""


def _elements(block: CardBlock) -> list[Block]:
    match block:
        case Paragraph():
            pieces = split_plain(block.text, MAX_SECTION, LengthUnit.CHARACTERS)
            return [_section(piece, bold=block.strong) for piece in pieces]
        case CodeBlock():
            label = [_section(block.label)] if block.label else []
            pieces = split_plain(block.text, MAX_SECTION, LengthUnit.CHARACTERS)
            return label + [_preformatted(piece) for piece in pieces]
        case Fields():
            return [_row(label, value) for label, value in block.rows]
        case _:
            assert_never(block)


def _section(text: str, *, bold: bool = False) -> Block:
    return {"type": "rich_text_section", "elements": [_words(text, bold=bold)]}


def _preformatted(text: str) -> Block:
    return {"type": "rich_text_preformatted", "elements": [_words(text)]}


def _row(label: str, value: str) -> Block:
    return {"type": "rich_text_section", "elements": [_words(label_before(label), bold=True), _words(value)]}


def _words(text: str, *, bold: bool = False) -> Block:
    element: Block = {"type": "text", "text": text}
    return element | {"style": {"bold": True}} if bold else element


def _packed(elements: Sequence[Block]) -> list[Block]:
    """Elements in blocks of at most one section's length, a longer element in one of its own."""
    groups: list[list[Block]] = [[]]
    for element in elements:
        if groups[-1] and sum(map(_length, groups[-1])) + _length(element) > MAX_SECTION:
            groups.append([])
        groups[-1].append(element)
    return [{"type": "rich_text", "elements": group} for group in groups if group]


def _length(part: Block) -> int:
    """The characters that count for Slack's limits."""
    if isinstance(part.get("text"), str):
        return len(part["text"])
    inner = part.get("elements") or [part["text"]]
    return sum(_length(each) for each in inner)
