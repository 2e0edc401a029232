"""session_search: what was said in earlier conversations of the same person or group."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

from echo_bot.events import Identity
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.risk import RiskLevel
from echo_bot.storage.protocol import Sessions
from echo_bot.storage.records import TranscriptRow
from echo_bot.text.terms import Terms, excerpt, terms_of
from echo_bot.tools.base import ErrorKind, Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.sites import CallSites

_ROLES = {"user": "user", "assistant": "bot", "bot": "bot"}
_DEFAULT_RESULTS = 10
_MOST_RESULTS = 50
_EXCERPT_CHARS = 300


class SessionSearchTool(Tool):
    """`is_admin` says who may look beyond the memory scope of the call."""

    name = "session_search"
    description = (
        "Find what was said in earlier conversations. Best first, with chat, time and speaker. role: "
        "only the words of people (user) or your own (assistant). scope all: everybody's, for admins."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["session_search"].parameters
    capabilities = ("session.read",)
    risk_level = RiskLevel.READ_ONLY.value

    def __init__(
        self, sessions: Sessions, sites: CallSites, is_admin: Callable[[Identity], Awaitable[bool]]
    ) -> None:
        self._sessions, self._sites, self._is_admin = sessions, sites, is_admin

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        if ctx is None:
            return _failed("a search needs the call it belongs to", "internal")
        roles = _roles(str(params.get("role") or ""))
        if not roles:
            return _failed(f"role {params['role']!r} is not one of user, assistant", "validation")
        terms = terms_of(str(params["query"]))
        if not terms:
            return _failed("query holds no word to look for", "validation")
        is_wide = params.get("scope") == "all"
        if is_wide and not await self._may_widen(ctx):
            return _failed("only an admin who is there may search beyond their own conversations", "denied")
        if not is_wide and not ctx.memory_scope:
            return _failed("this call belongs to nobody who has conversations", "business")
        most = min(params.get("max_results") or _DEFAULT_RESULTS, _MOST_RESULTS)
        scope = None if is_wide else ctx.memory_scope
        found = await self._sessions.search(terms, most + 1, scope=scope, roles=roles)
        others = [row for row in found if not _is_asking(row, ctx)][:most]
        lines = "\n".join(_line(row, terms) for row in others)
        return ToolResult(
            True, output=lines or "Nothing like that was said.", metadata={"matches": len(others)}
        )

    async def _may_widen(self, ctx: ToolExecutionContext) -> bool:
        return not ctx.unattended and await self._is_admin(self._sites.get(ctx.execution_id).requester)


def _roles(wanted: str) -> tuple[str, ...]:
    if not wanted:
        return ("user", "bot")
    return (_ROLES[wanted],) if wanted in _ROLES else ()


def _is_asking(row: TranscriptRow, ctx: ToolExecutionContext) -> bool:
    """The message that asks holds its own words, and is no answer."""
    is_here = (row.address.channel, row.address.chat_id) == (ctx.channel, ctx.chat_id)
    return is_here and row.entry_id in (ctx.reply_to_id, ctx.inbound_event_id)


def _line(row: TranscriptRow, terms: Terms) -> str:
    who = row.sender if row.role == "user" else "assistant"
    return f"{row.at:%Y-%m-%d %H:%M} UTC, {row.address}, {who}: {excerpt(row.text, terms, _EXCERPT_CHARS)}"


def _failed(sentence: str, kind: ErrorKind) -> ToolResult:
    return ToolResult(False, error=f"session_search: {sentence}", error_kind=kind)
