"""A card's buttons as Discord's components; the custom id is the token, marked where words are asked for."""

from __future__ import annotations

from collections.abc import Sequence

from discord import ButtonStyle as Style
from discord.ui import Button as DiscordButton
from discord.ui import View

from echo_bot.errors import FormatRejected
from echo_bot.events import Button, ButtonStyle

MAX_CUSTOM_ID = 100
MAX_BUTTONS = 25
MAX_LABEL = 80
_ASKS = "?"
_STYLES = {
    ButtonStyle.PRIMARY: Style.success,
    ButtonStyle.DANGER: Style.danger,
    ButtonStyle.PLAIN: Style.secondary,
}


def view_of(buttons: Sequence[Button]) -> View | None:
    """Rows of five, None without buttons. Raises FormatRejected for what does not fit Discord."""
    if not buttons:
        return None
    if len(buttons) > MAX_BUTTONS:
        raise FormatRejected(f"a message of Discord holds {MAX_BUTTONS} buttons, not {len(buttons)}")
    view = View(timeout=None)
    for button in buttons:
        key: DiscordButton[View] = DiscordButton(
            label=button.label[:MAX_LABEL], style=_STYLES[button.style], custom_id=_custom_id(button)
        )
        view.add_item(key)
    # Presses are taken as events, also those on messages from before a restart: the SDK need not keep this.
    view.stop()
    return view


def read_custom_id(custom_id: str) -> tuple[str, bool]:
    """The token, and whether the button asks for words, which is so also after a restart."""
    return (custom_id.removeprefix(_ASKS), True) if custom_id.startswith(_ASKS) else (custom_id, False)


def _custom_id(button: Button) -> str:
    custom_id = f"{_ASKS}{button.token}" if button.prompt else button.token
    if not 1 <= len(custom_id) <= MAX_CUSTOM_ID:
        raise FormatRejected(f"the token of button {button.label!r} does not fit {MAX_CUSTOM_ID} characters")
    return custom_id
