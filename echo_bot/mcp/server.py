"""One server kept up: connected in the background, listed, called, connected again after a pause."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from echo_bot.approval.escape import escape_line
from echo_bot.called import install_extra
from echo_bot.errors import EchoBotError
from echo_bot.mcp.definition import Definition
from echo_bot.mcp.failing import McpFailed, McpUnanswered
from echo_bot.mcp.offered import Listing, Offered, judged, listing, remembered
from echo_bot.mcp.spec import ServerSpec, Timing
from echo_bot.storage.mcp_records import McpDefinitionRecord, McpDefinitions, SeenDefinition
from echo_bot.tools.base import ToolExecutionContext

if TYPE_CHECKING:
    from echo_bot.mcp.connection import Connection, Mode

log = structlog.get_logger(__name__)

FIRST_CONNECTION = "first connection"


class ServerState(StrEnum):
    NOT_STARTED = "not started"
    CONNECTING = "connecting"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """`reason` is why it is not ready, `notes` what else is worth saying. `tools` can be called now."""

    name: str
    state: ServerState
    tools: int = 0
    reason: str = ""
    next_try_at: datetime | None = None
    notes: tuple[str, ...] = ()


class Connect(Protocol):
    def __call__(
        self, spec: ServerSpec, *, mode: Mode, on_stir: Callable[[], None]
    ) -> AbstractAsyncContextManager[Connection]: ...


class Recorder(Protocol):
    async def record(self, kind: str, **fields: object) -> None: ...


@dataclass(frozen=True, slots=True)
class Around:
    """What a server needs of the bot.

    `load` imports the SDK: it is called in a thread and may raise ImportError; what it returns opens
    connections. `publish` is told when a server's tools are others.
    """

    definitions: McpDefinitions
    audit: Recorder
    load: Callable[[], Connect]
    publish: Callable[[McpServer], None]
    mask: Callable[[str], str]
    clock: Callable[[], datetime]
    timing: Timing


class McpServer:
    """`offered` are its tools by their names here, known from the store before it is ever connected."""

    def __init__(self, spec: ServerSpec, around: Around) -> None:
        self.spec, self._around = spec, around
        self.offered: Mapping[str, Offered] = {}
        self._listing = Listing(())
        self._status = ServerStatus(spec.name, ServerState.NOT_STARTED)
        self._moved = asyncio.Event()
        self._stirred = asyncio.Event()
        self._connection: Connection | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._calls = 0
        self._judging = asyncio.Lock()
        self._ready_at: float | None = None
        self._has_listed = False

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def status(self) -> ServerStatus:
        return self._status

    async def start(self, records: Iterable[McpDefinitionRecord]) -> None:
        """Offer what is known of it, and connect in the background."""
        mine = tuple(each for each in records if each.server == self.name)
        self._offer(await asyncio.to_thread(judged, self.name, remembered(self.spec, mine), mine))
        self._move(ServerState.CONNECTING)
        self._task = asyncio.create_task(self._keep_up(), name=f"mcp {self.name}")

    def not_started(self, reason: str) -> None:
        self._move(ServerState.NOT_STARTED, reason)

    async def stop(self) -> None:
        """End the connection and, with it, its process; by force if it does not end in time."""
        if self._task is None:
            return
        self._is_stopping = True
        if self._connection is None:
            self._task.cancel()
        else:
            self._connection.end.come("the bot stops")
            self._stirred.set()
        await asyncio.wait({self._task}, timeout=self._around.timing.stop)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})
        self._task = None

    def problem(self) -> str:
        """Why no tool of it can be called at all; "" while it can, or may soon."""
        match self._status.state:
            case ServerState.NOT_STARTED:
                return f"the MCP server {self.name} is not started: {self._status.reason}"
            case ServerState.FAILED:
                return f"the MCP server {self.name} is not connected: {self._status.reason}"
            case _:
                return ""

    def is_current(self, definition: Definition) -> bool:
        return any(each.definition.digest == definition.digest for each in self.offered.values())

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raises McpFailed. Waits for a connection that is being made."""
        while (connection := self._connection) is None:
            if self.problem():
                raise McpFailed(self._status.reason)
            await self._moved.wait()
        self._calls += 1
        try:
            return await connection.call(tool, arguments)
        finally:
            self._calls -= 1

    async def approve(self, definition: Definition, ctx: ToolExecutionContext) -> None:
        """Pin what a person just approved a call of. Kept only if it is still what the server lists."""
        about = {"turn": ctx.trace_id, "requester": ctx.user_id}
        await self._pin(definition, f"a person, in a call of {ctx.user_id}", about)
        await self.read_pins()

    async def read_pins(self) -> None:
        """Somebody changed what is pinned."""
        async with self._judging:
            records = await self._around.definitions.list(self.name)
            definitions = [each.definition for each in self.offered.values()]
            self._offer(await asyncio.to_thread(judged, self.name, definitions, records))

    async def _keep_up(self) -> None:
        try:
            connect = await asyncio.to_thread(self._around.load)
        except ImportError as error:
            log.error("mcp_not_installed", server=self.name, error=str(error))
            self._move(ServerState.FAILED, f"the package mcp is missing. {install_extra('mcp')}")
            return
        failures, unanswered = 0, 0
        while not self._is_stopping:
            self._move(ServerState.CONNECTING)
            self._ready_at = None
            # A server that never answered may be one that stumbles over the newer beginning.
            mode: Mode = "legacy" if unanswered % 2 else "auto"
            why = await self._one_connection(connect, mode)
            if self._is_stopping:
                return
            unanswered = 0 if self._ready_at is not None else unanswered + 1
            failures = 1 if self._held() >= self._around.timing.stable else failures + 1
            await self._pause(failures, self._shown(why))

    async def _one_connection(self, connect: Connect, mode: Mode) -> str:
        """From its beginning to its end; why it ended."""
        timing = self._around.timing
        try:
            async with AsyncExitStack() as stack:
                opened = connect(self.spec, mode=mode, on_stir=self._stirred.set)
                try:
                    async with asyncio.timeout(timing.connect):
                        connection = await stack.enter_async_context(opened)
                except TimeoutError:
                    raise McpFailed(f"it did not answer within {timing.connect:g} s") from None
                await self._read_tools(connection)
                self._ready_at = time.monotonic()
                self._connection = connection
                self._move(ServerState.READY)
                log.info("mcp_ready", server=self.name, tools=self._status.tools)
                await self._stay(connection)
                return connection.end.why
        except Exception as error:  # noqa: BLE001 - the outer edge of a connection: any fault is its end
            return self._why(error)
        finally:
            self._connection = None

    async def _stay(self, connection: Connection) -> None:
        """Until it ends: read the list anew when it changed, and from time to time."""
        timing = self._around.timing
        while not connection.end.event.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(timing.look_again):
                    await self._stirred.wait()
            self._stirred.clear()
            if connection.end.event.is_set():
                return
            was_busy = self._calls > 0
            try:
                await self._read_tools(connection)
            except McpUnanswered:
                # One that works on a call may have no time for us; its end would be noticed all the same.
                if not (was_busy or self._calls):
                    raise
            with suppress(TimeoutError):
                async with asyncio.timeout(timing.calm):
                    await connection.end.event.wait()

    async def _read_tools(self, connection: Connection) -> None:
        try:
            async with asyncio.timeout(self._around.timing.list):
                entries = await connection.list_tools()
        except TimeoutError:
            raise McpUnanswered("it did not list its tools in time") from None
        found = await asyncio.to_thread(listing, self.spec, entries)
        if found.digests == self._listing.digests and self._ready_at is not None:
            return
        async with self._judging:
            await self._take(found)

    async def _take(self, found: Listing) -> None:
        definitions = self._around.definitions
        before = await definitions.list(self.name)
        seen = [SeenDefinition(each.name, each.digest, each.text) for each in found.definitions]
        await definitions.see(self.name, seen, self._around.clock())
        # A server that shows nothing at first gets nothing past anybody by showing it later.
        is_first = not (before or self._has_listed)
        offered = await asyncio.to_thread(judged, self.name, found.definitions, before, is_first=is_first)
        self._has_listed = True
        for each in offered.values():
            if each.standing.pins:
                await self._pin(each.definition, FIRST_CONNECTION, {})
        self._listing = found
        self._offer(offered)

    async def _pin(self, definition: Definition, by: str, about: Mapping[str, object]) -> None:
        pinned = await self._around.definitions.pin(
            self.name, definition.name, definition.digest, by, self._around.clock()
        )
        if pinned:
            await self._around.audit.record(
                "mcp_pinned",
                server=self.name,
                tool=definition.name,
                digest=definition.digest,
                by=by,
                **about,
            )

    def _offer(self, offered: Mapping[str, Offered]) -> None:
        self.offered = offered
        self._around.publish(self)
        tools = sum(not each.standing.withheld for each in offered.values())
        self._status = replace(self._status, tools=tools, notes=tuple(self._notes()))

    def _notes(self) -> Iterator[str]:
        yield from self._listing.left_out
        for each in self.offered.values():
            if each.standing.withheld:
                yield f"{each.name} is withheld: {self._shown(each.standing.withheld)}"
            elif each.standing.changed:
                yield f"{each.name} asks before its next call: {self._shown(each.standing.changed)}"

    async def _pause(self, failures: int, why: str) -> None:
        seconds = self._around.timing.pause(failures)
        log.warning("mcp_failed", server=self.name, why=why, next_try_seconds=seconds)
        next_try_at = self._around.clock() + timedelta(seconds=seconds)
        self._move(ServerState.FAILED, why, next_try_at)
        await asyncio.sleep(seconds)

    def _move(self, state: ServerState, reason: str = "", next_try_at: datetime | None = None) -> None:
        self._status = replace(self._status, state=state, reason=reason, next_try_at=next_try_at)
        self._moved.set()
        self._moved = asyncio.Event()

    def _held(self) -> float:
        return time.monotonic() - self._ready_at if self._ready_at is not None else 0.0

    def _why(self, error: Exception) -> str:
        from echo_bot.mcp.connection import sentence_of

        if not isinstance(error, EchoBotError):
            log.warning("mcp_connection_fault", server=self.name, exc_info=error)
        return sentence_of(error)

    def _shown(self, text: str) -> str:
        return escape_line(self._around.mask(text))
