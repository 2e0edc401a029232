"""Markup taken out and mentions made harmless, for surfaces and people that want plain words."""

from __future__ import annotations

import re

_FENCE_LINE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n]*\n?", re.MULTILINE)
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\(<?([^()\s<>]*(?:\([^()\s<>]*\)[^()\s<>]*)*)>?\)")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+", re.MULTILINE)
_QUOTE = re.compile(r"^ {0,3}>[ \t]?", re.MULTILINE)
_CODE_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|~~)(?=[^\s*~])([^\n*~]*[^\s*~])\1(?![\w*])")
_UNDERSCORES = re.compile(r"(?<!\w)(_{1,3})(?=[^\s_])([^\n_]*[^\s_])\1(?!\w)")

_WORD_MENTION = re.compile(r"@(?=(?:everyone|here|channel)\b)", re.IGNORECASE)
_BRACKET_MENTION = re.compile(r"<(?=[@#!][^>\n]{1,80}>)")
_WORD_JOINER = "\u2060"


def strip_markup(source: str) -> str:
    """The words of a Markdown text: no emphasis, fences or headings; a link becomes "text (address)"."""
    text = _FENCE_LINE.sub("", source)
    text = _IMAGE_OR_LINK.sub(_as_words, text)
    text = _HEADING.sub("", text)
    text = _QUOTE.sub("", text)
    text = _CODE_SPAN.sub(r"\2", text)
    text = _EMPHASIS.sub(r"\2", text)
    return _UNDERSCORES.sub(r"\2", text)


def defuse_mentions(text: str) -> str:
    """`text` with an invisible joiner after each mark that a platform would turn into a ping."""
    text = _WORD_MENTION.sub(f"@{_WORD_JOINER}", text)
    return _BRACKET_MENTION.sub(f"<{_WORD_JOINER}", text)


def _as_words(link: re.Match[str]) -> str:
    words, address = link[1], link[2]
    return address if not words or words == address else f"{words} ({address})"
