"""Markdown as Slack's mrkdwn, by slackify-markdown with its gaps closed: no ping, no unsafe link, no loss."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from slackify_markdown.slackify import SlackifyMarkdown  # type: ignore[import-untyped]

from channels.slack.entities import escaped

_LINK_SCHEMES = frozenset({"http", "https"})
_CODE = r"(?<!`)`(?! )[^`&<>\x00-\x1f]+(?<! )`(?!`)"
_PLAIN_LINE = rf"(?:[^\W\d_]|{_CODE})(?:[^\s\x00-\x1f\\*_~|`&<>\[\]]| (?! |$)|{_CODE})*"
_PLAIN_PROSE = re.compile(rf"{_PLAIN_LINE}(?:\n{{1,2}}{_PLAIN_LINE})*", re.MULTILINE)
"""Words, code and single spaces, each line begun by a letter or code: the same in Markdown and in mrkdwn."""

_NOT_SHOWN = re.compile(r"\]\((?:(?!\]\()[^)\n])*\)|\][ ]?\[[^\]\n]*\]|^ {0,3}(?:```|~~~).*$", re.MULTILINE)
_DEFINITION = re.compile(r"^ {0,3}(?P<label>\[[^\]\n]+\]):.*$", re.MULTILINE)
_LINK_TARGET = re.compile(r"<https?://[^|<>]*\|")


def to_mrkdwn(source: str) -> str | None:
    """The formatted text; None where formatting would lose words, and the text must go as it is."""
    if _PLAIN_PROSE.fullmatch(source):
        return source
    try:
        text = _parser().render(source.replace(_Guarded.NEW_LINE, "")).rstrip("\n")
    except (RecursionError, ValueError, IndexError, KeyError):
        _parser.cache_clear()  # it counts the lists it is in, and may have stopped within one
        return None
    return text if text.strip() and _keeps_words(source, text) else None


class _Guarded(SlackifyMarkdown):  # type: ignore[misc]
    """The library lets `<!channel>` and `<@U1>` through, and drops rules and the first line of scripts."""

    SUPPORTED_TOKENS = (*SlackifyMarkdown.SUPPORTED_TOKENS, "hr")

    def text(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return escaped(tokens[idx].content)

    def code_inline(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"`{escaped(tokens[idx].content)}`"

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        code = tokens[idx].content
        if "```" in code or len(tokens[idx].info.split()) > 1:
            raise ValueError("mrkdwn cannot show a fence in a fence, or words on a fence's own line")
        return f"```\n{escaped(code)}```\n"

    def code_block(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return self.fence(tokens, idx, options, env)

    def hr(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"---{self.NEW_LINE}{self.NEW_LINE}"

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        address = str(tokens[idx].attrs.get("href", ""))
        is_safe = is_safe_link(address)
        self._link_end = ">" if is_safe else f" ({escaped(address)})" if address else ""
        return f"<{address}|" if is_safe else ""

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return self._link_end

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        address, words = str(tokens[idx].attrs.get("src", "")), escaped(tokens[idx].content)
        if is_safe_link(address):
            return f"<{address}|{words or escaped(address)}>"
        return f"{words} ({escaped(address)})" if address else words


@cache
def _parser() -> MarkdownIt:
    """What the library's `slackify` builds anew for every text, which takes longer than the text does."""
    options = {"html": False, "linkify": False, "breaks": False}
    return MarkdownIt("gfm-like", options, renderer_cls=_Guarded).disable("table")


def is_safe_link(address: str) -> bool:
    """A web address that cannot end its own brackets."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in _LINK_SCHEMES and bool(parts.netloc) and not re.search(r"[<>|\s]", address)


def _keeps_words(source: str, text: str) -> bool:
    """Are the letters and digits of `source`, but for addresses of links and fence lines, still in `text`?"""
    shown = _LINK_TARGET.sub("", text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    lower = source.lower()

    def unless_used(found: re.Match[str]) -> str:
        return "" if lower.count(found["label"].lower()) > 1 else found[0]

    return _letters(shown) >= _letters(_NOT_SHOWN.sub("", _DEFINITION.sub(unless_used, source)))


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))
