"""What an approval of a file's content is bound to."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from echo_bot.files import content_identity
from echo_bot.files.identity import MAX_HASHED_BYTES, identity_of_bytes


def test_a_file_is_bound_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    assert content_identity(str(tmp_path / "a")) == "sha256:" + hashlib.sha256(b"x").hexdigest()
    assert content_identity(str(tmp_path / "a")) == identity_of_bytes(b"x")


def test_a_missing_file_is_absent(tmp_path: Path) -> None:
    assert content_identity(str(tmp_path / "a")) == "absent"
    assert content_identity(str(tmp_path / "a/b")) == "absent"


def test_a_file_over_ten_mebibytes_is_bound_by_its_status(tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(MAX_HASHED_BYTES + 1)
    status = large.stat()
    expected = f"stat:{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}"
    assert content_identity(str(large)) == expected


def test_what_is_no_file_is_bound_by_its_status_and_never_blocks(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert content_identity(str(tmp_path / "fifo")).startswith("stat:")
    assert content_identity(str(tmp_path)).startswith("stat:")
    assert content_identity("a\0b") == "stat:unreadable"
