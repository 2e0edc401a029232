"""Native commands: acknowledged at once, run by the core in their text form, answered to the person alone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import structlog
from discord.app_commands import Choice

from channels.discord.failures import SDK_ERRORS
from channels.discord.menu import MAX_CHOICES, option_name
from channels.discord.muted import unanswerable
from channels.discord.places import NAME, where
from channels.discord.render import literal, render_markdown
from channels.discord.replies import Act, acknowledge, say_openly, tell, withdraw
from echo_bot.channel import Command, CommandReply, Completion, Parameter, Port, inbound_event, starts_turn
from echo_bot.errors import EchoBotError
from echo_bot.events import BlockType, ContentBlock, Identity, InboundEvent
from echo_bot.text.language import N_, _

log = structlog.get_logger(__name__)

_COMPLETION_SECONDS = 2.5
_PERMISSION_SECONDS = 5.0
_MAX_CHOICE = 100
_SHOWN_CHARACTERS = 1500
_STARTED = N_("On its way.")
_NOT_STORED = N_("That could not be stored, so nothing was done. Try again in a moment.")


class SlashCommands:
    """Hands native commands to the port, and completes what is typed into them."""

    def __init__(self, port: Port, account: str) -> None:
        self._port, self._account = port, account

    async def take(self, interaction: Act) -> None:
        """Run a command. It counts also when Discord no longer takes an answer to it."""
        event = command_event(interaction, self._port.commands(), self._account)
        acknowledged, reply = await asyncio.gather(
            acknowledge(interaction, thinking=True), self._command(event, interaction)
        )
        if not acknowledged:
            return
        if reply.queued:
            await say_openly(interaction, _(_STARTED), asked_openly(event.sender_name, event.text))
        elif answer := render_markdown(reply.text):
            await tell(interaction, answer)
        else:
            await withdraw(interaction)

    async def complete(self, interaction: Act) -> None:
        """Offer completions of what is typed; none where the core is too slow for Discord's three seconds."""
        parameter, typed = _focused(interaction, self._port.commands())
        if parameter is None:
            return
        viewer = Identity(NAME, str(interaction.user.id), self._account)
        try:
            async with asyncio.timeout(_COMPLETION_SECONDS):
                found = await self._port.complete(viewer, parameter, typed)
        except (TimeoutError, EchoBotError):
            found = ()
        try:
            await interaction.response.autocomplete(_choices(found))
        except SDK_ERRORS as error:
            log.info("discord_completion_not_taken", error=type(error).__name__)

    async def _unanswerable(self, event: InboundEvent, interaction: Act) -> str:
        if not starts_turn(event.text, self._port.commands()) or not await self._port.admits(event.sender):
            return ""
        place = f"#{getattr(interaction.channel, 'name', '')}"
        return await unanswerable(interaction.client, interaction.channel, place, _PERMISSION_SECONDS)

    async def _command(self, event: InboundEvent, interaction: Act) -> CommandReply:
        try:
            why = await self._unanswerable(event, interaction)
            if why and await self._port.turn_down(event):
                return CommandReply(why, ok=False)
            return await self._port.command(event)
        except EchoBotError as error:
            log.error("discord_command_failed", event_id=event.event_id, error=str(error))
            return CommandReply(_(_NOT_STORED), ok=False)


def command_event(interaction: Act, commands: Sequence[Command], account: str) -> InboundEvent:
    """The command in its text form: `/name` and the values in the order of its parameters."""
    data: Mapping[str, Any] = interaction.data or {}
    name = str(data.get("name", ""))
    given = {str(option["name"]): str(option.get("value", "")) for option in data.get("options", ())}
    order = [option_name(parameter) for parameter in _parameters(commands, name)] or list(given)
    text = " ".join([f"/{name}", *(given[key] for key in order if given.get(key))])
    place = where(interaction.channel)
    return inbound_event(
        event_id=f"interaction:{interaction.id}",
        channel=NAME,
        account=account,
        chat_id=place.chat_id if place is not None else str(interaction.channel_id or ""),
        thread_id=place.thread_id if place is not None else "",
        sender_id=str(interaction.user.id),
        sender_name=interaction.user.display_name,
        timestamp=datetime.now(UTC),
        content=(ContentBlock(BlockType.TEXT, text=text),),
        is_group=interaction.guild_id is not None,
        mentioned=True,
        metadata=dict(place.names) if place is not None else None,
    )


def asked_openly(name: str, text: str) -> str:
    """Who asked for what, for everybody in the channel to see; nothing of it is markup."""
    shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return _("**{name}** asked: {words}").format(name=literal(name), words=literal(shown))


def _parameters(commands: Sequence[Command], name: str) -> tuple[Parameter, ...]:
    return next((command.parameters for command in commands if command.name == name), ())


def _focused(interaction: Act, commands: Sequence[Command]) -> tuple[Parameter | None, str]:
    data: Mapping[str, Any] = interaction.data or {}
    for option in data.get("options", ()):
        if option.get("focused"):
            for parameter in _parameters(commands, str(data.get("name", ""))):
                if option_name(parameter) == option["name"]:
                    return parameter, str(option.get("value", ""))
    return None, ""


def _choices(found: Sequence[Completion]) -> list[Choice[str]]:
    """What Discord takes of them; a value that would have to be cut is left out: it means another thing."""
    fitting = [each for each in found if 1 <= len(each.value) <= _MAX_CHOICE]
    return [
        Choice(name=(each.label or each.value)[:_MAX_CHOICE], value=each.value)
        for each in fitting[:MAX_CHOICES]
    ]
