"""Is the database file itself whole? A look for `doctor`, which writes nothing."""

from __future__ import annotations

from pathlib import Path

from echo_bot.storage.sqlite_file import check_ours, read_only

_MOST_PROBLEMS = 5


def check_pages(path: Path) -> tuple[str, ...]:
    """What SQLite's own quick check finds; empty when all is well. Raises StorageError for a foreign file."""
    check_ours(path)
    with read_only(path) as connection:
        rows = connection.execute(f"PRAGMA quick_check({_MOST_PROBLEMS})").fetchall()
    said = tuple(str(row[0]) for row in rows)
    return () if said == ("ok",) else said
