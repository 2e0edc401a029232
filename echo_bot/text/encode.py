"""One card for each kind of surface. Nothing in it becomes markup, a link, a ping or a terminal command."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import assert_never

from echo_bot.channel import LengthUnit
from echo_bot.events import Card, CardBlock, CodeBlock, Fields, Paragraph
from echo_bot.text.measure import measure
from echo_bot.text.plain import defuse_mentions

_CODE_MARGIN = "| "
_DISCORD_MARKUP = re.compile(r"([\\*_~`|<>\[\]()#:@-])")
_TERMINAL_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NAME_MENTION = re.compile(r"@(?=\w)")
_BECOMES_LINK = re.compile(r"[@/#$.:]")
_WORD_JOINER = "\u2060"
_BACKTICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class TextEntity:
    """A formatted span: `kind` is "bold", "code" or "pre"; `offset` and `length` count UTF-16 units."""

    kind: str
    offset: int
    length: int
    language: str = ""


def encode_card_telegram(card: Card) -> tuple[str, tuple[TextEntity, ...]]:
    """Plain text with bold and code as entities, so that no character of the card is ever markup."""
    pieces: list[str] = []
    entities: list[TextEntity] = []
    length = 0

    def add(text: str, kind: str = "", language: str = "") -> None:
        nonlocal length
        size = measure(text, LengthUnit.UTF16)
        if kind and text:
            entities.append(TextEntity(kind, length, size, language))
        pieces.append(text)
        length += size

    add(card.title, "bold")
    for block in card.blocks:
        add("\n\n")
        match block:
            case Paragraph():
                add(_NAME_MENTION.sub(f"@{_WORD_JOINER}", block.text), "bold" if block.strong else "")
            case CodeBlock():
                if block.label:
                    add(f"{block.label}\n")
                add(block.text, "pre", block.language)
            case Fields():
                for index, (label, value) in enumerate(block.rows):
                    add("\n" if index else "")
                    add(f"{label}:", "bold")
                    add(" ")
                    add(value, "code" if _BECOMES_LINK.search(value) else "")
            case _:
                assert_never(block)
    return "".join(pieces), tuple(entities)


def card_text(card: Card) -> str:
    """The words of a card, as `encode_card_telegram` lays them out."""
    return encode_card_telegram(card)[0]


def encode_card_plain(card: Card) -> str:
    """Text for a terminal or a channel without markup: code has a margin on every line, controls are gone."""
    text = "\n\n".join([card.title, *(_plain_block(block) for block in card.blocks)])
    return _TERMINAL_CONTROLS.sub(lambda found: f"\\u{{{ord(found[0]):X}}}", text)


def _plain_block(block: CardBlock) -> str:
    match block:
        case Paragraph():
            return block.text
        case CodeBlock():
            label = f"{block.label}:\n" if block.label else ""
            return label + "\n".join(_CODE_MARGIN + line for line in block.text.split("\n"))
        case Fields():
            return "\n".join(f"{label}: {value}" for label, value in block.rows)
        case _:
            assert_never(block)


def encode_card_html(card: Card) -> str:
    """HTML for a page: every text is escaped; the page styles `.card-…` classes."""
    blocks = "".join(_html_block(block) for block in card.blocks)
    return f'<h3 class="card-title">{html.escape(card.title)}</h3>{blocks}'


def _html_block(block: CardBlock) -> str:
    match block:
        case Paragraph():
            strong = " card-strong" if block.strong else ""
            return f'<p class="card-text{strong}">{html.escape(block.text)}</p>'
        case CodeBlock():
            label = f'<div class="card-label">{html.escape(block.label)}</div>' if block.label else ""
            language = html.escape(block.language)
            return f'{label}<pre class="card-code" data-language="{language}">{html.escape(block.text)}</pre>'
        case Fields():
            rows = "".join(
                f"<dt>{html.escape(label)}</dt><dd>{html.escape(value)}</dd>" for label, value in block.rows
            )
            return f'<dl class="card-facts">{rows}</dl>'
        case _:
            assert_never(block)


def encode_card_discord(card: Card) -> str:
    """Discord Markdown: literal text escaped, mentions defused, code in fences longer than any run inside."""
    return "\n".join([f"**{_discord_literal(card.title)}**", *(_discord_block(b) for b in card.blocks)])


def _discord_block(block: CardBlock) -> str:
    match block:
        case Paragraph():
            text = _discord_literal(block.text)
            return f"**{text}**" if block.strong and text else text
        case CodeBlock():
            label = f"{_discord_literal(block.label)}\n" if block.label else ""
            fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(block.text)), default=0))
            return f"{label}{fence}{block.language}\n{block.text}\n{fence}"
        case Fields():
            return "\n".join(
                f"**{_discord_literal(label)}:** {_discord_literal(value)}" for label, value in block.rows
            )
        case _:
            assert_never(block)


def _discord_literal(text: str) -> str:
    return _DISCORD_MARKUP.sub(r"\\\1", defuse_mentions(text))


def encode_card_slack(card: Card) -> str:
    """Text for a Slack `plain_text` or rich-text element: & < > escaped, no mrkdwn."""
    text = "\n\n".join([card.title, *(_plain_block(block) for block in card.blocks)])
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
