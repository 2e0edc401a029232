"""Answering interactions: within three seconds, privately, and never in the way of what they decide."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any

import structlog
from discord import Interaction

from channels.discord.failures import SDK_ERRORS
from echo_bot.channel import LengthUnit
from echo_bot.text import split_markdown

log = structlog.get_logger(__name__)

MAX_CHARACTERS = 2000
_ACKNOWLEDGE_SECONDS = 5.0
_TELL_SECONDS = 15.0
_REMEMBERED = 2000

Act = Interaction[Any]


class Repeats:
    """Discord delivers an interaction again when a line breaks: each is taken once."""

    def __init__(self) -> None:
        self._seen: OrderedDict[int, None] = OrderedDict()

    def is_new(self, interaction: Act) -> bool:
        is_new = interaction.id not in self._seen
        self._seen[interaction.id] = None
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return is_new


async def acknowledge(interaction: Act, *, thinking: bool = False) -> bool:
    """Tell Discord that the interaction arrived. False: it was too late; what it decides still holds.

    `thinking`: shows the person alone that an answer comes.
    """
    try:
        async with asyncio.timeout(_ACKNOWLEDGE_SECONDS):
            await interaction.response.defer(ephemeral=True, thinking=thinking)
    except SDK_ERRORS as error:
        _not_answered(interaction, error)
        return False
    return True


async def tell(interaction: Act, text: str) -> None:
    """Say something to the person alone, in as many messages as it takes. Best effort."""
    if not text.strip():
        return
    try:
        async with asyncio.timeout(_TELL_SECONDS):
            for part in split_markdown(text, MAX_CHARACTERS, LengthUnit.CHARACTERS):
                if interaction.response.is_done():
                    await interaction.followup.send(part, ephemeral=True, suppress_embeds=True)
                else:
                    await interaction.response.send_message(part, ephemeral=True, suppress_embeds=True)
    except SDK_ERRORS as error:
        _not_answered(interaction, error)


async def withdraw(interaction: Act) -> None:
    """Take back a "thinking…" that nothing is to be said to. Best effort."""
    try:
        async with asyncio.timeout(_TELL_SECONDS):
            await interaction.delete_original_response()
    except SDK_ERRORS as error:
        _not_answered(interaction, error)


async def say_openly(interaction: Act, note: str, text: str) -> None:
    """Answer a "thinking…" privately with `note`, and say `text` for everybody to see. Best effort."""
    try:
        async with asyncio.timeout(_TELL_SECONDS):
            await interaction.edit_original_response(content=note)
            await interaction.followup.send(text[:MAX_CHARACTERS], ephemeral=False, suppress_embeds=True)
    except SDK_ERRORS as error:
        _not_answered(interaction, error)


def _not_answered(interaction: Act, error: BaseException) -> None:
    log.info("discord_interaction_not_answered", interaction=interaction.id, error=type(error).__name__)
