"""The door opens what was judged, whatever happens in between."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from echo_bot.files import Admitted, FileContent, FileDoor, FileRefusal, Listing, Opener, Written, best_opener
from echo_bot.files.opening import KernelOpener, WalkingOpener
from echo_bot.policy.guards.paths import Operation, PathRules

SECRET = b"outside"


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    root = tmp_path.resolve()
    (root / "ws/d").mkdir(parents=True)
    (root / "out").mkdir()
    (root / "ws/d/f.txt").write_text("inside")
    (root / "out/f.txt").write_bytes(SECRET)
    return root


@pytest.fixture(name="opener", params=["kernel", "walking"])
def _opener(request: pytest.FixtureRequest) -> Opener:
    if request.param == "walking":
        return WalkingOpener()
    if not isinstance(best_opener(), KernelOpener):
        pytest.skip("openat2 does not work here")
    return KernelOpener()


@pytest.fixture(name="door")
def _door(root: Path, opener: Opener) -> FileDoor:
    return FileDoor(PathRules(workspace=str(root / "ws"), restrict_to_workspace=True, home="/nobody"), opener)


def admit(door: FileDoor, path: str, operation: Operation) -> Admitted:
    admitted = door.admit(path, door.rules.workspace, operation)
    assert isinstance(admitted, Admitted)
    return admitted


def kind_of(result: object) -> str:
    return result.kind if isinstance(result, FileRefusal) else "done"


def test_it_reads_lists_and_writes_inside(door: FileDoor, root: Path) -> None:
    ws = door.rules.workspace
    content = door.read_bytes("d/f.txt", ws)
    assert isinstance(content, FileContent)
    assert content.data == b"inside"
    written = door.write_bytes("new/deep/x.txt", ws, b"x")
    assert isinstance(written, Written)
    assert written.made_folders == (f"{ws}/new", f"{ws}/new/deep")
    assert (root / "ws/new/deep/x.txt").read_bytes() == b"x"
    listing = door.list_folder(".", ws)
    assert isinstance(listing, Listing)
    assert [entry.name for entry in listing.entries] == ["d", "new"]


def test_no_temporary_file_stays(door: FileDoor, root: Path) -> None:
    door.write_bytes("d/f.txt", door.rules.workspace, b"x")
    assert os.listdir(root / "ws/d") == ["f.txt"]


def test_a_write_keeps_the_mode_without_the_set_id_bits(door: FileDoor, root: Path) -> None:
    os.chmod(root / "ws/d/f.txt", 0o4751)
    door.write_bytes("d/f.txt", door.rules.workspace, b"x")
    assert stat.S_IMODE((root / "ws/d/f.txt").stat().st_mode) == 0o751


def test_a_new_file_gets_the_usual_mode(door: FileDoor, root: Path) -> None:
    (root / "usual").touch()
    door.write_bytes("new.txt", door.rules.workspace, b"x")
    assert (root / "ws/new.txt").stat().st_mode == (root / "usual").stat().st_mode


def test_a_link_inside_is_written_through_and_stays_a_link(door: FileDoor, root: Path) -> None:
    (root / "ws/link").symlink_to("d/f.txt")
    door.write_bytes("link", door.rules.workspace, b"new")
    assert (root / "ws/link").is_symlink()
    assert (root / "ws/d/f.txt").read_bytes() == b"new"


@pytest.mark.parametrize(
    ("path", "operation", "kind"),
    [
        ("../out/f.txt", "read", "denied"),
        ("none", "read", "not_found"),
        ("d", "read", "is_folder"),
        ("d", "write", "is_folder"),
        ("new/", "write", "is_folder"),
        ("d/f.txt", "list", "not_a_folder"),
        ("none", "list", "not_found"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_sentence(
    door: FileDoor, path: str, operation: Operation, kind: str
) -> None:
    ws = door.rules.workspace
    acts: dict[Operation, Callable[[], object]] = {
        "read": lambda: door.read_bytes(path, ws),
        "write": lambda: door.write_bytes(path, ws, b"x"),
        "list": lambda: door.list_folder(path, ws),
    }
    result = acts[operation]()
    assert isinstance(result, FileRefusal)
    assert result.kind == kind
    assert result.sentence.endswith(".")
    assert bool(result.findings) is (kind == "denied")


def test_a_file_over_the_limit_is_refused(door: FileDoor) -> None:
    assert kind_of(door.read_bytes("d/f.txt", door.rules.workspace, limit=5)) == "too_big"
    assert kind_of(door.read_bytes("d/f.txt", door.rules.workspace, limit=6)) == "done"


def test_a_folder_swapped_for_a_link_after_the_judgement_leads_nowhere(door: FileDoor, root: Path) -> None:
    reading, writing = admit(door, "d/f.txt", "read"), admit(door, "d/new.txt", "write")
    listing, removing = admit(door, "d", "list"), admit(door, "d/f.txt", "write")
    os.rename(root / "ws/d", root / "ws/aside")
    (root / "ws/d").symlink_to(root / "out")
    results = (door.read(reading), door.write(writing, b"x"), door.entries(listing), door.remove(removing))
    assert [isinstance(result, FileRefusal) for result in results] == [True] * 4
    assert os.listdir(root / "out") == ["f.txt"]
    assert (root / "out/f.txt").read_bytes() == SECRET


def test_a_leaf_swapped_for_a_link_is_not_followed(door: FileDoor, root: Path) -> None:
    reading, writing = admit(door, "d/f.txt", "read"), admit(door, "d/f.txt", "write")
    os.unlink(root / "ws/d/f.txt")
    (root / "ws/d/f.txt").symlink_to(root / "out/f.txt")
    assert isinstance(door.read(reading), FileRefusal)
    assert isinstance(door.write(writing, b"x"), FileRefusal)
    assert (root / "out/f.txt").read_bytes() == SECRET


def test_a_fifo_put_in_place_neither_blocks_nor_is_read(door: FileDoor, root: Path) -> None:
    reading, writing = admit(door, "d/f.txt", "read"), admit(door, "d/f.txt", "write")
    os.unlink(root / "ws/d/f.txt")
    os.mkfifo(root / "ws/d/f.txt")
    assert kind_of(door.read(reading)) == "denied"
    assert kind_of(door.write(writing, b"x")) == "changed"


@contextmanager
def swapping(place: Path, target: Path) -> Iterator[None]:
    """A folder is a link for half of the time, as fast as it can be done."""
    stop = threading.Event()

    def swap() -> None:
        aside = place.with_name("aside")
        while not stop.is_set():
            os.rename(place, aside)
            with suppress(FileExistsError):  # a write may have made the folder anew
                os.symlink(target, place)
                os.unlink(place)
            while aside.exists():
                shutil.rmtree(place, ignore_errors=True)
                with suppress(OSError):
                    os.rename(aside, place)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_a_running_race_never_reads_or_writes_outside(door: FileDoor, root: Path) -> None:
    ws = door.rules.workspace
    with swapping(root / "ws/d", root / "out"):
        for _ in range(60):
            content = door.read_bytes("d/f.txt", ws)
            assert not (isinstance(content, FileContent) and content.data == SECRET)
            door.write_bytes("d/f.txt", ws, b"inside")
    assert os.listdir(root / "out") == ["f.txt"]
    assert (root / "out/f.txt").read_bytes() == SECRET


def test_a_file_that_changed_since_it_was_read_is_not_replaced(door: FileDoor, root: Path) -> None:
    content = door.read_bytes("d/f.txt", door.rules.workspace)
    assert isinstance(content, FileContent)
    (root / "ws/d/f.txt").write_text("by somebody else")
    assert kind_of(door.write_bytes("d/f.txt", door.rules.workspace, b"x", content.identity)) == "changed"
    assert kind_of(door.write_bytes("d/new", door.rules.workspace, b"x", "absent")) == "done"
    assert kind_of(door.write_bytes("d/new", door.rules.workspace, b"x", "absent")) == "changed"


def test_hard_links_are_read_but_not_written(door: FileDoor, root: Path) -> None:
    admitted = admit(door, "d/f.txt", "write")
    os.link(root / "ws/d/f.txt", root / "ws/other")
    assert kind_of(door.read_bytes("other", door.rules.workspace)) == "done"
    assert kind_of(door.write_bytes("other", door.rules.workspace, b"x")) == "denied"
    assert kind_of(door.write(admitted, b"x")) == "denied"


@pytest.mark.parametrize("protected", ["out/f.txt", "out"], ids=["the file itself", "its folder"])
def test_another_name_of_the_bots_state_is_not_read(door: FileDoor, root: Path, protected: str) -> None:
    os.link(root / "out/f.txt", root / "ws/innocent")
    guarded = replace(door, rules=replace(door.rules, protected=(str(root / protected),)))
    assert kind_of(guarded.read_bytes("innocent", door.rules.workspace)) == "denied"


def test_a_listing_leaves_out_what_the_policy_hides_and_counts_it(door: FileDoor, root: Path) -> None:
    (root / "ws/.env").write_text("K=1")
    (root / "ws/away").symlink_to(root / "out")
    (root / "ws/near").symlink_to("d")
    listing = door.list_folder(".", door.rules.workspace)
    assert isinstance(listing, Listing)
    assert [(entry.name, entry.path.kind, entry.is_link) for entry in listing.entries] == [
        ("d", "dir", False),
        ("near", "dir", True),
    ]
    assert listing.left_out == 2


def test_soft_findings_pass_where_somebody_was_asked_and_not_where_nobody_was(door: FileDoor) -> None:
    alone = replace(door, rules=replace(door.rules, unattended=True))
    assert kind_of(alone.write_bytes(".env", door.rules.workspace, b"x")) == "denied"
    assert kind_of(door.write_bytes(".env", door.rules.workspace, b"x")) == "done"


def test_a_failed_write_takes_its_folders_back(
    door: FileDoor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert kind_of(door.write_bytes("a/b/c", door.rules.workspace, b"x")) == "failed"
    assert sorted(os.listdir(root / "ws")) == ["d"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused_and_named(door: FileDoor, root: Path) -> None:
    os.chmod(root / "ws/d/f.txt", 0)
    assert kind_of(door.read_bytes("d/f.txt", door.rules.workspace)) == "no_permission"
