"""Text both ways: Slack's entities as people read them, and Markdown that pings nobody and loses nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from channels.slack import mrkdwn
from channels.slack.entities import escaped, people_in, readable, without_mention
from channels.slack.mrkdwn import is_safe_link, to_mrkdwn
from channels.slack.render import MAX_ALL_SECTIONS, MAX_CHARACTERS, MAX_SECTION, render_card, render_text
from echo_bot.channel import LengthUnit
from echo_bot.errors import FormatRejected
from echo_bot.events import Button, Card, CodeBlock, Fields, OutboundText, Paragraph
from echo_bot.testing.slack.model import Chat, Message
from echo_bot.testing.slack.rules import check_message, length
from echo_bot.text import split_markdown

LIVE = re.compile(r"<(?!https?://[^<>|]+\|[^<>]*>)")
PIECES = [*"<>!@#|&`*_~[]()\n aé1", "<!channel>", "<@U1>", "```", "](", "http://x", "> "]
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def shown(message: OutboundText) -> Message:
    """The message as it would stand, after Slack's own checks."""
    rendered = render_text(message)
    check_message(rendered.text, rendered.blocks)
    return Message(Chat("C1", "channel"), "1.0", "UBOT", rendered.text, list(rendered.blocks))


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("<@U2> and <@U3|cy> and <@U9>", "@Bob and @cy and @U9"),
        ("<#C1|general> <#C2>", "#general #C2"),
        ("<!here> <!subteam^S1|@team> <!date^1^{date}|today>", "@here @team today"),
        ("<http://a.b/c?d=1&amp;e=2>", "http://a.b/c?d=1&e=2"),
        ("<http://a.b|a.b>", "a.b"),
        ("<https://a.b/|words>", "words (https://a.b/)"),
        ("<mailto:x@y.z|x@y.z>", "x@y.z"),
        ("ls &gt; out &amp;&amp; cat &lt; in", "ls > out && cat < in"),
        ("a < b > c", "a < b > c"),
        ("&amp;lt;", "&lt;"),
    ],
)
def test_what_people_type_is_read_as_they_see_it(typed: str, read: str) -> None:
    assert readable(typed, {"U2": "Bob"}) == read


@pytest.mark.parametrize(
    ("typed", "left", "is_named"),
    [
        ("<@UBOT> hi", "hi", True),
        ("<@UBOT|echo>: hi", "hi", True),
        ("hi <@UBOT> there", "hi there", True),
        ("hey <@UBOT>: hi", "hey: hi", True),
        ("  <@UBOT>", "", True),
        ("<@UBOTS> hi", "<@UBOTS> hi", False),
        ("hi", "hi", False),
    ],
)
def test_the_bots_name_is_taken_out(typed: str, left: str, is_named: bool) -> None:
    assert without_mention(typed, "UBOT") == (left, is_named)


@given(st.text())
def test_escaped_text_is_read_as_it_was(text: str) -> None:
    assert readable(escaped(text), {}) == text
    assert people_in(escaped(text)) == ()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("**bold** *it* ~~no~~ `c`", "*bold* _it_ ~no~ `c`"),
        ("# Title", "*Title*"),
        ("- a\n- b", "•   a\n•   b"),
        ("[words](https://a.b/c_(d))", "<https://a.b/c_(d)|words>"),
        ("<!channel> <@U1>", "&lt;!channel&gt; &lt;@U1&gt;"),
        ("`<!here>`", "`&lt;!here&gt;`"),
        ("```sh\n#!/bin/sh\nls <!here>\n```", "```\n#!/bin/sh\nls &lt;!here&gt;\n```"),
        ("[x](<!channel>)", "x (!channel)"),
        ("[<!channel>](http://a)", "<http://a|&lt;!channel&gt;>"),
        ("![<!here>](http://a/i.png)", "<http://a/i.png|&lt;!here&gt;>"),
        ("a\n\n---\n\nb", "a\n\n---\n\nb"),
        ("<script>x</script>", "&lt;script&gt;x&lt;/script&gt;"),
    ],
)
def test_markdown_becomes_mrkdwn(source: str, text: str) -> None:
    assert to_mrkdwn(source) == text


@pytest.mark.parametrize(
    "source", ["````\n```\n<!here>\n```\n````", "&copy; &notanentity;", "[]()", "~~~ rm -r build"]
)
def test_what_mrkdwn_cannot_say_goes_as_it_is(source: str) -> None:
    assert to_mrkdwn(source) is None
    assert shown(OutboundText(source)).words == source


PROSE = [
    *"aZé漢1 \n`.,;:?'\"()-_*&<#",
    "``",
    "word ",
    "\n\n",
    "`a b`",
    "`_x*`",
    "1. ",
    "- ",
    "---",
    "http://x",
]


@given(st.lists(st.sampled_from(PROSE), max_size=12).map("".join))
def test_plain_prose_is_told_from_markup(source: str) -> None:
    """What is taken for plain is just what the whole way would have made of it."""
    if mrkdwn._PLAIN_PROSE.fullmatch(source):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mrkdwn, "_PLAIN_PROSE", re.compile("(?!)"))
            assert to_mrkdwn(source) == source


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "!channel", "@U1", "http://a|b", "http://a>b", "http:", "//a"]
)
def test_an_unsafe_link_is_none(address: str) -> None:
    assert not is_safe_link(address)


INFO = re.compile(r"^[\s>*+\-\d.)]*(?:```|~~~).*|(?:```|~~~)\S*", re.MULTILINE)
"""A fence with what names the language of its code, which Slack does not show."""


@example("``` a")
@given(HOSTILE)
def test_hostile_markdown_never_pings_and_keeps_its_letters(source: str) -> None:
    if not source.strip():
        return
    message = shown(OutboundText(source))
    assert message.pings == []
    assert not LIVE.search(message.text)
    if not re.search(r"^\s*\[.*\]:", source, re.MULTILINE):
        assert sum(map(str.isalnum, message.words)) >= sum(map(str.isalnum, INFO.sub("", source)))


@given(HOSTILE)
def test_literal_text_stands_as_it_was_written(source: str) -> None:
    if source:
        assert shown(OutboundText(source, markdown=False)).words == source


def test_long_code_is_shown_as_code_whatever_is_in_it() -> None:
    lines = "\n".join(f"<p class='n{number}'>a & b</p>" for number in range(320))
    (part, *more) = split_markdown(
        f"The page:\n\n```html\n{lines}\n```\n", MAX_CHARACTERS, LengthUnit.CHARACTERS
    )
    message = shown(OutboundText(part))
    assert more == []
    assert "`" not in message.words.replace("```", "", 2)
    assert message.words.count("a & b") == 320


@pytest.mark.parametrize("length_of_text", [2790, 2801, 2900, 3000, 3001, 6000, 11_999])
def test_a_text_of_any_length_is_formatted(length_of_text: int) -> None:
    source = f"**bold** {'word ' * MAX_CHARACTERS}"[: length_of_text - 1] + "."
    assert shown(OutboundText(source)).words.startswith("*bold* word")


@pytest.mark.parametrize(
    "grown",
    [
        "R&D and more " * 230,
        "&&&& " * 300,
        "```\n" + "if (a < b && c > d) { }\n" * 115 + "```\n",
        "[a](http://b.c) " * 180,
    ],
)
def test_what_grows_past_a_section_by_its_formatting_is_formatted_still(grown: str) -> None:
    message = shown(OutboundText(f"# Title\n\nThis is **bold**.\n\n{grown}"))
    assert message.words.startswith("*Title*\n\nThis is *bold*.")
    assert message.pings == []


@pytest.mark.parametrize("dense", ["&&&& " * 2000, "<T> & " * 1700, "\n".join(["- <x> &"] * 1400)])
def test_beside_what_is_too_dense_for_a_message_the_rest_is_formatted(dense: str) -> None:
    source = f"# Title\n\nThis is **bold**.\n\n{'word ' * 90}\n\n{dense}\n\nThe **end**, {'word ' * 90}"
    rendered = render_text(OutboundText(source))
    check_message(rendered.text, rendered.blocks)
    words = shown(OutboundText(source)).words
    assert words.startswith("*Title*\n\nThis is *bold*.")
    assert "The *end*" in words
    assert words.count("&") == source.count("&")


@pytest.mark.parametrize("piece", ["word ", "<&>", "line of code\n", "**b** ", "é🙂"])
@pytest.mark.parametrize("markdown", [True, False])
def test_the_longest_message_fits_slacks_limits(piece: str, markdown: bool) -> None:
    source = (piece * MAX_CHARACTERS)[:MAX_CHARACTERS]
    message = shown(OutboundText(source, markdown=markdown))
    rendered = render_text(OutboundText(source, markdown=markdown))
    check_message(rendered.text, rendered.blocks, is_update=True)
    assert sum(map(str.isalnum, message.words)) == sum(map(str.isalnum, source))
    assert all(length(block) <= MAX_SECTION for block in rendered.blocks)
    assert sum(map(length, rendered.blocks)) <= MAX_ALL_SECTIONS


def test_a_card_is_literal_whole_and_within_the_limits() -> None:
    call = "echo '*x* <!channel> <@U1> ```' &amp;\n" * 250
    card = Card(
        "c",
        "exec wants <!here>",
        (
            Paragraph("Asked by *Ada*", strong=True),
            CodeBlock(call, "bash", "Command"),
            Fields((("Risk", "<@U1>"),)),
        ),
        (Button("Approve once", "t1"), Button("Deny with reason", "t2", prompt="Why?")),
    )
    rendered = render_card(card)
    check_message(rendered.text, rendered.blocks, is_update=True)
    message = Message(Chat("C1", "channel"), "1.0", "UBOT", rendered.text, list(rendered.blocks))
    assert call.replace("\n", "") in message.words.replace("\n", "")
    assert (message.pings, message.labels) == ([], ["Approve once", "Deny with reason"])
    assert [button["action_id"].split(":")[0] for button in message.buttons] == ["press", "ask"]


@pytest.mark.parametrize("token", ["", "x" * 2001])
def test_a_token_that_slack_does_not_take_is_refused(token: str) -> None:
    with pytest.raises(FormatRejected):
        render_card(Card("c", "t", (), (Button("Deny", token),)))
