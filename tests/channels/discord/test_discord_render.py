"""Markdown as Discord shows it: nothing is lost, nothing pings, nothing outgrows a message."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from channels.discord.render import MAX_CHARACTERS, fenced, literal, render_markdown
from echo_bot.testing.discord import visible

JOINER = "\u2060"

TABLE = """Before

| Name | Size |
|------|-----:|
| **a** | 1 |
| `long one` | 200 |

After"""

RENDERED = {
    "plain words": ("hello\nworld", "hello\nworld"),
    "emphasis": ("*a* **b** ~~c~~ `d`", "*a* **b** ~~c~~ `d`"),
    "strong underscores, which Discord underlines": ("__bold__ and a__b__c", "**bold** and a__b__c"),
    "headings that Discord knows": ("# One\n\n### Three", "# One\n\n### Three"),
    "headings that it does not": ("#### Four *x*\ntext", "**Four x**\ntext"),
    "an underlined heading": ("Title\n=====\ntext", "# Title\ntext"),
    "a rule": ("a\n\n---\n\nb", "a\n\n───\n\nb"),
    "lists": ("- a\n  - b\n1. c", "- a\n  - b\n1. c"),
    "a quote": ("> quoted", "> quoted"),
    "a fence": ("```py\nx = '||'\n```", "```py\nx = '||'\n```"),
    "a fence of tildes": ("~~~\na ``` b\n~~~", f"```\na `{JOINER}`{JOINER}` b\n```"),
    "words beside a fence's language": ("```py a b\nx\n```", "```py\na b\nx\n```"),
    "words in a fence's place of a language": ("``` <a> b\nx\n```", "```\n<a> b\nx\n```"),
    "a long fence": ("````md\n```\nx\n```\n````", f"```md\n`{JOINER}`{JOINER}`\nx\n`{JOINER}`{JOINER}`\n```"),
    "a fence still being written": ("see\n```sh\nls", "see\n```sh\nls\n```"),
    "indented code": ("a\n\n    x = 1\n\nb", "a\n\n```\nx = 1\n```\n\nb"),
    "a table": (
        TABLE,
        "Before\n\n```\nName      Size\n────────  ────\na         1\nlong one  200\n```\n\nAfter",
    ),
    "a table with more cells than its head": (
        "| a |\n|---|\n| b | c |",
        "```\n| a |\n|---|\n| b | c |\n```",
    ),
    "a table with a fence's signs": (
        "| a |\n|---|\n| ```b |",
        f"```\n| a |\n|---|\n| `{JOINER}`{JOINER}`b |\n```",
    ),
    "a table with a bar in a cell": ("| a |\n|---|\n| `b\\|c` |", "```\na\n───\nb|c\n```"),
    "a heading with signs after it": ("## a # ##\n\n# #\n\n# b#", "## a #\n\n# \n\n# b#"),
    "a heading of two lines": ("a\n b\n---\nc", "## a b\nc"),
    "a block in the last line": ("ä\n\n---", "ä\n\n───"),
    "a link": ("[docs](https://example.com/a_(b))", "[docs](https://example.com/a_(b))"),
    "a link with a title": ('[docs](https://example.com "t")', "[docs](https://example.com)"),
    "a link that names another address": (
        "[https://bank.example](https://evil.example)",
        "https://bank.example (https://evil.example)",
    ),
    "a link that no browser opens": ("[x](javascript:alert)", "x (javascript:alert)"),
    "an image": ("![cat](https://example.com/c.png)", "[cat](https://example.com/c.png)"),
    "spoilers": ("a || b || c", "a \\|\\| b \\|\\| c"),
    "code with bars": ("`a || b`", "`a || b`"),
    "small print": ("-# not small", "\\-# not small"),
    "a timestamp, an emoji and a command": ("<t:1> <:x:1> </run:1>", "\\<t:1> \\<:x:1> \\</run:1>"),
    "everyone": ("hi @everyone", f"hi @{JOINER}everyone"),
    "a person and a role": ("<@1> <@&2> <#3>", f"<{JOINER}@1> <{JOINER}@&2> <{JOINER}#3>"),
    "line ends of other systems": ("```\r\nx\r```\ry", "```\nx\n```\ny"),
    "html": ("a <b>x</b>\n\n<div>\ny\n</div>", "a <b>x</b>\n\n<div>\ny\n</div>"),
}


@pytest.mark.parametrize(("source", "rendered"), RENDERED.values(), ids=RENDERED.keys())
def test_renders(source: str, rendered: str) -> None:
    assert render_markdown(source) == rendered


MARKUP = st.sampled_from(
    [
        "**",
        "_",
        "`",
        "```",
        "~~~\n",
        "|",
        "||",
        "\n",
        "# ",
        "> ",
        "- ",
        "[",
        "](http://a.b)",
        "!",
        "<@1>",
        "@here",
    ]
)
TEXTS = st.lists(st.one_of(MARKUP, st.text(max_size=8)), max_size=60).map("".join)


@given(TEXTS)
def test_no_source_makes_it_fail_grow_too_long_or_leave_a_mention_outside_code(source: str) -> None:
    rendered = render_markdown(source[:MAX_CHARACTERS])
    assert len(rendered) <= MAX_CHARACTERS


@given(
    st.text(alphabet=st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=40).map(
        str.split
    )
)
def test_words_are_never_lost(words: list[str]) -> None:
    source = "\n\n".join(f"# {word}\n\n| {word} |\n|---|\n| {word} |\n\n- {word}" for word in words)
    if len(source) <= MAX_CHARACTERS // 2:
        shown = visible(render_markdown(source))
        assert all(shown.count(word) >= 4 for word in words)


@given(TEXTS)
def test_no_letter_is_lost_but_of_what_is_no_word(source: str) -> None:
    source = re.sub(r"[\r\ud800-\udfff]", "", source[: MAX_CHARACTERS // 2])
    assert letters(render_markdown(source)) >= letters(source)


@given(st.text(alphabet=" \t#`~-=*_|:>ab\n", max_size=40))
def test_plain_prose_is_shown_as_it_is_beside_a_block(source: str) -> None:
    """Text without a sign of a block is not parsed; with one behind it, it is; no fence stands open."""
    assume("```" not in source and "~~~" not in source)
    assert render_markdown(f"{source}\n\nend\n\n# h").startswith(render_markdown(f"{source}\n\nend"))


def letters(text: str) -> int:
    return sum(char.isalnum() for char in text)


@given(TEXTS)
def test_literal_text_is_read_as_it_was_written(text: str) -> None:
    text = text[:900].replace(JOINER, "").replace("\r", "")
    assert visible(literal(text)) == text


@given(st.text(alphabet="`x\n", max_size=40))
def test_no_text_ends_its_block(text: str) -> None:
    assert fenced(text).count("```") == 2


def test_literal_addresses_stay_links() -> None:
    assert literal("_see_ https://example.com/a_b?c=*d.") == "\\_see\\_ https://example.com/a_b?c=*d."


def test_literal_text_that_escaping_would_make_too_long_is_a_block() -> None:
    assert literal("*" * 1990) == "```\n" + "*" * 1990 + "\n```"
    assert literal("*" * 2000) == "*" * 2000


def test_text_that_formatting_would_make_too_long_goes_as_it_is() -> None:
    source = "|" * 1500
    assert render_markdown(source) == source
    assert re.fullmatch(r"\|+", source)


def test_links_show_their_target_also_where_formatting_would_make_the_text_too_long() -> None:
    code = "`[https://good.example](https://evil.example)`"
    source = f"[https://good.example](https://evil.example) ![](https://a.example) {code} {'||a||' * 370}"
    rendered = render_markdown(source)
    assert rendered.startswith("https://good.example (https://evil.example) ![](https://a.example)")
    assert code in rendered
    assert len(rendered) <= len(source) <= MAX_CHARACTERS
