"""Markdown becomes text and entities: no word is lost, every offset is right, no unsafe link is made."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.telegram.losses import is_safe_link
from channels.telegram.render import (
    MAX_UNITS,
    Rendered,
    keeps_words,
    literal_markup,
    render_markdown,
)
from echo_bot.testing.telegram.rules import check_entities, utf16_length

MARKS = ["**", "*", "_", "`", "|", "||", "$", "$$", "~~", "~", "![", "[a](http://b.c)", "\\", "&lt;"]
BLOCKS = ["```\n", "\n", "\n\n", "- ", "1. ", "> ", "# ", "    ", "<b>", "</b>", "<!-- x -->", "<div>\n"]
DROPPED = [
    "```py b c\n",
    "| a |\n|---|\n| b | c |\n",
    "[x]: http://y.z\n",
    "[x]: <tg:y>\n",
    "[^1]: n\n",
    "[x]",
    "&copy;",
]
PIECES = st.sampled_from([*MARKS, *BLOCKS, *DROPPED, "word", "🙂", "é", "مرحبا"])
MARKDOWN = st.lists(PIECES, max_size=25).map("".join)


def pieces_of(rendered: Rendered, kind: str) -> list[str]:
    raw = rendered.text.encode("utf-16-le")
    return [
        raw[2 * one.offset : 2 * (one.offset + one.length)].decode("utf-16-le")
        for one in rendered.entities
        if one.type == kind
    ]


@settings(max_examples=150, deadline=None)
@given(MARKDOWN)
def test_whatever_is_written_comes_out_sendable_with_its_words(source: str) -> None:
    rendered = render_markdown(source)
    check_entities(rendered.text, [one.to_dict() for one in rendered.entities])
    assert utf16_length(rendered.text) <= MAX_UNITS
    assert keeps_words(source, rendered.text)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80))
def test_any_text_at_all_is_rendered(source: str) -> None:
    rendered = render_markdown(source)
    check_entities(rendered.text, [one.to_dict() for one in rendered.entities])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("use <b>tags</b> here", "use <b>tags</b> here", id="inline HTML is shown"),
        pytest.param("<script>x</script>", "<script>x</script>", id="a script is shown, not run or dropped"),
        pytest.param("<!channel> and <@U1>", "<!channel> and <@U1>", id="other platforms' pings are words"),
        pytest.param("<div>\na < b\n</div>", "<div>\na < b\n</div>", id="an HTML block is shown"),
        pytest.param("a `<b>` c", "a <b> c", id="HTML in a code span stays as it is"),
        pytest.param("```\n<b>\n```", "<b>", id="HTML in a fence stays as it is"),
        pytest.param("costs $a$ or $b$", "costs $a$ or $b$", id="dollar signs stay"),
        pytest.param("# Title\n\ntext", "Title\n\ntext", id="a heading has no emoji"),
        pytest.param("```py a b\nx\n```", "a b\nx", id="words beside a fence's language come below it"),
        pytest.param("> ```py a b\n> x\n", "> ```py a b\n> x\n", id="in a quote all stays as it is written"),
        pytest.param(
            "ä\n\n| a |\n|---|\n| b | c |", "ä\n\n| a |\n|---|\n| b | c |", id="a row with more cells"
        ),
        pytest.param(
            "see\n\n[1]: https://a.example/b",
            "see\n\n[1]: https://a.example/b",
            id="a source that nothing names",
        ),
        pytest.param("see [1]\n\n[1]: https://a.example/b", "see 1", id="a source that is linked to"),
        pytest.param("see [1]\n\n[1]: ../b", "see [1]\n\n[1]: ../b", id="a source that no link is made of"),
        pytest.param("- [x] one", "✅ one\n", id="a task that is done"),
        pytest.param("- one\n- two", "• one\n• two\n", id="a list has bullets"),
    ],
)
def test_what_is_shown(source: str, expected: str) -> None:
    assert render_markdown(source).text == expected


def test_offsets_count_utf16_units() -> None:
    assert pieces_of(render_markdown("🙂🙂 **fett** 👩‍👩‍👧 `ça`"), "bold") == ["fett"]
    assert pieces_of(render_markdown("🙂🙂 **fett** 👩‍👩‍👧 `ça`"), "code") == ["ça"]


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        pytest.param("https://example.org/a?b=1", True, id="a web link"),
        pytest.param("http://localhost:8765/", True, id="a web link of this machine"),
        pytest.param("javascript:alert(1)", False, id="a script"),
        pytest.param("JavaScript:alert(1)", False, id="a script in other letters"),
        pytest.param("data:text/html,x", False, id="data"),
        pytest.param("tg://user?id=1", False, id="a hidden ping"),
        pytest.param("file:///etc/passwd", False, id="a file"),
        pytest.param("http://[", False, id="not a URL at all"),
        pytest.param("https:", False, id="a scheme alone"),
    ],
)
def test_which_links_are_made(url: str, safe: bool) -> None:
    assert is_safe_link(url) is safe
    links = pieces_of(render_markdown(f"[words](<{url}>)"), "text_link")
    assert bool(links) is safe


def test_escaping_ends_and_leaves_code_alone() -> None:
    source = "<a>" * 200 + "\n\n`<b>`\n\n" + "$" * 60
    assert "`<b>`" in literal_markup(source)
    assert literal_markup("plain") == "plain"


def test_a_text_that_would_lose_words_is_shown_as_it_was_written() -> None:
    assert not keeps_words("all of these words", "all")
    assert keeps_words("[words](https://a.very.long.target.example/with/path)", "words")
