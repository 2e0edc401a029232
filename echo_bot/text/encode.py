"""One card for each kind of surface. Nothing in it becomes markup, a link, a ping or a terminal command."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import assert_never

from echo_bot.channel import LengthUnit
from echo_bot.events import Card, CardBlock, CodeBlock, Fields, Paragraph
from echo_bot.text.language import _
from echo_bot.text.measure import measure
from echo_bot.text.plain import defuse_mentions

_CODE_MARGIN = "| "
_DISCORD_MARKUP = re.compile(
    r"(?P<lead>(?m:^)[ \t]*)(?P<start>[#>-])"
    r"|[\\*_~`|<\[]|:(?=//|(?!\d\d:)[\w+-]+:)"
)
"""What makes something else of text in Discord: some signs anywhere, some only before a name or a line."""

_TERMINAL_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BECOMES_LINK = re.compile(r"[@/#$.:]")
_WORD = re.compile(r"\S+")
_LINKED = re.compile(r"[@#]\w|\$[A-Z]|(?<![\w/])/\w|://|\w\.[^\W\d]{2}|\d\.\d+\.\d+\.\d")
"""What a word holds that Telegram would make a ping, a tag, a command or a link of."""
_MAX_LINKED_WORDS = 8
_FENCE = re.compile(r"`{3,}")
_WORD_JOINER = "\u2060"


@dataclass(frozen=True, slots=True)
class TextEntity:
    """A formatted span: `kind` is "bold", "code" or "pre"; `offset` and `length` count UTF-16 units."""

    kind: str
    offset: int
    length: int
    language: str = ""


def encode_card_telegram(card: Card) -> tuple[str, tuple[TextEntity, ...]]:
    """Plain text with bold and code as entities, so that no character of the card is ever markup.

    Telegram looks for names, tags, commands and addresses everywhere but in code, so those words are code.
    """
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

    def add_words(text: str, kind: str = "") -> None:
        linked = [word.span() for word in _WORD.finditer(text) if _LINKED.search(word[0])]
        if len(linked) > _MAX_LINKED_WORDS:
            # Telegram heeds a hundred entities a message and links what the others would have covered.
            linked = [(0, len(text))]
        place = 0
        for start, end in linked:
            add(text[place:start], kind)
            add(text[start:end], "code")
            place = end
        add(text[place:], kind)

    add_words(card.title, "bold")
    for block in card.blocks:
        add("\n\n")
        match block:
            case Paragraph():
                add_words(block.text, "bold" if block.strong else "")
            case CodeBlock():
                if block.label:
                    add_words(f"{block.label}\n")
                add(block.text, "pre", block.language)
            case Fields():
                for index, (label, value) in enumerate(block.rows):
                    add("\n" if index else "")
                    before_value = label_before(label)
                    add_words(before_value.rstrip(), "bold")
                    add(before_value[len(before_value.rstrip()) :])
                    add(value, "code" if _BECOMES_LINK.search(value) else "")
            case _:
                assert_never(block)
    return "".join(pieces), tuple(entities)


def label_before(label: str) -> str:
    """`Tool: `, as the chosen language writes it before a value."""
    return _("{label}: ").format(label=label)


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
            return "\n".join(f"{label_before(label)}{value}" for label, value in block.rows)
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
    """Discord Markdown: literal text escaped, mentions defused, code in fences that it cannot end."""
    return "\n".join([f"**{_discord_literal(card.title)}**", *(_discord_block(b) for b in card.blocks)])


def _discord_block(block: CardBlock) -> str:
    match block:
        case Paragraph():
            text = _discord_literal(block.text)
            return f"**{text}**" if block.strong and text else text
        case CodeBlock():
            label = f"{_discord_literal(block.label)}\n" if block.label else ""
            return f"{label}```{block.language}\n{_unfenced(block.text)}\n```"
        case Fields():
            return "\n".join(
                f"**{label_before(_discord_literal(label)).rstrip()}** {_discord_literal(value)}"
                for label, value in block.rows
            )
        case _:
            assert_never(block)


def _unfenced(code: str) -> str:
    """Discord ends a code block at the first three backticks, however many began it: they are kept apart."""
    return _FENCE.sub(lambda run: _WORD_JOINER.join(run[0]), code)


def _discord_literal(text: str) -> str:
    return _DISCORD_MARKUP.sub(_escaped, defuse_mentions(text))


def _escaped(found: re.Match[str]) -> str:
    return f"{found['lead']}\\{found['start']}" if found["start"] else f"\\{found[0]}"


def encode_card_slack(card: Card) -> str:
    """Text for a Slack `plain_text` or rich-text element: & < > escaped, no mrkdwn."""
    text = "\n\n".join([card.title, *(_plain_block(block) for block in card.blocks)])
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
