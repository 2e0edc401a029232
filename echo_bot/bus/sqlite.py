"""The Bus over the store's SQLite file: a polled table of signals, a table of leases.

The tables belong to the store's schema, so the store is opened first. Every statement commits by itself: a
caller that is cancelled leaves no transaction open.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiosqlite

from echo_bot.bus.protocol import Lease, Signal
from echo_bot.bus.subscribers import QueuedSubscription, Subscribers
from echo_bot.errors import StorageError

_log = logging.getLogger(__name__)

_KEEP = timedelta(minutes=10)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TAKE = """
INSERT INTO leases (name, holder, token, expires_at) VALUES (:name, :holder, 1, :until)
ON CONFLICT (name) DO UPDATE
   SET holder = excluded.holder, token = leases.token + 1, expires_at = excluded.expires_at
   WHERE leases.expires_at <= :now
RETURNING token
"""
_RENEW = """
UPDATE leases SET expires_at = :until WHERE name = :name AND token = :token AND expires_at > 0 RETURNING token
"""
_RELEASE = """
UPDATE leases SET expires_at = 0 WHERE name = :name AND token = :token AND expires_at > 0 RETURNING token
"""


class SqliteBus:
    """`poll_seconds` bounds how long another process's signal takes to be heard."""

    def __init__(self, path: Path, clock: Callable[[], datetime], *, poll_seconds: float = 0.3) -> None:
        self._path = path
        self._clock = clock
        self._poll_seconds = poll_seconds
        self._name = secrets.token_hex(8)
        self._subscribers = Subscribers()
        self._connection: aiosqlite.Connection | None = None
        self._poller: asyncio.Task[None] | None = None
        self._heard = 0

    async def open(self) -> None:
        uri = f"{self._path.resolve().as_uri()}?mode=rw"
        try:
            self._connection = await aiosqlite.connect(uri, uri=True, isolation_level=None, timeout=5)
            self._heard = int((await self._run("SELECT coalesce(max(id), 0) FROM signals"))[0][0])
        except (aiosqlite.Error, StorageError) as error:
            await self.close()
            raise StorageError(f"{self._path}: no signals here ({error}). Open the store first") from error

    async def close(self) -> None:
        self._subscribers.close()
        if self._poller is not None:
            self._poller.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._poller
            self._poller = None
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()

    async def notify(self, topic: str, payload: str = "") -> None:
        self._subscribers.tell(Signal(topic, payload))
        now = self._clock()
        await self._run(
            "INSERT INTO signals (topic, payload, sender, at) VALUES (?, ?, ?, ?)",
            (topic, payload, self._name, _micros(now)),
        )
        await self._run("DELETE FROM signals WHERE at < ?", (_micros(now - _KEEP),))

    def subscribe(self, *topics: str) -> QueuedSubscription:
        if self._poller is None:
            self._poller = asyncio.create_task(self._poll(), name="bus-poll")
        return self._subscribers.add(frozenset(topics))

    async def lease(self, name: str, holder: str, seconds: float) -> int | None:
        now = self._clock()
        until = now + timedelta(seconds=seconds)
        rows = await self._run(
            _TAKE, {"name": name, "holder": holder, "now": _micros(now), "until": _micros(until)}
        )
        return int(rows[0][0]) if rows else None

    async def renew(self, name: str, token: int, seconds: float) -> bool:
        until = self._clock() + timedelta(seconds=seconds)
        return bool(await self._run(_RENEW, {"name": name, "token": token, "until": _micros(until)}))

    async def release(self, name: str, token: int) -> bool:
        return bool(await self._run(_RELEASE, {"name": name, "token": token}))

    async def holder(self, name: str) -> Lease | None:
        rows = await self._run(
            "SELECT holder, token, expires_at FROM leases WHERE name = ? AND expires_at > ?",
            (name, _micros(self._clock())),
        )
        if not rows:
            return None
        holder, token, until = rows[0]
        return Lease(name, holder, token, _EPOCH + timedelta(microseconds=until))

    async def _poll(self) -> None:
        """Hear the other processes. A database that is busy or gone for a while is asked again."""
        while True:
            await asyncio.sleep(self._poll_seconds)
            try:
                await self._hear()
            except StorageError as error:
                _log.warning("bus_poll_failed", extra={"error": str(error)})

    async def _hear(self) -> None:
        rows = await self._run(
            "SELECT id, topic, payload, sender FROM signals WHERE id > ? ORDER BY id", (self._heard,)
        )
        for row_id, topic, payload, sender in rows:
            self._heard = row_id
            if sender != self._name:
                self._subscribers.tell(Signal(topic, payload))

    async def _run(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[Any]:
        if self._connection is None:
            raise StorageError("the bus is not open")
        try:
            return list(await self._connection.execute_fetchall(sql, parameters))
        except (aiosqlite.Error, ValueError) as error:
            raise StorageError(f"the database refused: {error}") from error


def _micros(at: datetime) -> int:
    """Whole microseconds since 1970, as the store keeps times."""
    return (at - _EPOCH) // timedelta(microseconds=1)
