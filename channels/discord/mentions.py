"""Is the bot spoken to, and what remains of the text without its name."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Self:
    """The bot as Discord knows it; `role_ids` are the roles that stand for it alone."""

    id: int
    role_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Spoken:
    text: str
    mentioned: bool


def spoken_to(bot: Self, text: str) -> Spoken:
    """Whether `text` mentions the bot, and `text` without that mention."""
    roles = "".join(f"|&{role_id}" for role_id in bot.role_ids)
    pieces = re.split(rf"<@(?:!?{bot.id}{roles})>", text)
    if len(pieces) == 1:
        return Spoken(text, mentioned=False)
    kept = pieces[0]
    for piece in pieces[1:]:
        kept += piece.lstrip(" ,:") if not kept else piece[1:] if kept[-1:] == " " == piece[:1] else piece
    return Spoken(kept.strip(), mentioned=True)
