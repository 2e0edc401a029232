"""The words of an HTML page, each on the line where it stands in the file.

A scanner of our own, since the standard library's parser takes quadratic time for unclosed comments and tags:
here every search either finds something and goes on behind it, or ends the page.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

_NAME = re.compile(r"</?([a-zA-Z][a-zA-Z0-9-]*)")
_INLINE = frozenset(
    {"a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "label"}
    | {"mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr"}
)
"""Elements around which words go on without a gap."""

_CLOSERS = {
    name: re.compile(rf"</{name}\b", re.IGNORECASE)
    for name in ("script", "style", "template", "noscript", "svg", "textarea")
}
"""Elements whose content nobody reads, by what ends them."""


def text_of_html(markup: str) -> str:
    """What a reader sees, with as many lines as the markup has."""
    lines = "".join(_shown(markup)).split("\n")
    return "\n".join(" ".join(html.unescape(line).split()) for line in lines)


def _shown(markup: str) -> Iterator[str]:
    """The text between the tags, and the line ends inside of them."""
    position = 0
    while (start := markup.find("<", position)) >= 0:
        yield markup[position:start]
        position, gap = _behind(markup, start)
        yield gap + "\n" * markup.count("\n", start, position)
    yield markup[position:]


def _behind(markup: str, start: int) -> tuple[int, str]:
    """Where the tag or comment at `start` ends, and what stands in its place."""
    if markup.startswith("<!--", start):
        return _after(markup, "-->", start + 4), ""
    if markup.startswith(("<!", "<?"), start):
        return _after(markup, ">", start), ""
    found = _NAME.match(markup, start)
    if found is None:
        return start + 1, "<"
    name, end = found[1].lower(), _after(markup, ">", start)
    if name in _CLOSERS and not markup.startswith("</", start):
        closer = _CLOSERS[name].search(markup, end)
        end = _after(markup, ">", closer.start()) if closer else len(markup)
    return end, "" if name in _INLINE else " "


def _after(markup: str, mark: str, start: int) -> int:
    found = markup.find(mark, start)
    return len(markup) if found < 0 else found + len(mark)
