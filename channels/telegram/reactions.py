"""A small sign that a message was taken, where nothing else would show it for a while."""

from __future__ import annotations

import structlog
from telegram.error import TelegramError

from channels.telegram.client import TelegramBot
from echo_bot.events import BlockType, EventType, InboundEvent

log = structlog.get_logger(__name__)

SEEN = "👀"


def deserves_a_sign(event: InboundEvent) -> bool:
    """In groups, and for files, whose fetching takes time; a command's answer is sign enough."""
    has_files = any(block.type is not BlockType.TEXT for block in event.content)
    is_command = event.text.lstrip().startswith("/")
    return event.event_type is EventType.MESSAGE and not is_command and (event.is_group or has_files)


async def show_seen(bot: TelegramBot, event: InboundEvent) -> None:
    """Best effort: a group may allow no reactions."""
    try:
        await bot.set_message_reaction(int(event.chat_id), int(event.message_id), SEEN)
    except (TelegramError, ValueError) as error:
        log.debug("telegram_reaction_not_set", error=type(error).__name__)
