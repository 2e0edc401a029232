"""Names are code, code stands for itself, and what Telegram heeds of a message is not used up by names."""

from __future__ import annotations

import pytest
from telegram import MessageEntity

from channels.telegram.quiet import MAX_ENTITIES, quiet
from channels.telegram.render import Rendered, render_markdown, render_plain


def shown(rendered: Rendered) -> list[tuple[str, str]]:
    raw = rendered.text.encode("utf-16-le")
    pieces = [
        (one.offset, str(one.type), raw[2 * one.offset : 2 * (one.offset + one.length)].decode("utf-16-le"))
        for one in rendered.entities
    ]
    return [(kind, piece) for _, kind, piece in sorted(pieces)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("🙂 @ada", [("code", "@ada")], id="a name behind an emoji"),
        pytest.param("(@ada), @bob!", [("code", "@ada"), ("code", "@bob")], id="names beside marks"),
        pytest.param("a@example.org", [], id="an address is no name"),
        pytest.param("`@ada`", [("code", "@ada")], id="a name that is code already"),
        pytest.param("```\n@ada\n```", [("pre", "@ada")], id="a name in a block of code"),
        pytest.param("[@ada](https://e.org)", [("text_link", "@ada")], id="a name in a link pings nobody"),
        pytest.param(
            "**a @ada b**", [("bold", "a "), ("code", "@ada"), ("bold", " b")], id="a style goes around"
        ),
        pytest.param("**a `b`**", [("bold", "a "), ("code", "b")], id="a style goes around code as well"),
        pytest.param("> a @ada", [("blockquote", "a @ada"), ("code", "@ada")], id="a quote holds code"),
        pytest.param("[a `b`](https://e.org)", [("text_link", "a b")], id="a link stays whole"),
    ],
)
def test_names_are_code(source: str, expected: list[tuple[str, str]]) -> None:
    assert shown(render_markdown(source)) == expected


def test_of_many_names_none_is_left_out() -> None:
    rendered = render_plain("@ada " * 800)
    covered = {place for one in rendered.entities for place in range(one.offset, one.offset + one.length)}
    assert len(rendered.entities) <= MAX_ENTITIES
    assert all(place in covered for place, char in enumerate(rendered.text) if char == "@")


def test_names_come_before_styles_where_there_are_too_many() -> None:
    bold = [MessageEntity("bold", 2 * place, 1) for place in range(150)]
    entities = quiet("x " * 150 + "@ada", bold)
    assert len(entities) == MAX_ENTITIES
    assert [one.offset for one in entities if one.type == "code"] == [300]
