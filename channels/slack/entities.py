"""The text of a Slack message as people read it: its angle brackets and escapes undone. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

_ENTITY = re.compile(r"<([@#!]|[a-z][a-z0-9+.-]*:)([^<>|]*)(?:\|([^<>]*))?>", re.IGNORECASE)
_USER = re.compile(r"<@([UW]\w+)(?:\|[^<>]*)?>")
_SCHEME = re.compile(r"^(?:https?://|mailto:|tel:)")


def people_in(text: str) -> tuple[str, ...]:
    """The ids of all users that a text mentions."""
    return tuple(dict.fromkeys(_USER.findall(text)))


def without_mention(text: str, user_id: str) -> tuple[str, bool]:
    """`text` without its mentions of one user, and whether there were any."""
    mention = re.compile(rf"<@{re.escape(user_id)}(?:\|[^<>]*)?>")
    pieces = mention.split(text)
    if len(pieces) == 1:
        return text, False
    joined = pieces[0]
    for piece in pieces[1:]:
        if not joined.strip():
            joined = piece.lstrip(" ,:")
        elif joined[-1:].isspace() and piece[:1] == " ":
            joined += piece[1:]
        elif piece[:1] in (",", ":"):
            joined = joined.rstrip() + piece
        else:
            joined += piece
    return joined.strip(), True


def readable(text: str, names: Mapping[str, str]) -> str:
    """Mentions as @name, channels as #name, links as their address, and & < > as themselves."""

    def replaced(found: re.Match[str]) -> str:
        mark, rest, label = found[1], found[2], found[3] or ""
        match mark:
            case "@":
                return f"@{names.get(rest) or label or rest}"
            case "#":
                return f"#{label or rest}"
            case "!":
                return _special(rest, label)
            case _:
                return _link(mark + rest, label)

    return unescaped(_ENTITY.sub(replaced, text))


def escaped(text: str) -> str:
    """`text` as Slack wants it wherever it looks for mentions and links: nothing in it is one."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _special(name: str, label: str) -> str:
    if label:
        return label
    return f"@{name}" if not name.startswith(("date^", "subteam^")) else name.partition("^")[2]


def _link(address: str, label: str) -> str:
    """The address alone where the label is only its short form, as Slack makes of what people type."""
    bare = _SCHEME.sub("", address)
    if not label or label == address:
        return bare if address.startswith(("mailto:", "tel:")) else address
    return label if unescaped(label).rstrip("/") == unescaped(bare).rstrip("/") else f"{label} ({address})"
