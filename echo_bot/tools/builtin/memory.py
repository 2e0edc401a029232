"""memory: notes that outlast a conversation, for the memory scope of the call and for nobody else."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Protocol

from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.guards.memory import scan_memory
from echo_bot.storage.protocol import Memories
from echo_bot.storage.records import MemoryRecord
from echo_bot.text.terms import terms_of
from echo_bot.tools.base import ErrorKind, Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.sites import CallSite, CallSites

_WRITES = frozenset({"add", "replace", "remove"})
_DEFAULT_TARGET = "user"
_EVERYTHING = "*"
_TARGET = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_ID = re.compile(r"#?([0-9]{1,18})")
_MOST_FOUND = 50
_MOST_CANDIDATES = 8
_CANDIDATE_CHARS = 120


class Recorder(Protocol):
    async def record(self, kind: str, **fields: object) -> None: ...


@dataclass(frozen=True, slots=True)
class MemoryLimits:
    """`memory.*` of the configuration; entries are counted for each scope."""

    max_entries: int = 1000
    max_entry_chars: int = 2000


@dataclass(frozen=True, slots=True)
class _Call:
    """One call: in whose memory it works, and who asked where."""

    params: dict[str, Any]
    ctx: ToolExecutionContext
    site: CallSite

    @property
    def scope(self) -> str:
        return self.ctx.memory_scope

    @property
    def target(self) -> str:
        return self.text("target").lower()

    def text(self, name: str) -> str:
        return str(self.params.get(name) or "").strip()

    def wrote(self, entry: MemoryRecord) -> bool:
        """Was it this very call that wrote the entry, now or before it ran again?"""
        return (entry.turn_id, entry.call_key) == (self.site.turn_id, self.site.call_key)


class _Unusable(Exception):
    """The call cannot be done; says why."""

    def __init__(self, sentence: str, kind: ErrorKind = "validation") -> None:
        super().__init__(sentence)
        self.result = ToolResult(False, error=f"memory: {sentence}", error_kind=kind)


class MemoryTool(Tool):
    """Entries have a number, a target and a text. `mask` takes secrets out of what is kept."""

    name = "memory"
    description = (
        "Keep notes across conversations. Facts about people and their wishes have the target user (the "
        "default), those about machines and projects environment; others may be named. Actions: add "
        "(content); replace (id or query, content); remove (id or query); search (query); list (target). "
        "Keep facts short, one an entry; orders and secrets are not kept. remove with query * forgets all."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["memory"].parameters
    capabilities = ("memory.read", "memory.write")

    def __init__(
        self,
        memories: Memories,
        sites: CallSites,
        audit: Recorder,
        limits: MemoryLimits,
        *,
        mask: Callable[[str], str],
        clock: Callable[[], datetime],
    ) -> None:
        self._memories, self._sites, self._audit = memories, sites, audit
        self._limits, self._mask, self._clock = limits, mask, clock
        self._actions: dict[str, Callable[[_Call], Awaitable[ToolResult]]] = {
            "add": self._add,
            "replace": self._replace,
            "remove": self._remove,
            "search": self._search,
            "list": self._list,
        }

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        unknown = sorted(set(params) - set(self.parameters["properties"]))
        if unknown:
            return _Unusable(f"there is no parameter {unknown[0]!r}").result
        if ctx is None or not ctx.memory_scope:
            return _Unusable("this call belongs to nobody who has a memory", "business").result
        if ctx.is_replay and params["action"] in _WRITES:
            return ToolResult(True, output="This was done before; nothing was changed again.")
        call = _Call(params, ctx, self._sites.get(ctx.execution_id))
        try:
            return await self._actions[params["action"]](call)
        except _Unusable as error:
            return error.result

    async def _add(self, call: _Call) -> ToolResult:
        content, note = await self._content(call)
        now = self._clock()
        wanted = MemoryRecord(
            scope=call.scope,
            target=_target(call.target or _DEFAULT_TARGET),
            content=content,
            changed_at=now,
            changed_by=call.ctx.user_id,
            turn_id=call.site.turn_id,
            call_key=call.site.call_key,
            created_at=now,
            created_by=call.ctx.user_id,
        )
        kept = await self._memories.add(wanted, self._limits.max_entries)
        if kept is None:
            raise _Unusable(
                f"all {self._limits.max_entries:,} entries are in use (memory.max_entries); replace or "
                "remove one first",
                "business",
            )
        if not call.wrote(kept):
            return ToolResult(True, output=f"That was remembered before, as #{kept.id}.")
        await self._written(call, (kept.id,))
        return ToolResult(True, output=f"Remembered as #{kept.id}.{note}")

    async def _replace(self, call: _Call) -> ToolResult:
        content, note = await self._content(call)
        entries = await self._memories.list(call.scope)
        done = next((entry for entry in entries if call.wrote(entry)), None)
        entry = done or _the_one(entries, call)
        kept = await self._memories.replace(
            call.scope,
            entry.id,
            content,
            at=self._clock(),
            by=call.ctx.user_id,
            turn_id=call.site.turn_id,
            call_key=call.site.call_key,
        )
        if kept is None:
            raise _Unusable(f"#{entry.id} was removed meanwhile", "business")
        await self._written(call, (kept.id,))
        return ToolResult(True, output=f"#{kept.id} now reads: {kept.content}{note}")

    async def _remove(self, call: _Call) -> ToolResult:
        entries = await self._memories.list(call.scope)
        if call.text("query") == _EVERYTHING:
            gone = tuple(entry.id for entry in _of_target(entries, call.target))
        else:
            gone = (_the_one(entries, call).id,)
        count = await self._memories.remove(call.scope, gone)
        await self._written(call, gone)
        if len(gone) == 1 and count:
            return ToolResult(True, output=f"#{gone[0]} is forgotten.")
        return ToolResult(True, output=f"{count} entries are forgotten.")

    async def _search(self, call: _Call) -> ToolResult:
        query = call.text("query") or call.text("content")
        if not query:
            raise _Unusable("query is missing: what to look for")
        entries = _of_target(await self._memories.list(call.scope), call.target)
        found = _best(entries, query)[:_MOST_FOUND]
        return ToolResult(
            True, output="\n".join(map(memory_line, found)) or "Nothing like that is remembered."
        )

    async def _list(self, call: _Call) -> ToolResult:
        entries = _of_target(await self._memories.list(call.scope), call.target)
        return ToolResult(True, output="\n".join(map(memory_line, entries)) or "Nothing is remembered.")

    async def _content(self, call: _Call) -> tuple[str, str]:
        """What may be kept, and what to say about it."""
        written = call.text("content")
        if not written:
            raise _Unusable("content is missing: what to remember")
        if len(written) > self._limits.max_entry_chars:
            raise _Unusable(
                f"content has {len(written):,} characters; an entry holds {self._limits.max_entry_chars:,} "
                "(memory.max_entry_chars)"
            )
        findings = scan_memory(written, "content")
        if findings:
            kinds = [finding.kind for finding in findings]
            await self._audit.record("memory_rejected", **_who(call), findings=kinds)
            raise _Unusable(" ".join(finding.sentence for finding in findings), "denied")
        content = self._mask(written)
        return content, "" if content == written else " A secret in it was left out."

    async def _written(self, call: _Call, ids: Sequence[int]) -> None:
        await self._audit.record(
            "memory_written", **_who(call), action=call.params["action"], entries=list(ids)
        )


def memory_line(entry: MemoryRecord) -> str:
    """An entry as the model sees it: number, target, text, and who said so when."""
    text = entry.content.replace("\n", "\n    ")
    return f"#{entry.id} [{entry.target}] {text} ({entry.changed_at:%Y-%m-%d}, {entry.changed_by})"


def _who(call: _Call) -> dict[str, object]:
    site = call.site
    return {"turn": site.turn_id, "call": site.call_key, "sender": call.ctx.user_id, "scope": call.scope}


def _target(name: str) -> str:
    if not _TARGET.fullmatch(name):
        raise _Unusable(
            f"target {name[:40]!r} is no name: letters, digits, _ and -, such as user or environment"
        )
    return name


def _of_target(entries: Iterable[MemoryRecord], target: str) -> tuple[MemoryRecord, ...]:
    return tuple(entry for entry in entries if not target or entry.target == target)


def _the_one(entries: Sequence[MemoryRecord], call: _Call) -> MemoryRecord:
    """The entry that a call means, by number or by words that only it holds."""
    wanted = call.params.get("id")
    if wanted is not None:
        number = _ID.fullmatch(str(wanted).strip())
        found = [entry for entry in entries if number and entry.id == int(number[1])]
        if not found:
            raise _Unusable(f"there is no entry {str(wanted)[:40]!r}; list shows all", "business")
        return found[0]
    query = call.text("query") or (call.text("content") if call.params["action"] == "remove" else "")
    if not query:
        raise _Unusable("id or query is missing: which entry")
    mine = _of_target(entries, call.target)
    holding = [entry for entry in mine if query.lower() in entry.content.lower()]
    exact = [entry for entry in holding if entry.content.lower() == query.lower()]
    found = exact or holding or _best(mine, query)
    if not found:
        raise _Unusable("no entry fits; list shows all", "business")
    if len(found) > 1:
        which = "\n".join(memory_line(entry)[:_CANDIDATE_CHARS] for entry in found[:_MOST_CANDIDATES])
        raise _Unusable(f"{len(found)} entries fit; name one by id:\n{which}", "business")
    return found[0]


def _best(entries: Sequence[MemoryRecord], query: str) -> list[MemoryRecord]:
    """Those that hold a term of the query, most terms first, newer ones before older."""
    terms = terms_of(query)
    wanted = (*terms.words, *terms.pairs)
    scored = [(sum(term in entry.content.lower() for term in wanted), entry.id, entry) for entry in entries]
    return [entry for score, _, entry in sorted(scored, key=lambda item: (-item[0], -item[1])) if score]
