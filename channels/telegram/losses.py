"""What the converter would drop from a Markdown text, written so that it stays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pyromark
from telegramify_markdown.converter import STANDARD_OPTIONS

from echo_bot.text.fences import fence

_LINK_SCHEMES = frozenset({"http", "https"})
_WORDS_OF_FENCE = re.compile(rb"(?P<signs>`{3,}|~{3,})[ \t]*[^\s`]+(?P<blank>[ \t]+)(?=[^\s`])")


_Event = tuple[Mapping[str, Any], int, int]


class _Edit(NamedTuple):
    """Bytes from `start` to `end` are replaced."""

    start: int
    end: int
    by: bytes


def shown_whole(source: str) -> str:
    """With the words beside a fence's language below it, a table of uneven rows in a fence, and what defines
    an address that no link is made of as text.
    """
    encoded = source.encode("utf-8", "replace")
    text = encoded.decode()
    events = [
        (event, span["start"], span["end"])
        for event, span in pyromark.events_with_range(text, options=STANDARD_OPTIONS)
        if isinstance(event, dict)
    ]
    edits = [*_fences(encoded, events), *_tables(encoded, events), *_definitions(text, events)]
    for edit in sorted(edits, reverse=True):
        encoded = encoded[: edit.start] + edit.by + encoded[edit.end :]
    return encoded.decode()


def is_safe_link(url: str) -> bool:
    """Only web links: `tg:` would ping people, `javascript:` and `data:` have no place in a chat."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in _LINK_SCHEMES and bool(parts.netloc)


def letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _fences(encoded: bytes, events: Sequence[_Event]) -> Iterator[_Edit]:
    for event, start, _ in events:
        match event:
            case {"Start": {"CodeBlock": {"Fenced": info}}} if len(info.split()) > 1:
                found = _WORDS_OF_FENCE.match(encoded, start)
                if found is not None and _is_outermost(encoded, start):
                    yield _Edit(*found.span("blank"), b"\n")


def _tables(encoded: bytes, events: Sequence[_Event]) -> Iterator[_Edit]:
    shown = 0
    for event, start, end in events:
        match event:
            case {"Start": {"Table": _}}:
                shown = 0
            case {"Start": "TableCell"}:
                shown += letters(encoded[start:end].decode())
            case {"End": "Table"} if _is_outermost(encoded, start):
                table = encoded[start:end].decode()
                if shown < letters(table):
                    yield _Edit(start, end, f"{fence(table)}\n".encode())


def _definitions(text: str, events: Sequence[_Event]) -> Iterator[_Edit]:
    used = {
        about["id"].casefold()
        for event, _, _ in events
        for tag in [event.get("Start")]
        if isinstance(tag, dict)
        for about in [tag.get("Link") or tag.get("Image")]
        if about is not None
    }
    for label, found in pyromark.reference_definitions(text, options=STANDARD_OPTIONS).items():
        if label.casefold() not in used or not is_safe_link(found["dest"]):
            start = found["span"]["start"]
            yield _Edit(start, start, b"\\")


def _is_outermost(encoded: bytes, start: int) -> bool:
    """No mark of a quote or a list stands before it in its line."""
    return not encoded[encoded.rfind(b"\n", 0, start) + 1 : start].strip()
