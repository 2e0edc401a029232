"""Buttons as an inline keyboard; callback data is the token, with a mark where a press asks for words."""

from __future__ import annotations

from collections.abc import Sequence

from telegram import InlineKeyboardButton, InlineKeyboardMarkup

from echo_bot.errors import FormatRejected
from echo_bot.events import Button, ButtonStyle

MAX_CALLBACK_BYTES = 64
BUTTONS_A_ROW = 2
_ASKS = "?"
_STYLES = {ButtonStyle.PRIMARY: "success", ButtonStyle.DANGER: "danger", ButtonStyle.PLAIN: None}


def keyboard_of(buttons: Sequence[Button]) -> InlineKeyboardMarkup | None:
    """The keyboard, None without buttons. Raises FormatRejected for a token that does not fit."""
    if not buttons:
        return None
    keys = [_key(button) for button in buttons]
    rows = [keys[start : start + BUTTONS_A_ROW] for start in range(0, len(keys), BUTTONS_A_ROW)]
    return InlineKeyboardMarkup(rows)


def read_callback_data(data: str) -> tuple[str, bool]:
    """The token, and whether the button asks for words, which is so also after a restart."""
    return (data.removeprefix(_ASKS), True) if data.startswith(_ASKS) else (data, False)


def _key(button: Button) -> InlineKeyboardButton:
    data = f"{_ASKS}{button.token}" if button.prompt else button.token
    if not 1 <= len(data.encode()) <= MAX_CALLBACK_BYTES:
        raise FormatRejected(f"the token of button {button.label!r} does not fit {MAX_CALLBACK_BYTES} bytes")
    return InlineKeyboardButton(button.label, callback_data=data, style=_STYLES[button.style])
