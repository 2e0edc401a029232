"""The bot's Markdown as a person reads it in a terminal: all of it, line breaks kept, nothing cut off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from channels.cli.clean import clean

CODE_THEME = "ansi_dark"
"""Only the terminal's own sixteen colours, so that code is readable on a light and on a dark ground."""


def highlighted(code: str, language: str) -> Text:
    """Code in colours, wrapped where the line is full, without a ground of its own."""
    text = Syntax(code, language or "text", theme=CODE_THEME, background_color="default").highlight(code)
    text.rstrip()
    text.no_wrap = False
    text.overflow = "fold"
    return text


class ChatMarkdown(Markdown):
    """Rich's Markdown for chats: HTML is text, a line break is one, a link shows its address."""

    elements: ClassVar[dict[str, type[MarkdownElement]]]

    def __init__(self, markup: str) -> None:
        super().__init__(clean(markup), hyperlinks=False)
        parser = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")
        self.parsed = parser.parse(self.markup)
        for token in self.parsed:
            if token.children:
                token.children = list(_readable(token.children))


class _Code(CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Padding(highlighted(str(self.text).rstrip("\n"), self.lexer_name), (0, 0, 0, 2))


class _LeftHeading(Heading):
    LEVEL_ALIGN: ClassVar = {}


class _WholeTable(TableElement):
    """Long words in a cell are folded, where Rich would cut them."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in super().__rich_console__(console, options):
            if isinstance(part, Table):
                for column in part.columns:
                    column.overflow = "fold"
            yield part


ChatMarkdown.elements = {
    **Markdown.elements,
    "fence": _Code,
    "code_block": _Code,
    "heading_open": _LeftHeading,
    "table_open": _WholeTable,
}


def _readable(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.type == "softbreak":
            yield Token("hardbreak", "br", 0)
        elif token.type == "image":
            yield Token("text", "", 0, content=f"{token.content} ({token.attrs.get('src', '')})")
        else:
            yield token
