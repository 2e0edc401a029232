"""Remembered approvals: one owner, one exact call, until they expire or are revoked."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Insert, and_, delete, insert, or_, select, update
from sqlalchemy.engine import RowMapping

from echo_bot.storage.columns import fields
from echo_bot.storage.database import Database
from echo_bot.storage.records import GrantRecord
from echo_bot.storage.tables import grants

_NAMES = (
    "grant_id",
    "owner",
    "digest",
    "tool",
    "summary",
    "scope",
    "created_at",
    "created_by",
    "session_key",
    "expires_at",
    "uses",
    "last_used_at",
)


class SqlGrants:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, grant: GrantRecord) -> None:
        await self._database.change(inserted(grant))

    async def match(self, owner: str, digest: str, session_key: str, now: datetime) -> GrantRecord | None:
        statement = (
            select(grants)
            .where(grants.c.owner == owner)
            .where(grants.c.digest == digest)
            .where(_holds_in(session_key))
            .where(_is_live(now))
            .order_by(grants.c.created_at, grants.c.grant_id)
            .limit(1)
        )
        return await self._database.first(statement, _grant)

    async def count_use(self, grant_id: str, now: datetime) -> None:
        statement = (
            update(grants)
            .where(grants.c.grant_id == grant_id)
            .values(uses=grants.c.uses + 1, last_used_at=now)
        )
        await self._database.change(statement)

    async def list(self, owner: str | None, now: datetime) -> tuple[GrantRecord, ...]:
        statement = select(grants).where(_is_live(now)).order_by(grants.c.created_at, grants.c.grant_id)
        if owner is not None:
            statement = statement.where(grants.c.owner == owner)
        return await self._database.rows(statement, _grant)

    async def revoke(self, grant_id: str) -> bool:
        statement = delete(grants).where(grants.c.grant_id == grant_id)
        return await self._database.change(statement) == 1

    async def end_session(self, session_key: str) -> int:
        statement = (
            delete(grants).where(grants.c.scope == "session").where(grants.c.session_key == session_key)
        )
        return await self._database.change(statement)


def inserted(grant: GrantRecord) -> Insert:
    """The statement that adds it."""
    return insert(grants).values({name: getattr(grant, name) for name in _NAMES})


def _is_live(now: datetime) -> ColumnElement[bool]:
    """Unexpired. An hour's grant without an end would be one for ever: it counts as expired."""
    endless = and_(grants.c.expires_at.is_(None), grants.c.scope != "1h")
    return or_(endless, grants.c.expires_at > now)


def _holds_in(session_key: str) -> ColumnElement[bool]:
    """A session grant needs its very session; the empty key is no session."""
    of_this_session = and_(
        grants.c.scope == "session", grants.c.session_key == session_key, grants.c.session_key != ""
    )
    return or_(grants.c.scope.in_(("1h", "always")), of_this_session)


def _grant(row: RowMapping) -> GrantRecord:
    plain: dict[str, Any] = fields(row, *_NAMES)
    return GrantRecord(**plain)
