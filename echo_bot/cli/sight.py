"""The bot on a data folder, seen from outside: does one run, and what does it say of itself?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from echo_bot.cli.guarded import running_bot
from echo_bot.config.glance import Glance, glance
from echo_bot.storage.peek import Peek, peek
from echo_bot.storage.sqlite_file import database_path

if TYPE_CHECKING:
    from echo_bot.bus.process import ProcessId

Account = Mapping[str, object]
"""What a bot wrote into the store about itself."""

_QUIET = timedelta(seconds=30)
"""A bot that works writes its account every 2 seconds."""

MUTE = "it hangs, was suspended, or cannot write its state; what follows may no longer be so"
"""What is wrong with one that does not."""


@dataclass(frozen=True, slots=True)
class Sight:
    """`bot` is the running process; `account` is its own account, empty without one."""

    glance: Glance
    database: Path
    seen: Peek
    bot: ProcessId | None
    account: Account

    def text(self, name: str) -> str:
        """One line of the account; "" where there is none."""
        value = self.account.get(name)
        return value if isinstance(value, str) else ""

    def silence(self, now: datetime) -> timedelta | None:
        """For how long the running bot told nothing of itself, when that is too long for one that works."""
        try:
            silent = now - datetime.fromisoformat(self.text("at"))
        except (ValueError, TypeError):
            return None
        return silent if self.bot is not None and silent > _QUIET else None


def look_at_bot(config_path: Path | None, environ: Mapping[str, str], now: datetime) -> Sight:
    """Opens no store and checks no configuration. Raises ConfigError, or StorageError for a damaged store."""
    glanced = glance(config_path, environ)
    database = database_path(glanced.database_url)
    seen = peek(database) or Peek()
    bot = running_bot(seen, now)
    is_its_own = bot is not None and seen.health.get("process") == str(bot)
    return Sight(glanced, database, seen, bot, seen.health if is_its_own else {})
