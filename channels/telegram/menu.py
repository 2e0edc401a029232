"""The chat commands in Telegram's menu."""

from __future__ import annotations

import re
from collections.abc import Sequence

import structlog
from telegram import BotCommand
from telegram.error import TelegramError

from channels.telegram.client import TelegramBot
from echo_bot.channel import Command

log = structlog.get_logger(__name__)

MAX_COMMANDS = 100
MAX_DESCRIPTION = 256
_NAME = re.compile(r"[a-z0-9_]{1,32}")


async def publish_commands(bot: TelegramBot, commands: Sequence[Command]) -> None:
    """Show the commands in the menu. Without the menu they work all the same, so a failure is only logged."""
    try:
        await bot.set_my_commands(menu_of(commands))
    except TelegramError as error:
        log.warning("telegram_commands_not_set", error=type(error).__name__)


def menu_of(commands: Sequence[Command]) -> list[BotCommand]:
    """What of the commands fits Telegram's rules for names and lengths."""
    entries = [
        BotCommand(command.name, _description(command))
        for command in commands
        if _NAME.fullmatch(command.name) and command.description
    ]
    return entries[:MAX_COMMANDS]


def _description(command: Command) -> str:
    text = f"{command.usage} – {command.description}" if command.usage else command.description
    return text[:MAX_DESCRIPTION]
