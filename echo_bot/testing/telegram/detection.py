"""What Telegram marks by itself in a text: commands, names, tags, addresses. Offsets count UTF-16 units."""

from __future__ import annotations

import re
from collections.abc import Sequence

from echo_bot.testing.telegram.model import JsonObject
from echo_bot.testing.telegram.rules import utf16_length

_MARKED = re.compile(
    r"(?P<url>\bhttps?://[^\s<>]+)"
    r"|(?P<email>[\w.+-]+@[\w-]+\.[\w.-]*\w)"
    r"|(?P<bot_command>(?<![\w/])/\w{1,32}(?:@\w+)?)"
    r"|(?P<mention>(?<!\w)@\w{4,32})"
    r"|(?P<hashtag>(?<!\w)#\w*[^\W\d]\w*)"
    r"|(?P<cashtag>(?<![\w$])\$[A-Z]{1,8}(?!\w))"
)
_BARE_DOMAIN = re.compile(r"(?<![\w.@/-])(?:[\w-]+\.)+(?:com|org|net|io|dev|de|me|sh|py|rs)\b(?:/\S*)?")
_CLOSED = frozenset({"code", "pre", "text_link", "text_mention"})
"""Inside these nothing is marked."""


def detected_entities(text: str, given: Sequence[JsonObject] = ()) -> list[JsonObject]:
    """The entities of a text that was sent with the entities `given`, these included, in their order."""
    closed = [_span(entity) for entity in given if entity.get("type") in _CLOSED]
    found = list(given)
    marked = [(match, str(match.lastgroup)) for match in _MARKED.finditer(text)]
    for match, kind in [*marked, *((match, "url") for match in _BARE_DOMAIN.finditer(text))]:
        start = utf16_length(text[: match.start()])
        end = start + utf16_length(match.group())
        if all(end <= first or start >= last for first, last in closed):
            closed.append((start, end))
            found.append({"type": kind, "offset": start, "length": end - start})
    return sorted(found, key=lambda entity: int(str(entity["offset"])))


def _span(entity: JsonObject) -> tuple[int, int]:
    start = int(str(entity["offset"]))
    return start, start + int(str(entity["length"]))
