"""Web log-in links and cookies: only hashes, each link spent once."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, Table, delete, insert, select

from echo_bot.storage.database import Database
from echo_bot.storage.tables import login_cookies, login_links


class SqlLogins:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_link(self, link_hash: str, identity: str, expires_at: datetime) -> None:
        statement = insert(login_links).values(link_hash=link_hash, identity=identity, expires_at=expires_at)
        await self._database.change(statement)

    async def spend_link(self, link_hash: str, now: datetime) -> str | None:
        spend = (
            delete(login_links)
            .where(login_links.c.link_hash == link_hash)
            .where(login_links.c.expires_at > now)
            .returning(login_links.c.identity)
        )

        def work(connection: Connection) -> str | None:
            identity: str | None = connection.execute(spend).scalar_one_or_none()
            _drop_expired(connection, login_links, now)
            return identity

        return await self._database.write(work)

    async def link_is_open(self, link_hash: str, now: datetime) -> bool:
        statement = (
            select(login_links.c.identity)
            .where(login_links.c.link_hash == link_hash)
            .where(login_links.c.expires_at > now)
        )
        return await self._database.read(lambda connection: connection.execute(statement).first() is not None)

    async def add_cookie(self, cookie_hash: str, identity: str, expires_at: datetime) -> None:
        statement = insert(login_cookies).values(
            cookie_hash=cookie_hash, identity=identity, expires_at=expires_at
        )
        await self._database.change(statement)

    async def cookie(self, cookie_hash: str, now: datetime) -> tuple[str, datetime] | None:
        statement = (
            select(login_cookies.c.identity, login_cookies.c.expires_at)
            .where(login_cookies.c.cookie_hash == cookie_hash)
            .where(login_cookies.c.expires_at > now)
        )
        return await self._database.first(statement, lambda row: (row["identity"], row["expires_at"]))

    async def drop_cookie(self, cookie_hash: str) -> bool:
        statement = delete(login_cookies).where(login_cookies.c.cookie_hash == cookie_hash)
        return await self._database.change(statement) == 1


def _drop_expired(connection: Connection, table: Table, now: datetime) -> None:
    connection.execute(delete(table).where(table.c.expires_at <= now))
