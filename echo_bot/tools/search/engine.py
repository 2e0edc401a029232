"""What a search engine is asked and gives back, and results without doubles."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from echo_bot.policy.decision import Finding
from echo_bot.policy.guards.network import parse_url
from echo_bot.tools.base import ToolResult
from echo_bot.tools.web.written import clean_line

MAX_TITLE, MAX_URL, MAX_SNIPPET = 200, 500, 500
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")


@dataclass(frozen=True, slots=True)
class Found:
    """One result in the provider's words; `merged` makes them safe to show."""

    title: str
    url: str
    snippet: str = ""


class Engine(Protocol):
    def problem(self) -> str:
        """What is missing before it can be asked, as a sentence; "" when nothing is."""
        ...

    async def search(self, query: str, wanted: int) -> list[Found] | ToolResult:
        """Results, best first, or the result that says why there are none. Raises nothing expected."""
        ...


def merged(found: Iterable[Found], wanted: int) -> list[Found]:
    """The first `wanted` results with an http address, each page once, as plain lines."""
    kept: dict[tuple[str, str, str], Found] = {}
    for each in found:
        url = each.url.strip()
        if isinstance(parse_url(url), Finding) or len(url) > MAX_URL:
            continue
        page = Found(_plain(each.title, MAX_TITLE) or url, url, _plain(each.snippet, MAX_SNIPPET))
        kept.setdefault(_identity(url), page)
        if len(kept) == wanted:
            break
    return list(kept.values())


def _identity(url: str) -> tuple[str, str, str]:
    """What two addresses of the same page have in common."""
    parts = urlsplit(url)
    return (parts.hostname or "").removeprefix("www."), parts.path.rstrip("/"), parts.query


def _plain(text: str, most: int) -> str:
    """Providers mark the matching words with tags and write entities."""
    return clean_line(html.unescape(_TAG.sub("", text)), most)
