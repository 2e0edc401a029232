"""The writer of one chain."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from echo_bot.audit.chain import ANCHOR, OPENED, PRUNED, Link, Seal, link_body
from echo_bot.errors import StorageError
from echo_bot.policy.call import JsonValue, canonical_json
from echo_bot.storage.protocol import AuditRows
from echo_bot.storage.records import AuditRow

_LINKED_WRITERS = 32


class Audit:
    """Appends rows for one process. `writer` is unique to it; `mask` hides secrets in every text.

    A row is written before `record` returns. Rows of one process are in the order of their calls.
    """

    def __init__(
        self,
        rows: AuditRows,
        writer: str,
        key: bytes | None,
        clock: Callable[[], datetime],
        *,
        mask: Callable[[str], str],
    ) -> None:
        self._rows, self._writer, self._clock, self._mask = rows, writer, clock, mask
        self._seal = Seal(key)
        self._lock = asyncio.Lock()
        self._last: AuditRow | None = None

    async def record(self, kind: str, **fields: object) -> None:
        """Append one row. Raises StorageError: then what it was to record must not happen."""
        body = canonical_json(self._plain(fields))
        async with self._lock:
            await self._append(kind, body)

    async def prune(self, before: datetime) -> int:
        """Drop rows older than `before`; returns how many. The anchors left are vouched for by a row."""
        async with self._lock:
            dropped = await self._rows.prune(before, ANCHOR)
            self._last = None
            anchors = await self._rows.of_kind(ANCHOR)
            if dropped:
                links = (Link(row.writer, row.seq, row.mac) for row in anchors)
                body = {"before": before.isoformat(), "dropped": dropped, "anchors": link_body(links)}
                await self._append(PRUNED, canonical_json(body))
        return dropped

    async def _append(self, kind: str, body_json: str) -> None:
        """A call that was cancelled may have written its row after all: then the end is read anew, once."""
        try:
            await self._append_after(await self._end(), kind, body_json)
        except StorageError:
            self._last = None
            await self._append_after(await self._end(), kind, body_json)

    async def _append_after(self, last: AuditRow, kind: str, body_json: str) -> None:
        row = AuditRow(self._writer, last.seq + 1, self._now(), kind, body_json, prev=last.mac, mac="")
        row = replace(row, mac=self._seal.mac(row))
        self._last = None
        await self._rows.append(row)
        self._last = row

    async def _end(self) -> AuditRow:
        """The chain's last row; the opening one is written when there is none."""
        if self._last is None:
            self._last = await self._rows.last(self._writer)
        if self._last is None:
            nothing = AuditRow(self._writer, 0, self._now(), "", "", prev="", mac="")
            heads = (await self._rows.heads())[-_LINKED_WRITERS:]
            links = link_body(Link(head.writer, head.seq, head.mac) for head in heads)
            await self._append_after(nothing, OPENED, canonical_json({"heads": links}))
        assert self._last is not None
        return self._last

    def _now(self) -> datetime:
        return self._clock().astimezone(UTC)

    def _plain(self, value: object) -> JsonValue:
        """JSON with every text masked, names too; what JSON does not know becomes its text."""
        match value:
            case None | bool() | int():
                return value
            case float():
                return value if value == value and abs(value) != float("inf") else str(value)
            case str():
                return self._mask(value)
            case Mapping():
                return {self._mask(str(name)): self._plain(item) for name, item in value.items()}
            case list() | tuple():
                return [self._plain(item) for item in value]
            case set() | frozenset():
                return [*sorted(self._mask(str(item)) for item in value)]
            case datetime():
                return value.isoformat()
            case _:
                return self._mask(str(value))
