"""Answering interactions: within three seconds, privately, and never in the way of what they decide."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any

import structlog
from discord import HTTPException, Interaction

from channels.discord.failures import ACKNOWLEDGED_ALREADY, SDK_ERRORS, UNKNOWN_INTERACTION
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

    Any other failure may have come after Discord took it, so an answer is worth a try.
    `thinking`: shows the person alone that an answer comes.
    """
    try:
        async with asyncio.timeout(_ACKNOWLEDGE_SECONDS):
            await interaction.response.defer(ephemeral=True, thinking=thinking)
    except SDK_ERRORS as error:
        _not_answered(interaction, error)
        return not _is_refusal(error, UNKNOWN_INTERACTION)
    return True


async def tell(interaction: Act, text: str) -> None:
    """Say something to the person alone, in as many messages as it takes. Best effort."""
    if not text.strip():
        return
    try:
        async with asyncio.timeout(_TELL_SECONDS):
            for part in split_markdown(text, MAX_CHARACTERS, LengthUnit.CHARACTERS):
                await _tell_part(interaction, part)
    except SDK_ERRORS as error:
        _not_answered(interaction, error)


async def _tell_part(interaction: Act, part: str) -> None:
    if not interaction.response.is_done():
        try:
            await interaction.response.send_message(part, ephemeral=True, suppress_embeds=True)
        except HTTPException as error:
            # It was acknowledged, only Discord's answer to that was lost.
            if not _is_refusal(error, ACKNOWLEDGED_ALREADY):
                raise
        else:
            return
    await interaction.followup.send(part, ephemeral=True, suppress_embeds=True)


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


def _is_refusal(error: BaseException, code: int) -> bool:
    return isinstance(error, HTTPException) and error.code == code
