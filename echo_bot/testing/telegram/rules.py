"""The limits Telegram enforces on what a bot sends: text, entities, keyboards, answers, commands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from echo_bot.testing.telegram.errors import ApiError
from echo_bot.testing.telegram.model import JsonObject
from echo_bot.text import is_blank

MAX_TEXT_UNITS = 4096
MAX_CAPTION_UNITS = 1024
MAX_CALLBACK_BYTES = 64
MAX_ANSWER_CHARACTERS = 200
MAX_COMMANDS = 100
MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024
REACTIONS = frozenset(
    "👍👎❤🔥🥰👏😁🤔🤯😱🎉🤩🙏👌🤡😍🐳💯🤣⚡🍌🏆💔🤨😐🍓🍾💋🖕😈😴😭🤓👻👀🎃🙈😇😨🤝✍🤗🫡🎅🎄☃💅🤪🗿🆒💘🙉🦄😘💊🙊😎👾🤷😡🕊"
)
_COMMAND_NAME = re.compile(r"[a-z0-9_]{1,32}")
_WITH_URL = {"text_link": "url", "text_mention": "user"}


def utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def check_text(text: str, limit: int = MAX_TEXT_UNITS) -> None:
    if is_blank(text):
        raise ApiError.bad_request("message text is empty" if not text else "text must be non-empty")
    if utf16_length(text) > limit:
        caption = limit == MAX_CAPTION_UNITS
        raise ApiError.bad_request("message caption is too long" if caption else "message is too long")


def check_entities(text: str, entities: Sequence[JsonObject]) -> None:
    """Offsets and lengths count UTF-16 units, lie inside the text and split no surrogate pair."""
    encoded = text.encode("utf-16-le")
    size = len(encoded) // 2
    for entity in entities:
        offset, length = entity.get("offset"), entity.get("length")
        if (
            not isinstance(offset, int)
            or not isinstance(length, int)
            or not isinstance(entity.get("type"), str)
        ):
            raise ApiError.bad_request("can't parse MessageEntity: type, offset and length are required")
        if offset < 0 or length <= 0 or offset + length > size:
            raise ApiError.bad_request(f"can't parse entities: entity at {offset}+{length} is out of {size}")
        if any(_splits_pair(encoded, place) for place in (offset, offset + length)):
            raise ApiError.bad_request(f"can't parse entities: entity at {offset} splits a UTF-16 symbol")
        needed = _WITH_URL.get(str(entity["type"]))
        if needed and not entity.get(needed):
            raise ApiError.bad_request(f"can't parse MessageEntity: {needed} is required")


def check_keyboard(markup: JsonObject | None) -> None:
    """Every button has a text and one action; callback data is 1–64 bytes of UTF-8."""
    rows = (markup or {}).get("inline_keyboard")
    if rows is None:
        return
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ApiError.bad_request("can't parse inline keyboard: rows must be arrays")
    for button in (button for row in rows for button in row):
        if not isinstance(button, dict) or not str(button.get("text", "")).strip():
            raise ApiError.bad_request("can't parse inline keyboard button: text is required")
        if "callback_data" in button:
            size = len(str(button["callback_data"]).encode())
            if not 1 <= size <= MAX_CALLBACK_BYTES:
                raise ApiError.bad_request("BUTTON_DATA_INVALID")
        elif "url" not in button:
            raise ApiError.bad_request("text buttons are unallowed in the inline keyboard")


def check_answer(text: str) -> None:
    if len(text) > MAX_ANSWER_CHARACTERS:
        raise ApiError.bad_request("MESSAGE_TOO_LONG")


def check_reactions(emoji: Sequence[str], *, allowed: bool) -> None:
    """A bot sets one reaction at most, of the emoji that Telegram knows as such."""
    if len(emoji) > 1:
        raise ApiError.bad_request("REACTIONS_TOO_MANY")
    if any(each not in REACTIONS for each in emoji) or (emoji and not allowed):
        raise ApiError.bad_request("REACTION_INVALID")


def check_commands(commands: Sequence[JsonObject]) -> None:
    if len(commands) > MAX_COMMANDS:
        raise ApiError.bad_request("BOT_COMMANDS_TOO_MUCH")
    for command in commands:
        if not _COMMAND_NAME.fullmatch(str(command.get("command", ""))):
            raise ApiError.bad_request("BOT_COMMAND_INVALID")
        if not 1 <= len(str(command.get("description", ""))) <= 256:
            raise ApiError.bad_request("BOT_COMMAND_DESCRIPTION_INVALID")


def _splits_pair(encoded: bytes, place: int) -> bool:
    unit = encoded[2 * place : 2 * place + 2]
    return len(unit) == 2 and 0xDC00 <= int.from_bytes(unit, "little") <= 0xDFFF
