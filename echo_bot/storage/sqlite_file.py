"""Whose file is it? Asked read-only and without SQLAlchemy, before anything is touched."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from echo_bot.errors import StorageError

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009")
"""The schema's revisions, oldest first; the last one is what `tables.py` describes."""

APPLICATION_ID = 0x4563_686F
"""Marks a SQLite file as ours ("Echo")."""

_SCHEMES = ("sqlite", "sqlite+aiosqlite")
_EXAMPLE = "write sqlite+aiosqlite:////path/to/echo-bot.db, or leave it empty"
_MAGIC = b"SQLite format 3\x00"
_OLDEST_SQLITE = (3, 35, 0)
_BUSY_SECONDS = 5.0


def database_path(url: str) -> Path:
    """The file that a `storage.url` names, absolute. Raises StorageError, which never repeats the URL."""
    scheme, found, rest = url.partition("://")
    if not found:
        raise StorageError(f"storage.url is not a URL; {_EXAMPLE}")
    if scheme not in _SCHEMES:
        raise StorageError(f"storage.url begins with {scheme}; this version stores in SQLite: {_EXAMPLE}")
    name = rest.removeprefix("/")
    if rest == name or name in ("", ":memory:"):
        raise StorageError(f"storage.url names no file; {_EXAMPLE}")
    return Path(name).absolute()


def sqlite_url(path: Path) -> str:
    """The inverse of `database_path`."""
    return f"sqlite+aiosqlite:///{path.absolute()}"


def prepare_file(path: Path) -> None:
    """See that `path` is ours, or new and can be made. Raises StorageError; a refused file stays as it is."""
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise StorageError(f"SQLite {sqlite3.sqlite_version} is too old; Echo Bot needs 3.35 or newer")
    _check_full_text_search()
    try:
        if path.exists() and path.stat().st_size > 0:
            check_ours(path)
            _check_writable(path)
            _make_private(path)
        else:
            _create_empty(path)
        _use_write_ahead_log(path)
    except OSError as error:
        raise StorageError(
            f"{path}: {error.strerror or error}. Make the folder writable, or set data_dir to another one"
        ) from error


def check_ours(path: Path) -> None:
    """Raises StorageError unless the file is a database of ours with a schema that is known here."""
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise StorageError(
                f"{path} is not a SQLite database, or it is damaged. It was left as it is: restore it from a "
                "backup, or move it away to start afresh"
            )
    with read_only(path) as connection:
        # One snapshot: another process may be creating the schema just now.
        connection.execute("BEGIN")
        mark = _number(connection, "PRAGMA application_id")
        tables = _number(connection, "SELECT count(*) FROM sqlite_master")
        revision = read_revision(connection)
    if mark != APPLICATION_ID and (tables or mark):
        raise StorageError(
            f"{path} is a SQLite database of another program. It was left as it is: set storage.url or "
            "data_dir to another place"
        )
    if revision is not None:
        refuse_unknown_revision(revision, str(path))


def refuse_unknown_revision(revision: str, where: str) -> None:
    """Raises StorageError for a schema from the future."""
    if revision not in REVISIONS:
        raise StorageError(
            f"{where} has schema {revision}; this version of Echo Bot knows {REVISIONS[-1]} at most. It was "
            "written by a newer one: update Echo Bot, or set data_dir to another folder"
        )


@contextlib.contextmanager
def read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write; what the database cannot do becomes a StorageError."""
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS, isolation_level=None
        )
        with contextlib.closing(connection):
            yield connection
    except sqlite3.OperationalError as error:
        raise StorageError(f"{path} cannot be read: {error}") from error
    except sqlite3.DatabaseError as error:
        raise StorageError(
            f"{path} is damaged ({error}). It was left as it is: restore it from a backup, or move it away "
            "to start afresh"
        ) from error


def read_revision(connection: sqlite3.Connection) -> str | None:
    """The schema's revision; None before the tables were made."""
    if not _number(connection, "SELECT count(*) FROM sqlite_master WHERE name = 'alembic_version'"):
        return None
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return None if row is None else str(row[0])


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


def _check_full_text_search() -> None:
    """Transcripts and documents are searched by FTS5, which hardly any build of SQLite lacks."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (text, tokenize='trigram')")
        except sqlite3.OperationalError as error:
            raise StorageError(
                f"the SQLite of this Python has no full-text search ({error}); use a Python "
                "whose SQLite has FTS5, such as those of python.org, Debian and uv"
            ) from error


def _check_writable(path: Path) -> None:
    for place in (path, path.parent):
        if not os.access(place, os.W_OK):
            raise StorageError(
                f"{place} is not writable. Change its permissions, or set data_dir to another folder"
            )


def _make_private(path: Path) -> None:
    """The file holds chats and approvals: nobody else reads it, nor the log files beside it."""
    for suffix in ("", "-wal", "-shm"):
        file = path.with_name(path.name + suffix)
        with contextlib.suppress(FileNotFoundError):
            if file.stat().st_mode & 0o077:
                file.chmod(0o600)


def _create_empty(path: Path) -> None:
    """SQLite gives the files it adds the mode of this one. A folder that was there keeps its mode."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    _check_writable(path)
    _make_private(path)


def _use_write_ahead_log(path: Path) -> None:
    """The file remembers the mode. Its change does not wait for other connections as statements do."""
    deadline = time.monotonic() + _BUSY_SECONDS
    with contextlib.closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise StorageError(
                        f"{path} cannot be opened for writing: {error}. Stop the program that holds it, or "
                        "try again"
                    ) from error
                time.sleep(0.01)
