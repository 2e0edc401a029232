"""The knowledge index: passages of documents in a SQLite file of its own, which can be made anew at any time.

Every method is one transaction over a connection of its own and blocks: call them in a thread. Several
processes may use the file at once. A damaged file is thrown away (`IndexLost`), since the documents hold all
that it held.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from echo_bot.errors import StorageError
from echo_bot.storage.fulltext import full_text_ddl, search
from echo_bot.text.terms import Terms

T = TypeVar("T")

_VERSION = 1
_BUSY_SECONDS = 10.0
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_SCHEMA = (
    "CREATE TABLE files (path TEXT PRIMARY KEY, digest TEXT NOT NULL)",
    "CREATE TABLE passages (id INTEGER PRIMARY KEY, path TEXT NOT NULL, first_line INTEGER NOT NULL, "
    "last_line INTEGER NOT NULL, text TEXT NOT NULL)",
    "CREATE INDEX ix_passages_path ON passages (path)",
    "CREATE TABLE roots (path TEXT PRIMARY KEY)",
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    *full_text_ddl("passages"),
    f"PRAGMA user_version = {_VERSION}",
)


class IndexLost(StorageError):
    """The file was damaged or of another version; it was removed, and the index is empty now."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a document, counted from 1; `path` is real and absolute."""

    path: str
    first_line: int
    last_line: int
    text: str


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A document as it is to be indexed. `digest` changes whenever its passages would."""

    path: str
    digest: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class IndexState:
    """`roots` were named by calls; `built_at` is an ISO time, "" before the first whole run."""

    files: int = 0
    passages: int = 0
    bytes: int = 0
    roots: tuple[str, ...] = ()
    built_at: str = ""


class KnowledgeIndex:
    """The index in the file `path`, which is made when first written, readable by its owner only."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        return self.path.exists()

    def state(self) -> IndexState:
        def work(connection: sqlite3.Connection) -> IndexState:
            counts = (connection.execute(f"SELECT count(*) FROM {table}") for table in ("files", "passages"))
            files, passages = (int(count.fetchone()[0]) for count in counts)
            roots = connection.execute("SELECT path FROM roots ORDER BY path")
            built = connection.execute("SELECT value FROM facts WHERE name = 'built_at'").fetchone()
            return IndexState(
                files,
                passages,
                self.path.stat().st_size,
                tuple(str(row[0]) for row in roots),
                str(built[0]) if built else "",
            )

        return self._read(work, IndexState())

    def digests(self) -> dict[str, str]:
        """Every indexed file with its digest."""
        return self._read(lambda c: dict(c.execute("SELECT path, digest FROM files")), {})

    def put(self, files: Sequence[IndexedFile]) -> None:
        """These files as they are now, in the place of what was known of them."""

        def work(connection: sqlite3.Connection) -> None:
            _forget(connection, [file.path for file in files])
            connection.executemany("INSERT INTO files VALUES (?, ?)", [(f.path, f.digest) for f in files])
            connection.executemany(
                "INSERT INTO passages (path, first_line, last_line, text) VALUES (?, ?, ?, ?)",
                [(p.path, p.first_line, p.last_line, p.text) for file in files for p in file.passages],
            )

        self._write(work)

    def remove(self, paths: Sequence[str]) -> None:
        self._write(lambda connection: _forget(connection, paths))

    def add_roots(self, paths: Iterable[str]) -> None:
        rows = [(path,) for path in paths]
        self._write(lambda c: c.executemany("INSERT OR IGNORE INTO roots VALUES (?)", rows))

    def note_built(self, at: str) -> None:
        self._write(lambda c: c.execute("INSERT OR REPLACE INTO facts VALUES ('built_at', ?)", (at,)))

    def search(self, terms: Terms, limit: int) -> tuple[Passage, ...]:
        """The passages that fit best, best first."""

        def work(connection: sqlite3.Connection) -> tuple[Passage, ...]:
            found = search(connection.execute, "passages", terms, limit)
            marks = ", ".join("?" for _ in found)
            query = f"SELECT id, path, first_line, last_line, text FROM passages WHERE id IN ({marks})"
            by_id = {row[0]: Passage(*row[1:]) for row in connection.execute(query, found)}
            return tuple(by_id[each] for each in found)

        return self._read(work, ())

    def _read(self, work: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        return self._do("BEGIN", work) if self.exists() else nothing

    def _write(self, work: Callable[[sqlite3.Connection], object]) -> None:
        self._do("BEGIN IMMEDIATE", work)

    def _do(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            with self._connected() as connection:
                connection.execute(begin)
                result = work(connection)
                connection.execute("COMMIT")
                return result
        except sqlite3.Error as error:
            if (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _DAMAGED:
                self._discard()
                raise IndexLost(
                    f"the knowledge index was damaged ({error}) and has to be made anew"
                ) from error
            raise StorageError(f"the knowledge index cannot be used: {error}") from error
        except OSError as error:
            raise StorageError(f"{self.path}: {error.strerror or error}") from error

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
        with contextlib.closing(connection):
            connection.execute("PRAGMA synchronous = NORMAL")
            if _version(connection) != _VERSION:
                self._make(connection)
            yield connection

    def _make(self, connection: sqlite3.Connection) -> None:
        """The schema, once: whoever comes second finds it made."""
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        version = _version(connection)
        if version not in (0, _VERSION):
            connection.execute("ROLLBACK")
            self._discard()
            raise IndexLost("the knowledge index is of another version and has to be made anew")
        if version == 0:
            for statement in _SCHEMA:
                connection.execute(statement)
        connection.execute("COMMIT")

    def _discard(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _forget(connection: sqlite3.Connection, paths: Sequence[str]) -> None:
    rows = [(path,) for path in paths]
    connection.executemany("DELETE FROM passages WHERE path = ?", rows)
    connection.executemany("DELETE FROM files WHERE path = ?", rows)
