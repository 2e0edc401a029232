"""Encoders: what a card holds stays literal on every surface; long cards are shown whole or not at all."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.channel import LengthUnit
from echo_bot.events import Button, Card, CodeBlock, Fields, Paragraph
from echo_bot.text import (
    TooLong,
    card_parts,
    card_text,
    closed_card,
    encode_card_discord,
    encode_card_html,
    encode_card_plain,
    encode_card_slack,
    encode_card_telegram,
    measure,
)
from echo_bot.text.parts import longest_encoding

NASTY = "a ``` b <b>&amp; @everyone <!here> *x* _y_ [l](tg://user?id=1) \x1b[2J"
CARD = Card(
    card_id="c1",
    title="Run a command? · runs code",
    blocks=(
        CodeBlock(NASTY + "\n````\nnext", language="bash", label="command"),
        Paragraph(NASTY, strong=True),
        Fields((("Folder", "/srv/a_b"), ("Asked by", "@ana"))),
    ),
    buttons=(Button("Approve once", "t1"),),
    short_id="c1",
    fallback="text",
)


def test_no_code_ends_its_fence_on_discord() -> None:
    encoded = encode_card_discord(CARD)
    assert [run for run in re.findall("`+", encoded.split("**")[2]) if len(run) > 2] == ["```", "```"]
    _, block, _ = encoded.split("```", 2)
    assert NASTY.replace("```", "`\u2060`\u2060`") in block
    assert block.endswith("next\n")


@pytest.mark.parametrize("count", range(1, 9))
def test_backticks_of_any_number_stay_inside_a_discord_block(count: int) -> None:
    encoded = encode_card_discord(Card("c", "t", (CodeBlock(f"a\n{'`' * count}\n**Approved**"),)))
    assert encoded.count("```") == 2
    assert encoded.endswith("**Approved**\n```")


def test_discord_literal_text_has_no_markup_left() -> None:
    literal = encode_card_discord(Card("c", "t", (Paragraph(NASTY),)))
    assert "@everyone" not in literal
    assert not re.search(r"(?<!\\)[*_`<\[]", literal.replace("**t**", ""))


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("discord:123 (“Ada”) at 12:45:10 UTC", "discord:123 (“Ada”) at 12:45:10 UTC"),
        ("/tmp/two-words", "/tmp/two-words"),
        ("- a\n  - b\n# c\n> d\n-# e", "\\- a\n  \\- b\n\\# c\n\\> d\n\\-# e"),
        ("https://x.y", "https\\://x.y"),
        (":smile: :100:", "\\:smile: \\:100:"),
        ("~~a~~ ||b||", "\\~\\~a\\~\\~ \\|\\|b\\|\\|"),
    ],
)
def test_discord_is_kept_from_what_it_would_make_something_of_and_nothing_else(
    text: str, literal: str
) -> None:
    assert encode_card_discord(Card("c", "t", (Paragraph(text),))) == f"**t**\n{literal}"


def test_html_is_escaped_whole() -> None:
    encoded = encode_card_html(CARD)
    assert "<b>" not in encoded
    assert html.escape(NASTY) in encoded


def test_slack_text_holds_no_control_sequence() -> None:
    encoded = encode_card_slack(CARD)
    assert "<" not in encoded
    assert "&lt;!here&gt;" in encoded


def test_a_terminal_gets_no_escape_and_a_margin_before_code() -> None:
    encoded = encode_card_plain(CARD)
    assert "\x1b" not in encoded
    assert "\n| next" in encoded


def test_telegram_entities_cover_exactly_the_code() -> None:
    card = Card(
        "c", "😀 title", (CodeBlock("ls 😀", language="bash", label="command"), Fields((("Id", "x"),)))
    )
    text, entities = encode_card_telegram(card)
    units = text.encode("utf-16-le")
    spans = {
        entity.kind: units[2 * entity.offset : 2 * (entity.offset + entity.length)].decode("utf-16-le")
        for entity in entities
        if entity.kind == "pre"
    }
    assert spans == {"pre": "ls 😀"}
    assert entities[0].length == 8


def test_a_name_in_a_telegram_fact_pings_nobody() -> None:
    text, entities = encode_card_telegram(CARD)
    code = [text[e.offset : e.offset + e.length] for e in entities if e.kind == "code"]
    assert "@ana" in code


@pytest.mark.parametrize(
    ("words", "literal"),
    [
        ("ask @ana_m now", ["@ana_m"]),
        ("(@ana_m), please", ["(@ana_m),"]),
        ("#tag and $USD", ["#tag", "$USD"]),
        ("type /approve abc once", ["/approve"]),
        ("see https://evil.example/x?y", ["https://evil.example/x?y"]),
        ("or evil.example or tg://user?id=1", ["evil.example", "tg://user?id=1"]),
        ("mail ana@example.org", ["ana@example.org"]),
        ("10.0.0.1 is near", ["10.0.0.1"]),
        ("at 10:30, e.g. 3.5 s and/or C# 🙂", []),
    ],
)
@pytest.mark.parametrize("strong", [False, True])
def test_what_telegram_would_make_a_link_or_ping_of_is_code(
    words: str, literal: list[str], strong: bool
) -> None:
    card = Card("c", words, (Paragraph(words, strong=strong), CodeBlock("ls", label=words)))
    text, entities = encode_card_telegram(card)
    units = text.encode("utf-16-le")
    code = [
        units[2 * e.offset : 2 * (e.offset + e.length)].decode("utf-16-le")
        for e in entities
        if e.kind == "code"
    ]
    assert code == 3 * literal
    assert text == f"{words}\n\n{words}\n\n{words}\nls"


def test_a_paragraph_full_of_names_is_code_whole_since_telegram_counts_entities() -> None:
    names = " ".join(f"@name_{n}" for n in range(200))
    _, entities = encode_card_telegram(Card("c", "t", (Paragraph(names, strong=True),)))
    assert [e.kind for e in entities] == ["bold", "code"]


CARDS = st.builds(
    lambda code, words: Card("c", "Run?", (CodeBlock(code, label="command"), Paragraph(words)), CARD.buttons),
    st.text("ab \n`<&😀*", max_size=900),
    st.text("ab \n", max_size=300),
)


@given(CARDS, st.integers(120, 400), st.sampled_from(list(LengthUnit)))
def test_parts_fit_everywhere_and_only_the_last_has_buttons(card: Card, limit: int, unit: LengthUnit) -> None:
    parts = card_parts(card, limit, unit)
    if isinstance(parts, TooLong):
        return
    assert all(longest_encoding(part, unit) <= limit for part in parts)
    assert [bool(part.buttons) for part in parts] == [False] * (len(parts) - 1) + [True]
    shown = "".join(b.text for part in parts for b in part.blocks if isinstance(b, CodeBlock))
    assert shown == "".join(b.text for b in card.blocks if isinstance(b, CodeBlock))


def test_a_short_card_is_one_part_and_unchanged() -> None:
    assert card_parts(CARD, 4096, LengthUnit.UTF16) == (CARD,)


def test_parts_are_numbered_and_the_last_keeps_the_fallback() -> None:
    card = Card("c", "Run?", (CodeBlock("echo hello\n" * 600),), CARD.buttons, fallback="typed")
    parts = card_parts(card, 4096, LengthUnit.UTF16, encode=card_text)
    assert not isinstance(parts, TooLong)
    assert [part.title for part in parts] == [f"Run? ({n}/{len(parts)})" for n in range(1, len(parts) + 1)]
    assert [part.fallback for part in parts] == [""] * (len(parts) - 1) + ["typed"]
    assert all(measure(card_text(part), LengthUnit.UTF16) <= 4096 for part in parts)


def test_a_heading_stands_with_what_it_heads() -> None:
    heading, reasons = Paragraph("Why this asks", strong=True), Paragraph("• " + "it runs code " * 8)
    card = Card("c", "Run?", (CodeBlock("x" * 240), heading, reasons), CARD.buttons)
    parts = card_parts(card, 300, LengthUnit.UTF16, encode=card_text)
    assert not isinstance(parts, TooLong)
    assert [part.blocks for part in parts] == [(card.blocks[0],), (heading, reasons)]


@pytest.mark.parametrize("limit", [20, 200], ids=["no room for the title", "too many messages"])
def test_what_cannot_be_shown_whole_says_so(limit: int) -> None:
    card = Card("c", "Run a command?", (CodeBlock("x" * 100_000),))
    parts = card_parts(card, limit, LengthUnit.CHARACTERS)
    assert isinstance(parts, TooLong)
    assert "cannot be approved here" in parts.reason


def test_a_decided_card_fits_the_message_it_is_edited_into() -> None:
    verdict = Paragraph("Approved once by web:local", strong=True)
    card = Card("c", "Run?", (verdict, CodeBlock("x" * 9000, label="command"), CodeBlock("ls", label="Runs")))
    short = closed_card(card, 4096, LengthUnit.UTF16)
    assert short.blocks == (verdict, Paragraph("command: shown whole in the messages above"), card.blocks[2])
    assert closed_card(short, 4096, LengthUnit.UTF16) == short
