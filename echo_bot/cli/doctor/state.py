"""The state folder and what is in it: modes, room, the database, the audit."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from pathlib import Path

from echo_bot.audit import Report, check_stored
from echo_bot.called import command
from echo_bot.cli.doctor.finding import Finding, Severity
from echo_bot.cli.doctor.scene import Scene
from echo_bot.cli.state import Place, is_empty
from echo_bot.config.places import data_dir
from echo_bot.credentials import take_key
from echo_bot.errors import StartError, StorageError
from echo_bot.storage.health import check_pages
from echo_bot.storage.sqlite_file import REVISIONS

FILES = "files"
DATABASE = "database"
AUDIT = "audit"
_MOST_FILES = 20_000
_LEAST_MB = 100
_MB = 1024 * 1024
_SKEW = timedelta(minutes=5)


def of_files(place: Place) -> Iterator[Finding]:
    """Who may read the state, and how much room is left for it."""
    folder = data_dir(place.loaded.config)
    yield from _room(folder, place)
    if not folder.exists():
        yield Finding(FILES, Severity.OK, f"{folder} is not there yet: the first start makes it")
        return
    if not os.access(folder, os.W_OK):
        fix = f"chown it to the bot's user, or set data_dir to another folder (now {folder})"
        yield Finding(FILES, Severity.BROKEN, f"{folder} is not writable for this user", fix)
        return
    exposed = [path for path in islice(_state_files(folder), _MOST_FILES) if _is_exposed(path)]
    if exposed:
        more = f" and {len(exposed) - 1} more" if len(exposed) > 1 else ""
        what = f"others may read or change {exposed[0]}{more}: chats and approvals are in there"
        yield Finding(FILES, Severity.WEAK, what, f"chmod -R go= {folder}")
    else:
        yield Finding(FILES, Severity.OK, f"{folder} is readable by its owner alone")


async def of_database(scene: Scene) -> list[Finding]:
    """Its pages, its schema, and the chains of the audit. Nothing is written."""
    place = scene.place
    if is_empty(place):
        return [
            Finding(DATABASE, Severity.OK, f"{place.database} is not there yet: the first start makes it")
        ]
    try:
        problems = check_pages(place.database)
    except StorageError as error:
        return [Finding(DATABASE, Severity.BROKEN, str(error))]
    if problems:
        fix = "stop the bot, keep a copy of the file, and restore the last backup"
        return [Finding(DATABASE, Severity.BROKEN, f"{place.database} is damaged: {problems[0]}", fix)]
    revision = scene.sight.seen.revision
    if revision != REVISIONS[-1]:
        what = f"the schema is {revision or 'empty'}; the next start brings it to {REVISIONS[-1]}"
        return [Finding(DATABASE, Severity.NOTE, what)]
    size = place.database.stat().st_size / _MB
    sound = Finding(DATABASE, Severity.OK, f"{place.database} is sound ({size:.1f} MiB, schema {revision})")
    return [sound, *await _of_audit(scene)]


async def _of_audit(scene: Scene) -> list[Finding]:
    try:
        key = take_key(dict(scene.environ), scene.config.credentials.encryption_key_env)
    except StartError:
        key = None
    async with scene.store() as (store, _):
        try:
            report = await check_stored(store.audit, key.raw if key else None)
            newest = await store.audit.tail(1)
        except StorageError as error:
            return [Finding(AUDIT, Severity.BROKEN, str(error))]
    found = [_chains(report)]
    if newest and newest[0].at > scene.now + _SKEW:
        what = f"the newest row of the audit is of {newest[0].at:%Y-%m-%d %H:%M} UTC, later than it is now"
        fix = "the clock was ahead or is behind: let the system keep it (timedatectl set-ntp true)"
        found.append(Finding("clock", Severity.WEAK, what, fix))
    return found


def _chains(report: Report) -> Finding:
    counted = f"rows: {report.rows}, chains: {report.chains}"
    if report.is_sound:
        return Finding(AUDIT, Severity.OK, f"nothing was changed ({counted})")
    first = next(each for each in report.problems if each.breaks)
    fix = f"{command('audit verify')} shows all; somebody changed the database, or it was copied in parts"
    return Finding(AUDIT, Severity.BROKEN, f"something was changed ({counted}): {first}", fix)


def _room(folder: Path, place: Place) -> Iterator[Finding]:
    there = next(each for each in (folder, *folder.parents) if each.exists())
    free = shutil.disk_usage(there).free // _MB
    wanted = place.loaded.config.spill.max_total_mb + _LEAST_MB
    fix = "make room, set data_dir to another disk, or keep less (spill.max_total_mb, retention.history_days)"
    if free < _LEAST_MB:
        yield Finding(FILES, Severity.BROKEN, f"only {free} MiB are free for {folder}", fix)
    elif free < wanted:
        what = f"{free} MiB are free for {folder}, and long results alone may take {wanted - _LEAST_MB}"
        yield Finding(FILES, Severity.WEAK, what, fix)


def _state_files(folder: Path) -> Iterator[Path]:
    yield folder
    for base, _, names in os.walk(folder):
        yield from (Path(base, name) for name in names)


def _is_exposed(path: Path) -> bool:
    """May others open it? A file in a private folder may not be, but a copy of it would be."""
    try:
        return bool(path.lstat().st_mode & 0o077) and not path.is_symlink()
    except OSError:
        return False
