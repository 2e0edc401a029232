"""One connection to a server: agreed on a protocol, its tools listed, its tools called.

What a server asks of us in turn (a model's answer, a person's, the folders here) is refused by the SDK's own
defaults: no capability for it is announced and nothing is behind it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import mcp_types as types
import structlog
from mcp.client import Client, IncomingMessage
from mcp.client._transport import TransportStreams, WriteStream
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED
from pydantic import TypeAdapter, ValidationError

from echo_bot import __version__
from echo_bot.errors import EchoBotError
from echo_bot.mcp.failing import McpEnded, McpFailed
from echo_bot.mcp.http import http_streams
from echo_bot.mcp.offered import MOST_TOOLS
from echo_bot.mcp.spec import ServerSpec
from echo_bot.mcp.stdio import stdio_streams
from echo_bot.mcp.traffic import Budget, End, WatchedStream
from echo_bot.net import GuardedTransport

log = structlog.get_logger(__name__)

Mode = Literal["auto", "legacy"]
_MOST_PAGES = 20
_RESULT: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)


class Connection:
    """`end` says when it is over, and why. All methods raise McpFailed, of which McpEnded is one."""

    def __init__(self, session: ClientSession, end: End) -> None:
        self._session, self.end = session, end

    async def list_tools(self) -> list[dict[str, Any]]:
        """The entries as on the wire; of very many the first."""
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            params = types.PaginatedRequestParams(cursor=cursor) if cursor else None
            try:
                page = await self._session.list_tools(params=params)
            except MCPError as error:
                raise self._failure(error) from error
            except ValidationError as error:
                raise McpFailed(f"its list of tools is malformed ({_place(error)})") from error
            found += [
                {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
                for tool in page.tools
            ]
            cursor = page.next_cursor
            if not cursor or len(found) > MOST_TOOLS:
                break
        return found

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result as on the wire. A cancelled call is cancelled there too."""
        request = types.CallToolRequest(
            params=types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        )
        try:
            result = await self._session.send_request(request, _RESULT)
        except MCPError as error:
            raise self._failure(error) from error
        except ValidationError as error:
            raise McpFailed(f"its answer is malformed ({_place(error)})") from error
        if isinstance(result, types.InputRequiredResult):
            raise McpFailed("it asked for an answer of a person or a model, which servers do not get here")
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    def _failure(self, error: MCPError) -> McpFailed:
        if error.code == CONNECTION_CLOSED or self.end.event.is_set():
            return McpEnded(self.end.why or "it closed the connection")
        return McpFailed(error.error.message or f"it answers with error {error.code}")


@asynccontextmanager
async def connected(
    spec: ServerSpec,
    *,
    environment: Mapping[str, str],
    folder: Path,
    guarded: Callable[[str], GuardedTransport],
    mask: Callable[[str], str],
    mode: Mode,
    on_stir: Callable[[], None],
) -> AsyncIterator[Connection]:
    """Start or reach the server and agree with it. `guarded` makes the way to an endpoint.

    A program runs in a folder of its own below `folder`.

    `on_stir` is called when its tools changed and when the connection ends.
    Raises StartError and McpFailed.
    """
    end = End(on_stir)
    budget = Budget()
    if spec.url:
        streams = http_streams(
            spec.url, spec.headers, guarded(spec.url), end, call_seconds=float(spec.timeout_seconds)
        )
    else:
        # Not the workspace: what stands there, by the model's hand, would be looked into by many programs.
        cwd = folder / spec.name
        cwd.mkdir(mode=0o700, parents=True, exist_ok=True)
        streams = stdio_streams(spec, environment, str(cwd), end, budget, mask)

    async def heard(message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            on_stir()

    client = Client(
        _Watched(streams, end, budget),
        mode=mode,
        cache=None,
        message_handler=heard,
        client_info=types.Implementation(name="echo-bot", version=__version__),
    )
    try:
        async with client:
            listener = asyncio.create_task(_listen(client), name=f"mcp {spec.name} changes")
            try:
                yield Connection(client.session, end)
            finally:
                listener.cancel()
                await asyncio.wait({listener})
    except (MCPError, ExceptionGroup) as error:
        first = first_of(error)
        raise McpFailed(
            str(first) if isinstance(first, McpFailed) else end.why or sentence_of(first)
        ) from error


async def _listen(client: Client) -> None:
    """Newer servers tell of changes only to those who asked for it; the handler hears them then."""
    capabilities = client.server_capabilities
    if client.session.discover_result is None or not (capabilities.tools and capabilities.tools.list_changed):
        return
    try:
        async with client.listen(tools_list_changed=True) as changes:
            async for _ in changes:
                pass
    except (MCPError, RuntimeError, TimeoutError) as error:
        log.info("mcp_changes_unheard", error=type(error).__name__)


class _Watched(AbstractAsyncContextManager[TransportStreams]):
    """The transport with its read stream watched."""

    def __init__(
        self, inner: AbstractAsyncContextManager[TransportStreams], end: End, budget: Budget
    ) -> None:
        self._inner, self._end, self._budget = inner, end, budget

    async def __aenter__(self) -> tuple[WatchedStream, WriteStream[SessionMessage]]:
        read, write = await self._inner.__aenter__()
        return WatchedStream(read, self._end, self._budget), write

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)


def _place(error: ValidationError) -> str:
    """Where the first fault is; what stands there is the server's and not repeated."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:200]


def first_of(error: BaseException) -> BaseException:
    """Of a group the first error that is none."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def sentence_of(error: BaseException) -> str:
    """What failed, in a line: ours as they are, others with their kind."""
    error = first_of(error)
    if isinstance(error, MCPError):
        return error.error.message
    if isinstance(error, EchoBotError):
        return str(error)
    return f"{type(error).__name__}: {error}".removesuffix(": ")
