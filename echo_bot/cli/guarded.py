"""Verbs that decide or hand out rights are for people: refused to whatever the bot itself started."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from echo_bot.bus.process import ProcessId, descends_from
from echo_bot.errors import StartError
from echo_bot.storage.peek import Peek, peek


def refuse_inside_bot(database: Path) -> None:
    """Raises StartError when the running bot is a parent of this process, or that cannot be ruled out."""
    seen = peek(database)
    bot = None if seen is None else running_bot(seen, datetime.now(UTC))
    if bot is None:
        return
    match descends_from(bot):
        case True:
            raise StartError("the bot itself cannot use this verb: a person has to, outside of the bot")
        case None:
            raise StartError(
                f"cannot see whether the bot (process {bot.pid}) started this command. Run it on the machine "
                "and in the container where the bot runs, as the bot's own user, or stop the bot first"
            )


def running_bot(seen: Peek, now: datetime) -> ProcessId | None:
    """The process that holds the data folder. Of one elsewhere only its lease tells whether it still runs."""
    if seen.bot is None or seen.bot.is_released:
        return None
    bot = ProcessId.parse(seen.bot.holder)
    if bot is None:
        return None
    alive = bot.is_alive()
    if alive is None:
        return bot if seen.bot.expires_at > now else None
    return bot if alive else None
