"""Full-text search over transcripts: no query breaks it, and the index follows every change."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from echo_bot.events import Address
from echo_bot.storage.fulltext import full_text_ddl, search
from echo_bot.storage.records import TranscriptRow
from echo_bot.storage.store import SqlStore
from echo_bot.text.terms import terms_of

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
CHAT = Address("web", "1")
BOTH = ("user", "bot")

TEXTS = (
    "How to install the server on Debian",
    "Installing is quick; the servers restart by themselves",
    "数据库每天凌晨自动备份到远程存储",
    "先升级GPT模型再部署",
    "天气预报说明天下雨",
    "Kaffee kostet drei Franken – café au lait",
    "서울 날씨가 좋습니다",
)


@pytest.fixture
def connection() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:")
    made.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT)")
    for statement in full_text_ddl("texts"):
        made.execute(statement)
    made.executemany("INSERT INTO texts (text) VALUES (?)", [(text,) for text in TEXTS])
    return made


def found(connection: sqlite3.Connection, query: str, limit: int = 10) -> list[str]:
    ids = search(connection.execute, "texts", terms_of(query), limit)
    return [TEXTS[each - 1] for each in ids]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("installation server", 0),
        ("restarting servers", 1),
        ("CAFE", 5),
        ("数据库备份", 2),
        ("备份", 2),
        ("远程存储在哪里", 2),
        ("gpt", 3),
        ("雨", 4),
        ("明天天气", 4),
        ("날씨", 6),
    ],
)
def test_the_best_text_comes_first(connection: sqlite3.Connection, query: str, first: int) -> None:
    assert found(connection, query)[0] == TEXTS[first]


@pytest.mark.parametrize("query", ["whale", "鲸鱼", "x AND y NOT z"])
def test_what_nobody_wrote_is_not_found(connection: sqlite3.Connection, query: str) -> None:
    assert found(connection, query) == []


@given(query=st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_no_query_raises(query: str) -> None:
    made = sqlite3.connect(":memory:")
    made.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT)")
    for statement in full_text_ddl("texts"):
        made.execute(statement)
    made.execute("INSERT INTO texts (text) VALUES (?)", (query.encode("utf-8", "replace").decode(),))
    assert len(search(made.execute, "texts", terms_of(query), 5)) <= 1
    made.close()


def test_the_indexes_follow_changes_from_and_to_unspaced_text(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE texts SET text = 'plain words' WHERE id = 3")
    connection.execute("UPDATE texts SET text = '数据库' WHERE id = 1")
    connection.execute("DELETE FROM texts WHERE id = 5")
    ids = search(connection.execute, "texts", terms_of("数据库 天气预报"), 9)
    assert ids == (1,)
    for index in ("texts_words", "texts_grams"):
        connection.execute(f"INSERT INTO {index} ({index}) VALUES ('integrity-check')")


def said(entry: str, text: str, scope: str = "person:1", role: str = "user") -> TranscriptRow:
    return TranscriptRow(entry, CHAT, role, text, NOW, scope=scope)  # type: ignore[arg-type]


async def test_only_lines_of_the_scope_and_roles_are_found(store: SqlStore) -> None:
    await store.sessions.put_transcript(said("a", "walnut cake"))
    await store.sessions.put_transcript(said("b", "walnut pie", "person:2"))
    await store.sessions.put_transcript(said("c", "walnut bread", role="bot"))
    await store.sessions.put_transcript(said("d", "walnut card", role="card"))

    async def entries(scope: str | None, roles: tuple[str, ...] = BOTH) -> set[str]:
        rows = await store.sessions.search(terms_of("walnuts"), 9, scope=scope, roles=roles)
        return {row.entry_id for row in rows}

    assert await entries("person:1") == {"a", "c"}
    assert await entries("person:1", ("user",)) == {"a"}
    assert await entries(None) == {"a", "b", "c"}
    assert await entries("") == set()


async def test_a_line_is_found_as_it_stands_and_not_once_it_is_forgotten(store: SqlStore) -> None:
    await store.sessions.put_transcript(said("a", "walnut cake"))
    await store.sessions.put_transcript(said("a", "hazelnut cake"))

    async def count(query: str) -> int:
        return len(await store.sessions.search(terms_of(query), 9, scope="person:1", roles=BOTH))

    assert (await count("walnut"), await count("hazelnut")) == (0, 1)
    await store.retention.forget_before(NOW + timedelta(days=1))
    assert await count("hazelnut") == 0


def test_every_trigger_is_there_whether_made_or_migrated(tmp_path: Path) -> None:
    from sqlalchemy import create_engine

    from echo_bot.storage import migrate
    from echo_bot.storage.schema import bring_up_to_date

    triggers = []
    for name, make in (("made.db", bring_up_to_date), ("migrated.db", migrate.upgrade)):
        engine = create_engine(f"sqlite:///{tmp_path / name}")
        with engine.begin() as connection:
            make(connection)
        engine.dispose()
        with sqlite3.connect(tmp_path / name) as plain:
            rows = plain.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
            triggers.append(rows.fetchall())
        plain.close()
    assert triggers[0] == triggers[1]
    assert len(triggers[0]) == 6
