"""What a person sees of a message: its words without markup, its buttons, its files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from simcord.backend.models import Message

_TOKEN = re.compile(
    r"```(?:[\w+\-.#]+\n)?\n*(?P<fence>[^\n][\s\S]*?)\n*```"
    r"|(?P<ticks>`+)(?P<code>[\s\S]*?[^`])(?P=ticks)(?!`)"
    r"|(?P<url>https?://[^\s<]*[^\s<.,:;\"'\]])"
    r"|\\(?P<literal>[^0-9A-Za-z\s])"
    r"|\[(?P<label>[^\[\]\n]+)\]\(<?https?://[^\s()<>]+>?\)"
    r"|(?P<mark>\*\*\*|\*\*|__|~~|\|\||(?<!\s)\*|\*(?!\s)|(?<!\w)_(?=\S)|(?<=\S)_(?!\w))"
    r"|^(?P<line>(?:#{1,3}|-#|>>>|>) +)",
    re.MULTILINE,
)
_JOINER = "\u2060"
_SUPPRESSES_EMBEDS = 1 << 2


@dataclass(frozen=True, slots=True)
class Shown:
    """A message as it stands. `content` is what was sent, `text` what a person reads of it."""

    message: Message

    @property
    def id(self) -> str:
        return str(self.message.id)

    @property
    def content(self) -> str:
        return self.message.content

    @property
    def text(self) -> str:
        return visible(self.message.content)

    @property
    def rows(self) -> list[list[dict[str, Any]]]:
        return [list(row.get("components", ())) for row in self.message.components]

    @property
    def labels(self) -> list[str]:
        """The labels of its buttons, row by row."""
        return [str(button.get("label", "")) for row in self.rows for button in row]

    @property
    def file_names(self) -> list[str]:
        return [str(each["filename"]) for each in self.message.attachments]

    @property
    def private(self) -> bool:
        """Is it seen by one person alone?"""
        return self.message.is_ephemeral

    @property
    def pings(self) -> bool:
        """Does it notify anybody?"""
        message = self.message
        return bool(message.ping_user_ids or message.ping_role_ids or message.mention_everyone)

    @property
    def link_previews(self) -> bool:
        return not self.message.flags & _SUPPRESSES_EMBEDS

    @property
    def answers(self) -> str:
        """The id of the message it replies to; "" for none."""
        reference = self.message.reference or {}
        return str(reference.get("message_id", ""))

    def custom_id(self, label: str) -> str:
        """Raises AssertionError when no button is labelled so."""
        for row in self.rows:
            for button in row:
                if button.get("label") == label:
                    return str(button["custom_id"])
        raise AssertionError(f"no button {label!r}; there are {self.labels}")


def visible(content: str) -> str:
    """The words of Discord's markdown, as near as tests need it."""
    return _TOKEN.sub(_words, content).replace(_JOINER, "")


def _words(found: re.Match[str]) -> str:
    for name in ("fence", "code", "url", "literal", "label"):
        if found[name] is not None:
            return found[name]
    return ""
