"""One connection's life: everything that talks to Slack between `open` and `close`."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import structlog

from channels.slack.client import Clients, Self
from channels.slack.commands import Commands
from channels.slack.directs import Directs
from channels.slack.failures import require_bot
from channels.slack.home import Home
from channels.slack.hook import Hook
from channels.slack.intake import Desks, Intake
from channels.slack.line import Line, Rhythm
from channels.slack.names import Names
from channels.slack.permissions import missing_scopes, require_scopes
from channels.slack.presses import Presses
from channels.slack.redaction import Redaction, sdk_logger
from channels.slack.socket import Socket
from channels.slack.strays import Strays
from echo_bot.channel import ChannelHealth, ChannelSettings, ChannelState, Port
from echo_bot.channel.errands import Errands

log = structlog.get_logger(__name__)

_ERRANDS_PATIENCE_SECONDS = 0.4

_STUBBORN_SECONDS = 0.5


class Link:
    """A bot that receives from `open` to `close`, by a socket, or by `hook` where there is one."""

    def __init__(
        self, settings: ChannelSettings, port: Port, hook: Hook | None, redaction: Redaction, rhythm: Rhythm
    ) -> None:
        account = settings.account
        logger = sdk_logger(account, redaction)
        self.clients = Clients(settings, logger)
        self.directs = Directs(self.clients.web)
        self._account, self._hook, self._greeting_seconds = account, hook, rhythm.greeting
        self._errands = Errands()
        self._own: Self | None = None
        self.strays = Strays(self.clients.web, account, self._errands)
        names = Names(self.clients.web)
        self.home = Home(self.clients, port, account, self._errands)
        self.commands = Commands(self.clients, port, account, names, self.directs)
        presses = Presses(
            self.clients, port, account, names, self.directs, self.home.tell, self.commands.as_taken
        )
        desks = Desks(
            port,
            self.clients.web,
            self.clients.clock,
            names,
            self.directs,
            presses,
            self.commands,
            self.home,
            self.strays,
            self._errands,
        )
        nobody = self.clients.web_client(settings, None)
        self._intake = Intake(desks, account, lambda: self._own, nobody, logger)

        def dial() -> Socket:
            return Socket(self.clients, self._intake.envelope, logger, rhythm.ping)

        self._line = Line(self._greet, None if hook else dial, account, redaction.clean, rhythm)
        self._keeping: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect. Returns also if the first try fails; raises ChannelFatal for a refused token."""
        await self._line.connect()
        self._keeping = asyncio.create_task(self._line.run(), name=f"slack:{self._account}:line")

    async def close(self) -> None:
        """End every task and connection, within two seconds also when Slack hangs."""
        if self._hook is not None:
            self._hook.close()
        if self._keeping is not None:
            await end(self._keeping)
        await self._line.close()
        await self._errands.close(_ERRANDS_PATIENCE_SECONDS)
        await self.clients.close()

    def health(self) -> ChannelHealth:
        if self._keeping is not None and self._keeping.done():
            return ChannelHealth(ChannelState.FAILED, error="Receiving has ended unexpectedly")
        health = self._line.health(self._intake.last_event_at)
        problem = self._hook.problem if self._hook is not None else ""
        return replace(health, error=health.error or problem)

    async def _greet(self) -> None:
        """Learn who we are, and what the app may do."""
        async with asyncio.timeout(self._greeting_seconds):
            answer = await self.clients.web.auth_test()
        require_bot(str(answer.get("bot_id") or ""), self.clients.web.token or "")
        missing = missing_scopes(str(answer.headers.get("x-oauth-scopes") or ""))
        require_scopes(missing)
        if missing:
            log.warning("slack_scopes_missing", account=self._account, scopes=", ".join(missing))
        self._own = Self(
            user_id=str(answer.get("user_id") or ""),
            bot_id=str(answer.get("bot_id") or ""),
            team_id=str(answer.get("team_id") or ""),
        )
        if self._hook is not None:
            self._hook.open(self._intake.request)


async def end(task: asyncio.Task[None]) -> None:
    """Cancel until it ends: `asyncio.wait_for` of Python 3.11 may swallow a cancellation at its own end."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_STUBBORN_SECONDS)
