"""One step back for each file: whole, and never over what somebody else wrote."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.events import SessionKey, TurnId
from echo_bot.files import FileDoor, real_rules
from echo_bot.files.checkpoints import FileUndo, Outcome, carry_out, undos_of
from echo_bot.files.checkpoints.blobs import digest_of
from echo_bot.policy.guards.paths import PathRules
from echo_bot.storage.checkpoint_record import Checkpoint

NOW = datetime(2026, 1, 2, tzinfo=UTC)

content = st.one_of(st.none(), st.sampled_from([b"", b"one", b"two", b"three"]))


def door_of(folder: Path, *, restricted: bool = False, strict: bool = False) -> FileDoor:
    rules = PathRules(workspace=str(folder), restrict_to_workspace=restricted, unattended=strict)
    return FileDoor(real_rules(rules))


def written(path: Path, before: bytes | None, after: bytes | None) -> Checkpoint:
    return Checkpoint(
        SessionKey("s"), TurnId("t"), str(path), digest_of(before), digest_of(after), NOW, mode=0o640
    )


def put(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(data)


def read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


@given(st.lists(st.tuples(content, st.booleans()), min_size=1, max_size=6), content, content)
def test_a_file_goes_back_to_the_first_state_or_stays_exactly_as_it_is(
    writes: list[tuple[bytes | None, bool]], first: bytes | None, meddled: bytes | None
) -> None:
    """Each write may be followed by a change of somebody else's: then nothing of theirs may be lost."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name).resolve() / "a.txt"
        rows, states, now = [], {digest_of(first): first}, first
        theirs = False
        for after, is_meddled in writes:
            rows.append(written(path, now, after))
            now = meddled if is_meddled else after
            theirs = theirs or (is_meddled and meddled != after)
            states[digest_of(now)] = now
        put(path, now)
        [undo] = undos_of(rows)
        done = carry_out(undo, door_of(path.parent), states.get)
        if done.outcome is Outcome.LEFT:
            assert theirs
            assert read(path) == now
        else:
            assert read(path) == first


def test_a_dry_run_says_the_same_and_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    kept = {digest_of(b"old"): b"old"}
    cases = {"put": (b"old", b"new"), "made": (None, b"new"), "gone": (b"old", None)}
    for name, (before, after) in cases.items():
        path = folder / name
        put(path, after)
        [undo] = undos_of([written(path, before, after)])
        dry = carry_out(undo, door_of(folder), kept.get, dry=True)
        assert read(path) == after
        assert carry_out(undo, door_of(folder), kept.get) == dry
        assert read(path) == before
    assert (folder / "gone").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["../outside.txt", ".env", ".git/hooks/pre-commit"])
def test_the_rules_of_the_door_hold(tmp_path: Path, name: str) -> None:
    workspace = tmp_path.resolve() / "w"
    workspace.mkdir()
    path = (workspace / name).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"new")
    [undo] = undos_of([written(path, b"old", b"new")])
    done = carry_out(undo, door_of(workspace, restricted=True, strict=True), lambda _: b"old")
    assert (done.outcome, bool(done.why)) == (Outcome.LEFT, True)
    assert path.read_bytes() == b"new"


def test_a_content_that_is_gone_leaves_the_file_alone(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "a.txt"
    path.write_bytes(b"new")
    done = carry_out(
        FileUndo(str(path), "0" * 64, digest_of(b"new"), 0), door_of(path.parent), lambda _: None
    )
    assert (done.outcome, path.read_bytes()) == (Outcome.LEFT, b"new")


def test_a_file_larger_than_the_bound_of_an_approvals_identity_goes_back_too(tmp_path: Path) -> None:
    path, big = tmp_path.resolve() / "a.txt", b"x" * (11 * 1024 * 1024)
    path.write_bytes(big)
    [undo] = undos_of([written(path, b"old", big)])
    assert carry_out(undo, door_of(path.parent), lambda _: b"old").outcome is Outcome.RESTORED
    assert path.read_bytes() == b"old"
