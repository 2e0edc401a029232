from __future__ import annotations

import os
from pathlib import Path

from echo_bot.app.outgoing import KEEP_COPIES_SECONDS, OutgoingFiles
from echo_bot.files import FileDoor, real_rules
from echo_bot.policy.guards.paths import PathRules


def outgoing(folder: Path, now: float) -> OutgoingFiles:
    rules = PathRules(workspace=str(folder / "workspace"), restrict_to_workspace=True, home=str(folder))
    return OutgoingFiles(
        lambda site: FileDoor(real_rules(rules)), str(folder / "workspace"), folder / "outgoing", lambda: now
    )


def copy_of(folder: Path, name: str, age: float, now: float) -> Path:
    copy = folder / "outgoing" / name / "content"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"x")
    os.utime(copy, (now - age, now - age))
    return copy


def test_copies_older_than_a_day_are_dropped(tmp_path: Path) -> None:
    now = 1_700_000_000.0
    old = copy_of(tmp_path, "a", KEEP_COPIES_SECONDS + 1, now)
    fresh = copy_of(tmp_path, "b", KEEP_COPIES_SECONDS - 1, now)
    assert outgoing(tmp_path, now).sweep() == 1
    assert (old.parent.exists(), fresh.exists()) == (False, True)


def test_where_nothing_was_sent_nothing_is_swept_or_made(tmp_path: Path) -> None:
    assert outgoing(tmp_path, 0).sweep() == 0
    assert not (tmp_path / "outgoing").exists()
