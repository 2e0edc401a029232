"""From a press to a decision: acknowledge, decide through the port, answer the presser; modals for words."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from typing import Any

import structlog
from discord import TextStyle
from discord.ui import Modal, TextInput

from channels.discord.buttons import read_custom_id
from channels.discord.failures import SDK_ERRORS
from channels.discord.places import NAME, where
from channels.discord.render import literal
from channels.discord.replies import Act, acknowledge, tell
from echo_bot.channel import Port, Prompt
from echo_bot.errors import EchoBotError
from echo_bot.events import Address, ButtonPress, Identity, PressReply
from echo_bot.text.language import N_, _

log = structlog.get_logger(__name__)

MAX_INPUT = 4000
_MAX_TITLE = _MAX_FIELD_LABEL = 45
_MAX_PLACEHOLDER = 100
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|(?<=[。？！])")
_TEXT_INPUT = 4
_TITLE = N_("Your words")
_TOO_SLOW = N_("That took too long. Press the button once more.")
_NOT_STORED = N_("That could not be stored, so nothing was decided. Press again in a moment.")
_TOO_LONG = N_(
    "This is longer than the {most} characters that can be edited here. Edit it on the web page, "
    "or deny it and ask for another call."
)


class Presses:
    """Hands presses to the port. A decision never waits for Discord to take its acknowledgement."""

    def __init__(self, port: Port, account: str, prompt_seconds: float) -> None:
        self._port, self._account, self._prompt_seconds = port, account, prompt_seconds

    async def take(self, interaction: Act) -> None:
        """A button was pressed: decide, or open a modal. Every press gets an answer."""
        token, asks = read_custom_id(_custom_id(interaction))
        press = press_of(interaction, token, self._account)
        if press is None:
            await tell(interaction, _("This chat is not known to the bot."))
        elif asks:
            await self._ask(interaction, press)
        else:
            await self._decide(interaction, press)

    async def take_words(self, interaction: Act) -> None:
        """A modal was submitted: its words complete the press that opened it."""
        words = next(_values(interaction.data or {}), "")
        press = press_of(interaction, _custom_id(interaction), self._account, words)
        if press is not None:
            await self._decide(interaction, press)

    async def _decide(self, interaction: Act, press: ButtonPress) -> None:
        acknowledged, reply = await asyncio.gather(acknowledge(interaction), self._press(press))
        if acknowledged:
            await tell(interaction, literal(reply.text))

    async def _press(self, press: ButtonPress) -> PressReply:
        try:
            return await self._port.press(press)
        except EchoBotError as error:
            log.error("discord_press_failed", press=press.press_id, error=str(error))
            return PressReply(_(_NOT_STORED), ok=False)

    async def _ask(self, interaction: Act, press: ButtonPress) -> None:
        try:
            async with asyncio.timeout(self._prompt_seconds):
                asked = await self._port.prompt(press)
        except TimeoutError:
            asked = PressReply(_(_TOO_SLOW), ok=False)
        except EchoBotError as error:
            log.error("discord_prompt_failed", press=press.press_id, error=str(error))
            asked = PressReply(_(_NOT_STORED), ok=False)
        if isinstance(asked, Prompt) and len(asked.initial) > MAX_INPUT:
            asked = PressReply(_(_TOO_LONG).format(most=MAX_INPUT), ok=False)
        if isinstance(asked, PressReply):
            await tell(interaction, literal(asked.text))
            return
        await open_modal(interaction, press.token, asked)


async def open_modal(interaction: Act, token: str, prompt: Prompt) -> None:
    """Ask for words. A label too short for a question takes its first sentence; an empty field shows all."""
    modal = Modal(title=_fitting(prompt.title or prompt.question or _(_TITLE), _MAX_TITLE), custom_id=token)
    field: TextInput[Modal] = TextInput(
        label=_label(prompt.question or _(_TITLE)),
        style=TextStyle.paragraph,
        custom_id="words",
        default=prompt.initial or None,
        placeholder=_fitting(prompt.question, _MAX_PLACEHOLDER) or None,
        max_length=MAX_INPUT,
    )
    modal.add_item(field)
    # Submissions are taken as events, also after a restart: the SDK need not keep this.
    modal.stop()
    try:
        await interaction.response.send_modal(modal)
    except SDK_ERRORS as error:
        # The presser sees Discord's own failure, and presses again.
        log.info("discord_modal_not_opened", interaction=interaction.id, error=type(error).__name__)


def press_of(interaction: Act, token: str, account: str, words: str = "") -> ButtonPress | None:
    """None where Discord does not say in which channel it happened."""
    place = where(interaction.channel)
    if place is None:
        return None
    return ButtonPress(
        press_id=f"interaction:{interaction.id}",
        token=token,
        presser=Identity(NAME, str(interaction.user.id), account),
        address=Address(NAME, place.chat_id, place.thread_id, account),
        message_id=str(interaction.message.id) if interaction.message is not None else "",
        presser_name=interaction.user.display_name,
        text=words,
    )


def _custom_id(interaction: Act) -> str:
    data: Mapping[str, Any] = interaction.data or {}
    return str(data.get("custom_id", ""))


def _values(component: Mapping[str, Any]) -> Iterator[str]:
    """The values of all text inputs below, whatever rows and labels are around them."""
    if component.get("type") == _TEXT_INPUT:
        yield str(component.get("value", ""))
    inner = component.get("components", ())
    for each in (*inner, *([component["component"]] if "component" in component else [])):
        yield from _values(each)


def _label(question: str) -> str:
    if len(question) > _MAX_FIELD_LABEL:
        question = _SENTENCE_END.split(question, maxsplit=1)[0]
    return _fitting(question, _MAX_FIELD_LABEL)


def _fitting(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
