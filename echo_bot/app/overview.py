"""What the bot says of itself: /status, /tools, and the health that `echo-bot status` reads."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime

from echo_bot import __version__
from echo_bot.agent.ledger import Ledger
from echo_bot.agent.usage_words import usage_json, usage_line, usage_lines
from echo_bot.app.channel_runner import ChannelRunner
from echo_bot.approval.approvers import read_paired
from echo_bot.called import command
from echo_bot.channel import ChannelHealth, ChannelState
from echo_bot.events import Identity, SessionKey
from echo_bot.mcp.server import ServerStatus
from echo_bot.mcp.telling import server_json, server_line
from echo_bot.policy.access import is_admin
from echo_bot.policy.settings import PolicySettings
from echo_bot.scheduler.telling import jobs_line
from echo_bot.session import Pausing, SessionQueues
from echo_bot.storage.pauses import Pause
from echo_bot.storage.protocol import People, Store
from echo_bot.text.language import N_, _, listed
from echo_bot.tools.registry import Availability, Registry, ToolState

RUNTIME_SCOPE = "runtime"
HEALTH_KEY = "health"
_MOST_DEAD = 100
_CHANNEL_STATES = {
    ChannelState.STARTING: N_("Channel {name}: starting"),
    ChannelState.CONNECTED: N_("Channel {name}: connected"),
    ChannelState.RETRYING: N_("Channel {name}: retrying"),
    ChannelState.FAILED: N_("Channel {name}: failed"),
    ChannelState.STOPPED: N_("Channel {name}: stopped"),
}


class Overview:
    """Implements `echo_bot.inbox.commands.Overview` and writes the runtime facts into the store."""

    def __init__(
        self,
        settings: PolicySettings,
        store: Store,
        people: People,
        registry: Registry,
        queues: SessionQueues,
        pausing: Pausing,
        channels: ChannelRunner,
        *,
        model_name: str,
        ledger: Ledger,
        warnings: tuple[str, ...],
        stop_processes: Callable[[str], Awaitable[object]],
        servers: Callable[[], tuple[ServerStatus, ...]],
        clock: Callable[[], datetime],
    ) -> None:
        self._settings, self._store, self._people, self._registry = settings, store, people, registry
        self._queues, self._pausing, self._channels, self._clock = queues, pausing, channels, clock
        self._ledger = ledger
        self._model_name, self._warnings, self._stop_processes = model_name, warnings, stop_processes
        self._servers = servers
        self._started_at = clock()

    @property
    def has_model(self) -> bool:
        return bool(self._model_name)

    def warn(self, sentence: str) -> None:
        """Add a standing warning that was found out after the configuration was read."""
        self._warnings = (*self._warnings, sentence)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._warnings

    async def status_text(self) -> str:
        running, waiting = self._queues.total()
        pending = [r for r in await self._store.approvals.pending() if r.kind != "batch"]
        dead = await self._store.outbox.list("dead", _MOST_DEAD)
        pause = self._pausing.pause_of()
        lines = [
            _("Echo Bot {version}, up since {time}").format(
                version=__version__, time=f"{self._started_at:%Y-%m-%d %H:%M} UTC"
            ),
            _("Model: {name}").format(name=self._model_name or _("none (direct calls only)")),
            *await self._usage_lines(),
            _("Turns: {running} running, {waiting} waiting. Open approvals: {count}.").format(
                running=running, waiting=waiting, count=len(pending)
            ),
            *([_paused_line(pause)] if pause else []),
            *self._channel_lines(),
            *(
                _("MCP server {name}: {how}").format(name=each.name, how=server_line(each, _))
                for each in self._servers()
            ),
        ]
        lines += [line for line in [jobs_line(await self._store.jobs.list())] if line]
        if dead:
            most = _("{count} or more").format(count=_MOST_DEAD)
            told = _("Undeliverable messages: {count} (`{command}` shows them), for example: {error}")
            lines.append(
                told.format(
                    count=most if len(dead) == _MOST_DEAD else len(dead),
                    command=command("outbox list"),
                    error=dead[-1].error,
                )
            )
        lines += [f"⚠ {_(warning)}" for warning in self._warnings]
        return "\n".join(f"- {line}" for line in lines)

    async def _usage_lines(self) -> list[str]:
        totals = await self._ledger.today()
        lines = (
            [_("Models today: {used}").format(used=usage_line(totals))] if totals or self._model_name else []
        )
        if len({each.model for each in totals}) > 1:
            lines += usage_lines(totals)
        refusal = await self._ledger.refusal(_)
        if not refusal:
            return lines
        return [*lines, _("No model is asked any more today: {reason}").format(reason=refusal)]

    def available_tools(self) -> tuple[str, ...]:
        states = self._registry.states(self._settings.tools)
        return tuple(state.name for state in states if state.state is Availability.AVAILABLE)

    def tool_rows(self) -> list[dict[str, str]]:
        """Every tool by name, with its state and what takes it away."""
        return [tool_json(state) for state in self._registry.states(self._settings.tools)]

    def tools_text(self) -> str:
        states = self._registry.states(self._settings.tools)
        there = self.available_tools()
        missing = [f"- `{s.name}` – {_why(s)}" for s in states if s.state is not Availability.AVAILABLE]
        names = listed(f"`{name}`" for name in there) or _("none")
        return _("Available: {names}").format(names=names) + "\n\n" + "\n".join(missing)

    async def is_admin(self, sender: Identity) -> bool:
        return is_admin(sender, self._settings.access, await read_paired(self._people))

    async def end_session(self, session_key: SessionKey) -> None:
        await self._stop_processes(session_key)

    async def write_health(self, facts: dict[str, object]) -> None:
        """Leave what `echo-bot status` shows of a running bot."""
        body = facts | {
            "version": __version__,
            "started_at": self._started_at.isoformat(),
            "at": self._clock().isoformat(),
            "model": self._model_name,
            "models_today": usage_json(self._ledger.day(), await self._ledger.today()),
            "warnings": list(self._warnings),
            "channels": self._channels_json(),
            "mcp_servers": [server_json(each) for each in self._servers()],
            "tools": self.tool_rows(),
        }
        await self._store.values.put(RUNTIME_SCOPE, HEALTH_KEY, json.dumps(body))

    def _channel_lines(self) -> Iterator[str]:
        called_at = self._channels.called_at()
        for name, health in self._channels.health().items():
            line = _health_line(name, health)
            if name in called_at:
                line += _(", called at {addresses}").format(addresses=listed(called_at[name]))
            yield line

    def _channels_json(self) -> list[dict[str, str]]:
        called_at = self._channels.called_at()
        return [
            _health_json(name, health) | {"called_at": " ".join(called_at.get(name, ()))}
            for name, health in self._channels.health().items()
        ]


def _paused_line(pause: Pause) -> str:
    told = _("Paused everywhere since {time} by {person}: nothing new begins until `/resume`.")
    return told.format(time=f"{pause.at:%Y-%m-%d %H:%M} UTC", person=pause.by)


def tool_json(state: ToolState) -> dict[str, str]:
    return {"name": state.name, "state": state.state.value, "reason": state.reason}


def _why(state: ToolState) -> str:
    match state.state:
        case Availability.FILTERED:
            return _("filtered by `{key}`").format(key=state.reason)
        case Availability.DISABLED:
            return _("switched off by `{key}`").format(key=state.reason)
        case Availability.RESERVED:
            return _("a reserved name")
        case _other:
            return _(state.reason)


def _health_line(name: str, health: ChannelHealth) -> str:
    line = _(_CHANNEL_STATES[health.state]).format(name=name)
    if health.last_event_at:
        line += _(", last event {time}").format(time=f"{health.last_event_at:%H:%M:%S} UTC")
    if health.next_retry_at:
        line += _(", next try {time}").format(time=f"{health.next_retry_at:%H:%M:%S} UTC")
    return line + (f" – {health.error}" if health.error else "")


def _health_json(name: str, health: ChannelHealth) -> dict[str, str]:
    return {
        "name": name,
        "state": health.state.value,
        "last_event_at": health.last_event_at.isoformat() if health.last_event_at else "",
        "error": health.error,
        "next_retry_at": health.next_retry_at.isoformat() if health.next_retry_at else "",
    }
