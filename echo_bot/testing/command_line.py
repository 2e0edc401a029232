"""The command `echo-bot` run inside this process over a data folder of its own, for tests of verbs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from click.testing import CliRunner

from echo_bot.cli import USAGE_OR_CONFIG, echo_bot
from echo_bot.errors import EchoBotError
from echo_bot.storage.store import SqlStore, open_store, sqlite_url

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a verb printed and its exit code."""

    code: int
    out: str
    err: str


class CommandLine:
    """`command_line("approvals", "list")` runs that verb. Input and output are never a terminal."""

    def __init__(self, folder: Path) -> None:
        self.data_dir = folder / "data"
        self.database = self.data_dir / "echo-bot.db"
        self.environ = {"ECHO_BOT_DATA_DIR": str(self.data_dir)}

    def __call__(self, *arguments: str, stdin: str = "") -> Answer:
        result = CliRunner().invoke(echo_bot, arguments, input=stdin, env=dict(self.environ))
        if isinstance(result.exception, EchoBotError):
            return Answer(USAGE_OR_CONFIG, result.stdout, f"{result.stderr}echo-bot: {result.exception}\n")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    def with_store(self, work: Callable[[SqlStore], Awaitable[T]]) -> T:
        """Do something with the store between two verbs, as the bot would."""

        async def main() -> T:
            store = await open_store(sqlite_url(self.database))
            try:
                return await work(store)
            finally:
                await store.close()

        return asyncio.run(main())
