"""The chat commands: a table of names, and what each answers."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from echo_bot import __version__
from echo_bot.approval.answers import votes_of
from echo_bot.approval.broker import Broker
from echo_bot.approval.escape import escape_line
from echo_bot.approval.request import Choice
from echo_bot.approval.stored import request_from_json
from echo_bot.channel import Command, Completes, Parameter
from echo_bot.events import Identity, InboundEvent, SessionKey
from echo_bot.inbox.albums import Albums
from echo_bot.session import SessionQueues
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord, GrantRecord, TurnState

_APPROVAL = Parameter("id", "The id on the card", completes=Completes.APPROVALS)
_SCOPE = Parameter("scope", "How far it reaches", required=False, choices=("once", "session", "1h", "always"))

COMMANDS: tuple[Command, ...] = (
    Command("help", "What you can write here"),
    Command(
        "run",
        "Run a shell command through the gate",
        (Parameter("command", "A shell command"),),
        starts_turn=True,
    ),
    Command(
        "tool",
        "Call a tool directly",
        (
            Parameter("name", "The tool", completes=Completes.TOOLS),
            Parameter("arguments", "key=value …", required=False),
        ),
        starts_turn=True,
    ),
    Command("approvals", "Open approvals you may decide"),
    Command("approve", "Approve an open call", (_APPROVAL, _SCOPE)),
    Command("deny", "Deny an open call", (_APPROVAL, Parameter("reason", "Why", required=False))),
    Command("grants", "Approvals remembered for you"),
    Command(
        "revoke",
        "Forget a remembered approval",
        (Parameter("id", "Its id", completes=Completes.GRANTS),),
    ),
    Command("new", "Start a fresh conversation"),
    Command("stop", "Stop what is running in this chat"),
    Command("pause", "Hold new work in this chat"),
    Command("resume", "Go on after /pause"),
    Command("status", "What the bot is doing"),
    Command("tools", "Which tools there are, and why some are not"),
    Command("whoami", "Your id as this bot sees it"),
    Command(
        "pair", "Introduce yourself with a one-time code", (Parameter("code", "The code you were given"),)
    ),
)

CONTROL = frozenset({"approve", "deny", "approvals", "stop", "status", "pause", "resume"})
"""Commands that never queue and are never rate limited."""

TURN_COMMANDS = frozenset(command.name for command in COMMANDS if command.starts_turn)
"""Commands that are turns: they queue like messages."""

_SCOPES = {c.value: c for c in (Choice.ONCE, Choice.SESSION, Choice.HOUR, Choice.ALWAYS)}


@dataclass(frozen=True, slots=True)
class Request:
    """One command as it was sent."""

    event: InboundEvent
    session_key: SessionKey
    rest: str

    @property
    def sender(self) -> Identity:
        return self.event.sender

    @property
    def name(self) -> str:
        return self.event.sender_name


class Overview(Protocol):
    """What /status and /tools say; see `echo_bot.app`."""

    async def status_text(self) -> str: ...

    def tools_text(self) -> str: ...

    def is_admin(self, sender: Identity) -> Awaitable[bool]: ...

    async def end_session(self, session_key: SessionKey) -> None: ...


class Commands:
    """Answers every command with a text in markdown."""

    def __init__(
        self,
        store: Store,
        broker: Broker,
        queues: SessionQueues,
        albums: Albums,
        overview: Overview,
        *,
        mask: Callable[[str], str],
        clock: Callable[[], datetime],
    ) -> None:
        self._store, self._broker, self._queues, self._albums = store, broker, queues, albums
        self._overview, self._mask, self._clock = overview, mask, clock
        self._answers: dict[str, Callable[[Request], Awaitable[str]]] = {
            "help": self._help,
            "start": self._help,
            "approvals": self._approvals,
            "approve": self._approve,
            "deny": self._deny,
            "grants": self._grants,
            "revoke": self._revoke,
            "new": self._new,
            "stop": self._stop,
            "pause": self._pause,
            "resume": self._resume,
            "status": self._status,
            "tools": self._tools,
            "whoami": self._whoami,
        }

    def knows(self, name: str) -> bool:
        return name in self._answers

    async def is_admin(self, sender: Identity) -> bool:
        return await self._overview.is_admin(sender)

    async def answer(self, name: str, request: Request) -> str:
        return await self._answers[name](request)

    async def _help(self, request: Request) -> str:
        lines = [f"`/{c.name}{' ' + c.usage if c.usage else ''}` – {c.description}" for c in COMMANDS]
        return "Write a message, or one of these:\n\n" + "\n".join(lines)

    async def _approvals(self, request: Request) -> str:
        pending = await self._broker.pending_for(request.sender)
        records = [record for record in pending if record.kind == "approval"]
        if not records:
            return "No open approvals that you may decide."
        lines = [
            f"{literal(r.approval_id[-6:])} {literal(self._mask(summary_of(r)))}"
            f", asked by {literal(r.requester)}{_votes(r)}"
            for r in records
        ]
        batch = await self._broker.offer_batch(request.sender, request.event.address, records)
        return (
            "Open approvals:\n\n"
            + "\n".join(lines)
            + "\n\n`/approve <id>` or `/deny <id> [reason]` decides one."
            + (f" {batch}" if batch else "")
        )

    async def _approve(self, request: Request) -> str:
        ref, scope = first_word(request.rest)
        scope = scope.lower()
        if not ref:
            return "Write: `/approve <id> [once|session|1h|always]`. `/approvals` lists the open ids."
        choice = _SCOPES.get(scope or Choice.ONCE.value)
        if choice is None:
            return f"{literal(scope)} is not a scope. Use one of: {', '.join(_SCOPES)}. Nothing was decided."
        return (await self._broker.decide(ref, choice, request.sender, name=request.name)).text

    async def _deny(self, request: Request) -> str:
        ref, reason = first_word(request.rest)
        if not ref:
            return "Write: `/deny <id> [reason]`. `/approvals` lists the open ids."
        by, name = request.sender, request.name
        return (await self._broker.decide(ref, Choice.DENY, by, name=name, reason=reason)).text

    async def _grants(self, request: Request) -> str:
        grants = await self._store.grants.list(str(request.sender), self._clock())
        if not grants:
            return "No approvals are remembered for you."
        return (
            "Remembered for you:\n\n"
            + "\n".join(_grant_line(g) for g in grants)
            + "\n\n`/revoke <id>` forgets one."
        )

    async def _revoke(self, request: Request) -> str:
        mine = await self._store.grants.list(str(request.sender), self._clock())
        found = next((g for g in mine if g.grant_id == request.rest.strip()), None)
        if found is None and await self._overview.is_admin(request.sender):
            everyone = await self._store.grants.list(None, self._clock())
            found = next((g for g in everyone if g.grant_id == request.rest.strip()), None)
        if found is None or not await self._store.grants.revoke(found.grant_id):
            return "No remembered approval of yours has that id. `/grants` lists them."
        return f"Forgotten: {literal(found.summary)}"

    async def _new(self, request: Request) -> str:
        await self.halt(request.session_key)
        await self._store.sessions.reset(request.session_key, self._clock())
        ended = await self._store.grants.end_session(request.session_key)
        await self._overview.end_session(request.session_key)
        return "A fresh conversation." + (f" {_counted(ended, 'session approval')} ended." if ended else "")

    async def _stop(self, request: Request) -> str:
        stopped = await self.halt(request.session_key)
        return words_of_stop(stopped)

    async def halt(self, key: SessionKey) -> int:
        """Stop a session's turns; how many. Mark first, then cancel: a stopped turn is never revived."""
        await self._albums.release(key)
        running = self._queues.current(key)
        turns = (*([running] if running else []), *self._queues.waiting(key))
        for turn in turns:
            await self._store.turns.set_state(turn.turn_id, TurnState.STOPPED)
        await self._queues.stop(key)
        if turns:
            await self._broker.cancel_turns((turn.turn_id for turn in turns), "the turn was stopped")
        return len(turns)

    async def _pause(self, request: Request) -> str:
        self._queues.pause(request.session_key)
        return "Paused. What is running goes on; new messages wait until `/resume`."

    async def _resume(self, request: Request) -> str:
        return "Going on." if self._queues.resume(request.session_key) else "This chat is not paused."

    async def _status(self, request: Request) -> str:
        """Admins see the whole bot; everybody else what concerns them."""
        if await self._overview.is_admin(request.sender):
            return await self._overview.status_text()
        key = request.session_key
        running = "working" if self._queues.current(key) else "idle"
        mine = await self._broker.pending_for(request.sender)
        return (
            f"Echo Bot {__version__}. This chat: {running}, {len(self._queues.waiting(key))} waiting. "
            f"Open approvals that you may decide: {len(mine)}."
        )

    async def _tools(self, request: Request) -> str:
        return self._overview.tools_text()

    async def _whoami(self, request: Request) -> str:
        admin = ", an admin" if await self._overview.is_admin(request.sender) else ""
        return f"You are `{request.sender}`{admin}. This chat is `{request.event.address}`."


def summary_of(record: ApprovalRecord) -> str:
    return request_from_json(record.request_json).summary


def _votes(record: ApprovalRecord) -> str:
    """How far a call is that several people must approve."""
    return f" ({len(votes_of(record).approved)} of {record.quorum} approved)" if record.quorum > 1 else ""


def _grant_line(grant: GrantRecord) -> str:
    until = f" until {grant.expires_at:%H:%M} UTC" if grant.expires_at else ""
    return f"{literal(grant.grant_id)} {literal(grant.summary)} – {grant.scope}{until}, used {grant.uses}×"


def words_of_stop(stopped: int) -> str:
    return f"Stopped {_counted(stopped, 'turn')}." if stopped else "Nothing is running here."


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def literal(text: str) -> str:
    """One line in a code span: what a model or a person wrote cannot look like a line of ours."""
    line = escape_line(text)
    marks = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    return f"{marks} {line} {marks}" if "`" in line else f"`{line}`"


def first_word(text: str) -> tuple[str, str]:
    word, rest = (*text.split(None, 1), "", "")[:2]
    return word, rest.strip()
