"""Is the bot spoken to, and what remains of the text without its name: offsets count UTF-16 units."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from telegram import MessageEntity

_ADDRESSED_COMMAND = re.compile(r"/\w{1,32}@(\w+)")
_START = re.compile(r"/start(?:\s+([\w-]{1,64}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Self:
    """The bot as Telegram knows it, and the chat commands that are its own."""

    id: int
    username: str
    commands: Collection[str] = ()

    def is_named(self, name: str) -> bool:
        return name.casefold() == self.username.casefold()


@dataclass(frozen=True, slots=True)
class Spoken:
    text: str
    mentioned: bool


def is_command_of_another(bot: Self, text: str) -> bool:
    """Does the text begin with a command that names another bot? Those around it would read it as theirs."""
    found = _ADDRESSED_COMMAND.match(text)
    return found is not None and not bot.is_named(found[1])


def without_start(text: str) -> str:
    """Telegram's Start button as the command it stands for: help, or pairing with the code of a link."""
    found = _START.fullmatch(text.strip())
    if found is None:
        return text
    return f"/pair {found[1]}" if found[1] else "/help"


def spoken_to(bot: Self, text: str, entities: Sequence[MessageEntity]) -> Spoken:
    """Whether `entities` mention or command the bot, and `text` without that mention."""
    encoded = text.encode("utf-16-le", "surrogatepass")
    cuts: list[tuple[int, int]] = []
    mentioned = False
    for entity in entities:
        start, end = 2 * entity.offset, 2 * (entity.offset + entity.length)
        piece = encoded[start:end].decode("utf-16-le", "replace")
        kept = _kept_part(bot, entity, piece)
        if kept is None:
            continue
        mentioned = True
        if kept < len(piece):
            cuts.append((start + len(piece[:kept].encode("utf-16-le")), end))
    return Spoken(_cut(encoded, cuts), mentioned)


def _kept_part(bot: Self, entity: MessageEntity, piece: str) -> int | None:
    """How many characters of a piece that speaks to the bot stay; None for one that does not."""
    match entity.type:
        case MessageEntity.MENTION if bot.is_named(piece.removeprefix("@")):
            return 0
        case MessageEntity.TEXT_MENTION if entity.user is not None and entity.user.id == bot.id:
            return 0
        case MessageEntity.BOT_COMMAND:
            command, at, name = piece.partition("@")
            if at:
                return len(command) if bot.is_named(name) else None
            return len(piece) if entity.offset == 0 and command.removeprefix("/") in bot.commands else None
        case _:
            return None


def _cut(encoded: bytes, cuts: Sequence[tuple[int, int]]) -> str:
    """The text without `cuts`; the space that a cut leaves doubled or at an edge goes too."""
    pieces: list[str] = []
    place = 0
    for start, end in sorted(cuts):
        pieces.append(encoded[place:start].decode("utf-16-le", "replace"))
        place = end
    pieces.append(encoded[place:].decode("utf-16-le", "replace"))
    if len(pieces) == 1:
        return pieces[0]
    text = pieces[0]
    for piece in pieces[1:]:
        text += piece.lstrip(" ,:") if not text else piece[1:] if text[-1:] == " " == piece[:1] else piece
    return text.strip()
