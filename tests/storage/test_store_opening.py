from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from echo_bot.errors import StorageError
from echo_bot.storage import migrate
from echo_bot.storage.schema import bring_up_to_date
from echo_bot.storage.sqlite_file import APPLICATION_ID, REVISIONS
from echo_bot.storage.store import SqlStore, open_store, sqlite_url


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[SqlStore]:
    store = await open_store(sqlite_url(path))
    try:
        yield store
    finally:
        await store.close()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def schema_of(path: Path) -> dict[str, set[tuple[object, ...]]]:
    """Tables, their columns, indexes and keys, however they are spelt."""
    with sqlite3.connect(path) as connection:
        names = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        found: dict[str, set[tuple[object, ...]]] = {}
        for name in names:
            parts: set[tuple[object, ...]] = set()
            for pragma in ("table_info", "foreign_key_list"):
                parts.update((pragma, *row) for row in connection.execute(f"PRAGMA {pragma}('{name}')"))
            for _seq, index, unique, origin, partial in connection.execute(f"PRAGMA index_list('{name}')"):
                columns = [row[2] for row in connection.execute(f"PRAGMA index_info('{index}')")]
                parts.add((index, unique, origin, partial, *columns))
            found[name] = parts
    connection.close()
    return found


async def test_a_new_store_is_private_and_marked_as_ours(database: Path) -> None:
    async with opened(database) as store:
        await store.values.put("a", "b", "c")
        files = {path.name: mode(path) for path in database.parent.iterdir()}
        info = await store.info()
    assert mode(database.parent) == 0o700
    assert set(files.values()) == {0o600}
    assert "echo-bot.db-wal" in files
    assert info.revision == REVISIONS[-1]
    with sqlite3.connect(database) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


async def test_a_folder_that_was_there_keeps_its_mode_and_a_loose_file_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    path = tmp_path / "echo-bot.db"
    async with opened(path):
        pass
    path.chmod(0o644)
    async with opened(path):
        assert mode(path) == 0o600
    assert mode(tmp_path) == 0o755


async def test_what_was_stored_is_there_after_reopening(database: Path) -> None:
    async with opened(database) as store:
        await store.values.put("a", "b", "c")
    async with opened(database) as store:
        assert await store.values.get("a", "b") == "c"


async def test_two_that_create_the_store_at_once_both_succeed(database: Path) -> None:
    stores = await asyncio.gather(*(open_store(sqlite_url(database)) for _ in range(4)))
    for number, store in enumerate(stores):
        await store.values.put("a", str(number), "x")
    assert len(await stores[0].values.list("a")) == 4
    for store in stores:
        await store.close()


async def test_programs_that_create_the_store_at_once_all_succeed(database: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from echo_bot.storage.store import open_store\n"
        "async def main():\n"
        "    store = await open_store(sys.argv[1])\n"
        "    await store.close()\n"
        "asyncio.run(main())\n"
    )
    programs = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, sqlite_url(database), stderr=asyncio.subprocess.PIPE
        )
        for _ in range(6)
    ]
    for program in programs:
        _, complaint = await program.communicate()
        assert program.returncode == 0, complaint.decode()


def test_the_revisions_make_the_same_schema_as_the_tables(tmp_path: Path) -> None:
    for name, make in (("made.db", bring_up_to_date), ("migrated.db", migrate.upgrade)):
        engine = create_engine(f"sqlite:///{tmp_path / name}")
        with engine.begin() as connection:
            make(connection)
        engine.dispose()
    assert schema_of(tmp_path / "migrated.db") == schema_of(tmp_path / "made.db")


def test_the_known_revisions_are_the_migrations_in_their_order() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).parent / "migrations"))
    revisions = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert tuple(reversed(revisions)) == REVISIONS


def test_a_fresh_store_is_made_without_alembic(database: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "from echo_bot.storage.store import open_store\n"
        "async def main(url):\n"
        "    await (await open_store(url)).close()\n"
        "    await (await open_store(url)).close()\n"
        "asyncio.run(main(sys.argv[1]))\n"
        "assert 'alembic' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program, sqlite_url(database)], check=True, timeout=60)


def write_text(path: Path) -> None:
    path.write_text("a shopping list, longer than the sixteen bytes that SQLite begins with")


def write_foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title)")
    connection.close()


def write_newer(path: Path) -> None:
    asyncio.run(_make(path))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()


def write_damaged(path: Path) -> None:
    asyncio.run(_make(path))
    contents = bytearray(path.read_bytes())
    contents[100:4096] = os.urandom(3996)
    path.write_bytes(contents)


def write_cut(path: Path) -> None:
    asyncio.run(_make(path))
    path.write_bytes(path.read_bytes()[:700])


async def _make(path: Path) -> None:
    async with opened(path):
        pass


REFUSED = {
    "a file that is no database": (write_text, "not a SQLite database"),
    "the database of another program": (write_foreign, "of another program"),
    "the database of a newer version": (write_newer, "newer one: update"),
    "a damaged database": (write_damaged, "damaged"),
    "a database that was cut off": (write_cut, "damaged"),
}


@pytest.mark.parametrize(("write", "sentence"), REFUSED.values(), ids=REFUSED)
def test_left_alone_is(tmp_path: Path, write: object, sentence: str) -> None:
    path = tmp_path / "echo-bot.db"
    assert callable(write)
    write(path)
    path.chmod(0o640)
    before = path.read_bytes()

    with pytest.raises(StorageError, match=sentence) as refusal:
        asyncio.run(_make(path))

    assert str(path) in str(refusal.value)
    assert path.read_bytes() == before
    assert mode(path) == 0o640


async def test_a_folder_below_a_file_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(StorageError, match="data_dir"):
        await open_store(sqlite_url(tmp_path / "taken" / "echo-bot.db"))


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
async def test_an_unwritable_folder_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    with pytest.raises(StorageError, match=f"{folder}.*writable"):
        await open_store(sqlite_url(folder / "echo-bot.db"))


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("nonsense", "not a URL"),
        ("postgresql://bot:secret@host/db", "begins with postgresql; this version stores in SQLite"),
        ("sqlite+aiosqlite://", "names no file"),
        ("sqlite+aiosqlite:///", "names no file"),
        ("sqlite+aiosqlite:///:memory:", "names no file"),
        ("sqlite://secret", "names no file"),
    ],
)
def test_a_url_that_cannot_be_used_says_what_to_write(url: str, sentence: str) -> None:
    with pytest.raises(StorageError, match=sentence) as refusal:
        SqlStore(url)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("name", ["plain.db", "a b.db", "100%25?x=1#y.db", "büro.db"])
async def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    async with opened(tmp_path / name) as store:
        assert store.path == tmp_path / name
        assert (await store.info()).url == f"sqlite+aiosqlite:///{tmp_path / name}"
    assert (tmp_path / name).exists()
    async with opened(tmp_path / name):
        pass


def test_the_short_scheme_and_a_relative_path_are_understood(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert SqlStore("sqlite:///x.db").path == tmp_path / "x.db"
    assert SqlStore("sqlite:////x.db").path == Path("/x.db")
