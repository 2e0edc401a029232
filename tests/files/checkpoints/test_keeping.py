"""What is kept of files before writes: once each, privately, bounded in size and age."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot.errors import StorageError
from echo_bot.events import SessionKey, TurnId
from echo_bot.files.checkpoints import Blobs, CheckpointLimits, FileWrite, Keeper
from echo_bot.files.checkpoints.blobs import digest_of
from echo_bot.files.checkpoints.keeping import missing_folders, too_much
from echo_bot.storage.checkpoint_record import Checkpoint
from echo_bot.storage.store import SqlStore, open_store, sqlite_url

NOW = datetime(2026, 1, 10, tzinfo=UTC)
CHAT = SessionKey("telegram:1")


def keeper(store: SqlStore, folder: Path, *, unix: float = NOW.timestamp(), **limits: int) -> Keeper:
    return Keeper(store.checkpoints, Blobs(folder, lambda: unix), CheckpointLimits(**limits), lambda: NOW)


def kept(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def row(number: int, turn: str, content: str, *, size: int = 10, age_days: int = 0) -> Checkpoint:
    at = NOW - timedelta(days=age_days)
    return Checkpoint(CHAT, TurnId(turn), f"/w/{number}", content, "", at, size, id=number)


def test_a_content_is_kept_once_and_given_back_only_unchanged(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "kept")
    assert blobs.put(b"one") == blobs.put(b"one") == digest_of(b"one")
    [place] = kept(tmp_path)
    assert (place.stat().st_mode & 0o777, place.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert blobs.get(digest_of(b"one")) == b"one"
    assert blobs.get(digest_of(b"two")) is None
    place.write_bytes(b"two")
    assert blobs.get(digest_of(b"one")) is None


def test_a_sweep_leaves_what_is_wanted_and_what_has_just_come(tmp_path: Path) -> None:
    clock = [time.time()]
    blobs = Blobs(tmp_path, lambda: clock[0])
    wanted, left_over, reused = blobs.put(b"wanted"), blobs.put(b"left over"), blobs.put(b"reused")
    (tmp_path / wanted[:2] / ".half.tmp").write_bytes(b"half")
    clock[0] += 7200
    blobs.put(b"reused")
    assert blobs.sweep({wanted}) == 2
    assert {path.name for path in kept(tmp_path)} == {wanted, reused}
    assert blobs.get(left_over) is None


@pytest.mark.parametrize(
    ("rows", "room", "gone"),
    [
        pytest.param([row(2, "b", "y"), row(1, "a", "x")], 20, [], id="what fits stays"),
        pytest.param([row(2, "b", "y"), row(1, "a", "x")], 19, [1], id="the older turn goes first"),
        pytest.param([row(2, "b", "x"), row(1, "a", "x")], 10, [], id="the same content counts once"),
        pytest.param(
            [row(3, "b", "z"), row(2, "a", "y"), row(1, "a", "x")], 25, [2, 1], id="a turn goes whole"
        ),
        pytest.param([row(1, "a", "x", age_days=8)], 99, [1], id="what is too old goes"),
        pytest.param([row(1, "a", "", size=0)], 0, [], id="a file that was not there takes no room"),
    ],
)
def test_what_is_too_much(rows: list[Checkpoint], room: int, gone: list[int]) -> None:
    assert list(too_much(rows, NOW - timedelta(days=7), room)) == gone


def test_folders_that_a_write_will_make_are_named_outermost_first(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    path = str(tmp_path / "there" / "new" / "er" / "a.txt")
    assert missing_folders(path) == (str(tmp_path / "there" / "new"), str(tmp_path / "there" / "new" / "er"))
    assert missing_folders(str(tmp_path / "a.txt")) == ()


async def test_a_sweep_drops_rows_and_their_contents(tmp_path: Path) -> None:
    store = await open_store(sqlite_url(tmp_path / "echo-bot.db"))
    try:
        folder = tmp_path / "kept"
        keeping = keeper(store, folder, max_total_mb=1)
        big = [bytes([number]) * 600_000 for number in range(2)]
        for number, content in enumerate(big):
            await keeping.keep(CHAT, TurnId(f"t{number}"), [FileWrite(f"/w/{number}", content, b"")])
        [left] = await store.checkpoints.newest_first()
        assert left.before == digest_of(big[1])
        await keeper(store, folder, unix=4_000_000_000.0, max_total_mb=1).sweep()
        assert [path.name for path in kept(folder)] == [digest_of(big[1])]
        later = Keeper(store.checkpoints, Blobs(folder), CheckpointLimits(1), lambda: NOW + timedelta(days=2))
        assert await later.sweep() == 1
        assert await store.checkpoints.newest_first() == ()
    finally:
        await store.close()


async def test_what_is_not_changed_or_too_large_is_not_kept(tmp_path: Path) -> None:
    store = await open_store(sqlite_url(tmp_path / "echo-bot.db"))
    try:
        keeping = keeper(store, tmp_path / "kept", max_file_mb=1)
        found = await keeping.keep(
            CHAT,
            TurnId("t"),
            [
                FileWrite("/w/same", b"x", b"x"),
                FileWrite("/w/big", b"x" * (1024 * 1024 + 1), b""),
                FileWrite("/w/unread", None, b"", is_whole=False),
                FileWrite("/w/new", None, b"x"),
            ],
        )
        assert found.left_out == ("/w/big", "/w/unread")
        [made] = await store.checkpoints.newest_first()
        assert replace(made, id=0, made_folders=()) == Checkpoint(
            CHAT, TurnId("t"), "/w/new", "", digest_of(b"x"), NOW
        )
        await keeping.drop(found)
        assert await store.checkpoints.newest_first() == ()
    finally:
        await store.close()


async def test_a_folder_that_takes_nothing_is_an_error_of_storage(tmp_path: Path) -> None:
    store = await open_store(sqlite_url(tmp_path / "echo-bot.db"))
    try:
        (tmp_path / "kept").write_text("no folder")
        with pytest.raises(StorageError, match="does not take it"):
            await keeper(store, tmp_path / "kept").keep(CHAT, TurnId("t"), [FileWrite("/w/a", b"x", b"")])
        assert await store.checkpoints.newest_first() == ()
    finally:
        await store.close()
