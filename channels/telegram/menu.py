"""The chat commands in Telegram's menus: what makes sense to strangers, in private chats and in groups."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import structlog
from telegram import (
    BotCommand,
    BotCommandScope,
    BotCommandScopeAllGroupChats,
    BotCommandScopeAllPrivateChats,
    BotCommandScopeDefault,
)
from telegram.error import TelegramError

from channels.telegram.client import TelegramBot
from echo_bot.channel import Command

log = structlog.get_logger(__name__)

MAX_COMMANDS = 100
MAX_DESCRIPTION = 256
_NAME = re.compile(r"[a-z0-9_]{1,32}")
_EVERYWHERE = frozenset({"start", "help", "pair"})
_PRIVATE_ONLY = frozenset({"start", "pair"})


async def publish_commands(bot: TelegramBot, commands: Sequence[Command]) -> None:
    """Show the commands in the menus, where they changed. They work without, so a failure is only logged."""
    for scope, menu in menus_of(commands).items():
        try:
            if await _shown(bot, scope) != tuple(menu):
                await bot.set_my_commands(menu, scope)
        except TelegramError as error:
            log.warning("telegram_commands_not_set", scope=scope.type, error=type(error).__name__)


async def _shown(bot: TelegramBot, scope: BotCommandScope) -> tuple[BotCommand, ...] | None:
    """What the menu holds now; None when Telegram does not tell."""
    try:
        return tuple(await bot.get_my_commands(scope))
    except TelegramError:
        return None


def menus_of(commands: Sequence[Command]) -> Mapping[BotCommandScope, list[BotCommand]]:
    """A menu for each scope. The default is for wherever Telegram finds no closer one."""
    names = frozenset(command.name for command in commands)
    return {
        BotCommandScopeDefault(): _menu(commands, names & _EVERYWHERE),
        BotCommandScopeAllGroupChats(): _menu(commands, names - _PRIVATE_ONLY),
        BotCommandScopeAllPrivateChats(): _menu(commands, names),
    }


def _menu(commands: Sequence[Command], shown: Collection[str]) -> list[BotCommand]:
    """What of the commands fits Telegram's rules for names and lengths."""
    entries = [
        BotCommand(command.name, _description(command))
        for command in commands
        if command.name in shown and _NAME.fullmatch(command.name) and command.description
    ]
    return entries[:MAX_COMMANDS]


def _description(command: Command) -> str:
    text = f"{command.usage} – {command.description}" if command.usage else command.description
    return text if len(text) <= MAX_DESCRIPTION else f"{text[: MAX_DESCRIPTION - 1]}…"
