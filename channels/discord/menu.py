"""The chat commands as application commands: within Discord's limits, written only when changed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

import structlog

from channels.discord.client import DiscordClient
from channels.discord.failures import SDK_ERRORS
from echo_bot.channel import Command, Completes, Parameter

log = structlog.get_logger(__name__)

MAX_COMMANDS = 100
MAX_CHOICES = 25
MAX_DESCRIPTION = 100
_MAX_OPTIONS = 25
_CHAT_INPUT, _STRING = 1, 3
_IN_SERVERS = 0
_SERVER, _DIRECT_CHAT = 0, 1
"""Nowhere else: in a chat that the bot is no part of it could not answer."""

_NAME = re.compile(r"[a-z0-9_-]{1,32}")


async def publish_commands(client: DiscordClient, commands: Sequence[Command]) -> None:
    """Register the commands if Discord has others: all at once, so that none is ever half there.

    As text they work all the same, so a failure is only logged.
    """
    application_id = client.application_id
    wanted = menu_of(commands)
    if application_id is None:
        return
    try:
        if fingerprint(await _registered(client, application_id)) == fingerprint(wanted):
            return
        await client.http.bulk_upsert_global_commands(application_id, wanted)
        log.info("discord_commands_registered", count=len(wanted))
    except SDK_ERRORS as error:
        log.warning("discord_commands_not_registered", error=type(error).__name__)


async def _registered(client: DiscordClient, application_id: int) -> list[Any]:
    """What Discord has. A server that cannot tell is told anew."""
    try:
        return list(await client.http.get_global_commands(application_id))
    except SDK_ERRORS:
        return []


def menu_of(commands: Sequence[Command]) -> list[Any]:
    """What of the commands fits Discord's rules for names and numbers."""
    fitting = [command for command in commands if _NAME.fullmatch(command.name)]
    return [_described(command) for command in fitting[:MAX_COMMANDS]]


def fingerprint(commands: Sequence[Any]) -> str:
    """The same for the same commands, whatever Discord adds to what it was told."""
    told = sorted((_told(command) for command in commands), key=lambda command: str(command["name"]))
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _described(command: Command) -> dict[str, Any]:
    parameters = sorted(command.parameters[:_MAX_OPTIONS], key=lambda parameter: not parameter.required)
    return {
        "type": _CHAT_INPUT,
        "name": command.name,
        "description": _short(command.description or command.name),
        "options": [_option(parameter) for parameter in parameters],
        "integration_types": [_IN_SERVERS],
        "contexts": [_SERVER, _DIRECT_CHAT],
    }


def _option(parameter: Parameter) -> dict[str, Any]:
    option: dict[str, Any] = {
        "type": _STRING,
        "name": option_name(parameter),
        "description": _short(parameter.description or parameter.name),
        "required": parameter.required,
    }
    if parameter.choices and len(parameter.choices) <= MAX_CHOICES:
        option["choices"] = [{"name": choice, "value": choice} for choice in parameter.choices]
    elif parameter.completes is not Completes.NOTHING:
        option["autocomplete"] = True
    return option


def option_name(parameter: Parameter) -> str:
    """A parameter's name as Discord takes it."""
    return re.sub(r"[^a-z0-9_-]", "_", parameter.name.lower())[:32] or "value"


def _told(command: Any) -> dict[str, Any]:
    return {
        "type": command.get("type") or _CHAT_INPUT,
        "name": command["name"],
        "description": command.get("description", ""),
        "options": [
            {
                "type": option["type"],
                "name": option["name"],
                "description": option.get("description", ""),
                "required": bool(option.get("required")),
                "autocomplete": bool(option.get("autocomplete")),
                "choices": [[each["name"], each["value"]] for each in option.get("choices") or ()],
            }
            for option in command.get("options") or ()
        ],
    }


def _short(text: str) -> str:
    return text if len(text) <= MAX_DESCRIPTION else f"{text[: MAX_DESCRIPTION - 1]}…"
