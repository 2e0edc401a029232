"""The door: every file a tool reads, writes or lists goes through here, and only as the policy passed it.

`admit` resolves and judges; the other methods open the judged path so that no swapped link can lead
elsewhere. The gate judges the same path before the call. A call it passed may carry soft findings, which the
door accepts unless nobody was there to be asked. All methods block; call them in a thread.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import BinaryIO

from echo_bot.files.atomic import create_file, replace_file, sync_folder
from echo_bot.files.identity import ABSENT, identity_of_open, identity_of_read
from echo_bot.files.opening import Opener, best_opener
from echo_bot.files.own_files import OwnFiles
from echo_bot.files.resolving import kind_of, resolve
from echo_bot.files.results import Admitted, Entry, FileContent, FileRefusal, Listing, RefusalKind, Written
from echo_bot.policy.decision import Finding, Verdict
from echo_bot.policy.guards.paths import Operation, PathRules, ResolvedPath, judge_path, shown

MAX_READ_BYTES = 64 * 1024 * 1024
_READ = os.O_RDONLY | os.O_NONBLOCK
_FOLDER = os.O_RDONLY | os.O_DIRECTORY


@dataclass(frozen=True, slots=True)
class FileDoor:
    """The opener under one set of rules. Rules are real (`real_rules`)."""

    rules: PathRules
    opener: Opener = field(default_factory=best_opener)
    own_files: OwnFiles = field(default_factory=OwnFiles, compare=False, repr=False)

    def admit(self, path: str, cwd: str, operation: Operation) -> Admitted | FileRefusal:
        """Resolve and judge; nothing is opened."""
        return self._judge(resolve(path, cwd), operation)

    def read_bytes(self, path: str, cwd: str, limit: int = MAX_READ_BYTES) -> FileContent | FileRefusal:
        """The whole content of a regular file of at most `limit` bytes."""
        admitted = self.admit(path, cwd, "read")
        return admitted if isinstance(admitted, FileRefusal) else self.read(admitted, limit)

    def write_bytes(self, path: str, cwd: str, data: bytes, expected: str = "") -> Written | FileRefusal:
        """Replace or create a file atomically, making missing folders. See `write`."""
        admitted = self.admit(path, cwd, "write")
        return admitted if isinstance(admitted, FileRefusal) else self.write(admitted, data, expected)

    def list_folder(self, path: str, cwd: str) -> Listing | FileRefusal:
        """One folder's entries that the policy lets be seen."""
        admitted = self.admit(path, cwd, "list")
        return admitted if isinstance(admitted, FileRefusal) else self.entries(admitted)

    def read(self, admitted: Admitted, limit: int = MAX_READ_BYTES) -> FileContent | FileRefusal:
        """What `read_bytes` does, for an admitted path."""
        path = admitted.path
        file = self.open(admitted)
        if isinstance(file, FileRefusal):
            return file
        with file:
            try:
                data = _read_up_to(file, limit + 1)
                identity = identity_of_read(file.fileno(), data)
            except OSError as error:
                return _os_refusal(path, error)
        if len(data) > limit:
            return FileRefusal("too_big", f"{shown(path.given)} has more than {limit:,} bytes.")
        return FileContent(path, data, identity)

    def open(self, admitted: Admitted) -> BinaryIO | FileRefusal:
        """A regular file, open for reading from its start; the caller closes it."""
        path = admitted.path
        try:
            handle = self.opener.open(path.real, _READ)
        except OSError as error:
            return _os_refusal(path, error)
        problem = self._not_readable(path, os.fstat(handle))
        if problem:
            os.close(handle)
            return problem
        return os.fdopen(handle, "rb")

    def write(self, admitted: Admitted, data: bytes, expected: str = "") -> Written | FileRefusal:
        """Replace or create. With `expected`, only if the file in place still has that content identity."""
        path = admitted.path
        if path.given.endswith(("/", "/.", "/..")) or path.real == "/":
            return FileRefusal("is_folder", f"{shown(path.given)} names a folder; name a file.")
        folder, name = os.path.split(path.real)
        made: list[str] = []
        try:
            with self._folder(folder, made) as handle:
                before = _status_in(handle, name)
                problem = self._not_replaceable(path, handle, name, before, expected)
                if problem:
                    return problem
                replace_file(handle, name, data, before)
        except OSError as error:
            self.remove_folders(tuple(made))
            return _os_refusal(path, error)
        return Written(path, tuple(made))

    def create(self, admitted: Admitted, data: bytes, mode: int | None = None) -> Written | FileRefusal:
        """A new file, never in place of another: a refusal of kind "exists" when the name is taken.

        Without a `mode` it is that of any new file.
        """
        path = admitted.path
        folder, name = os.path.split(path.real)
        made: list[str] = []
        try:
            with self._folder(folder, made) as handle:
                create_file(handle, name, data, mode)
        except FileExistsError:
            return FileRefusal("exists", f"{shown(path.given)} is there already.")
        except OSError as error:
            self.remove_folders(tuple(made))
            return _os_refusal(path, error)
        return Written(path, tuple(made))

    def remove(self, admitted: Admitted, expected: str = "") -> Written | FileRefusal:
        """Delete a regular file. It was admitted for writing."""
        path = admitted.path
        folder, name = os.path.split(path.real)
        try:
            with self._opened(folder, _FOLDER) as handle:
                before = _status_in(handle, name)
                if before is None:
                    return _not_found(path)
                problem = self._not_replaceable(path, handle, name, before, expected)
                if problem:
                    return problem
                os.unlink(name, dir_fd=handle)
                sync_folder(handle)
        except OSError as error:
            return _os_refusal(path, error)
        return Written(path)

    def entries(self, admitted: Admitted) -> Listing | FileRefusal:
        """A folder's entries. A link is shown as what it leads to, if the policy lets that be seen."""
        path = admitted.path
        try:
            with self._opened(path.real, _FOLDER) as handle, os.scandir(handle) as found:
                raw = sorted(found, key=lambda item: item.name)
                seen = [self._entry(path, item.name, item.stat(follow_symlinks=False)) for item in raw]
        except OSError as error:
            return _os_refusal(path, error)
        kept = tuple(entry for entry in seen if not self._refused(entry.path, "list"))
        return Listing(path, kept, len(seen) - len(kept))

    def remove_folders(self, made: tuple[str, ...]) -> None:
        """Take back folders that a write made, as far as they are empty."""
        for place in reversed(made):
            parent, name = os.path.split(place)
            with suppress(OSError), self._opened(parent, _FOLDER) as handle:
                os.rmdir(name, dir_fd=handle)

    def _judge(self, path: ResolvedPath, operation: Operation) -> Admitted | FileRefusal:
        refused = self._refused(path, operation)
        if refused:
            return FileRefusal("denied", refused[0].sentence, refused)
        return Admitted(path, operation)

    def _refused(self, path: ResolvedPath, operation: Operation) -> tuple[Finding, ...]:
        findings = judge_path(path, operation, self.rules)
        return tuple(
            finding
            for finding in findings
            if finding.verdict is Verdict.DENY or (finding.verdict is Verdict.ASK and self.rules.unattended)
        )

    def _entry(self, folder: ResolvedPath, name: str, status: os.stat_result) -> Entry:
        absolute = os.path.join(folder.absolute, name)
        if stat.S_ISLNK(status.st_mode):
            path = resolve(name, folder.real)
            return Entry(name, path, is_link=True)
        path = ResolvedPath(name, absolute, os.path.join(folder.real, name), kind_of(status), status.st_nlink)
        return Entry(name, path, status.st_size)

    @contextmanager
    def _opened(self, real: str, flags: int) -> Iterator[int]:
        handle = self.opener.open(real, flags)
        try:
            yield handle
        finally:
            os.close(handle)

    @contextmanager
    def _folder(self, real: str, made: list[str]) -> Iterator[int]:
        """The folder's handle; missing ones are made, each below the handle of the one before."""
        missing: list[str] = []
        while True:
            try:
                handle = self.opener.open(real, _FOLDER)
                break
            except FileNotFoundError:
                real, name = os.path.split(real)
                missing.append(name)
        try:
            for name in reversed(missing):
                real = os.path.join(real, name)
                os.mkdir(name, dir_fd=handle)
                made.append(real)
                below = os.open(name, _FOLDER | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
                os.close(handle)
                handle = below
            yield handle
        finally:
            os.close(handle)

    def _not_readable(self, path: ResolvedPath, status: os.stat_result) -> FileRefusal | None:
        if stat.S_ISDIR(status.st_mode):
            return FileRefusal("is_folder", f"{shown(path.real)} is a folder; use list_dir.")
        if not stat.S_ISREG(status.st_mode):
            return FileRefusal("denied", f"{shown(path.real)} is not a regular file.")
        if status.st_nlink > 1 and self.own_files.holds(self.rules.protected, status):
            return FileRefusal("denied", f"{shown(path.real)} is another name of a file of the bot itself.")
        return None

    def _not_replaceable(
        self, path: ResolvedPath, folder: int, name: str, before: os.stat_result | None, expected: str
    ) -> FileRefusal | None:
        if before is not None and stat.S_ISDIR(before.st_mode):
            return FileRefusal("is_folder", f"{shown(path.real)} is a folder; name a file.")
        if before is not None and not stat.S_ISREG(before.st_mode):
            return _changed(path)
        if before is not None and before.st_nlink > 1:
            return FileRefusal("denied", f"{shown(path.real)} has several names (hard links); copy it first.")
        if expected and expected != _identity_in(folder, name, before):
            return _changed(path)
        return None


def _read_up_to(file: BinaryIO, limit: int) -> bytes:
    """Asks for no more than the file seems to hold: a large buffer costs more than reading a small file."""
    data = file.read(min(limit, os.fstat(file.fileno()).st_size + 1))
    while len(data) < limit and (more := file.read(min(limit - len(data), 1 << 20))):
        data += more
    return data


def _status_in(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _identity_in(folder: int, name: str, before: os.stat_result | None) -> str:
    if before is None:
        return ABSENT
    handle = os.open(name, _READ | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        return identity_of_open(handle)
    finally:
        os.close(handle)


def _changed(path: ResolvedPath) -> FileRefusal:
    return FileRefusal("changed", f"{shown(path.real)} changed since it was looked at; read it again.")


def _not_found(path: ResolvedPath) -> FileRefusal:
    return FileRefusal("not_found", f"{shown(path.given)} does not exist; list_dir shows what is there.")


_KINDS: dict[int, RefusalKind] = {
    errno.ELOOP: "changed",
    errno.EXDEV: "changed",
    errno.EEXIST: "changed",
    errno.ENOTDIR: "not_a_folder",
    errno.EACCES: "no_permission",
    errno.EPERM: "no_permission",
    errno.EROFS: "no_permission",
}


def _os_refusal(path: ResolvedPath, error: OSError) -> FileRefusal:
    if error.errno == errno.ENOENT:
        return _not_found(path)
    kind = _KINDS.get(error.errno or 0, "failed")
    if kind == "changed":
        return _changed(path)
    if kind == "not_a_folder":
        return FileRefusal(kind, f"{shown(path.given)} is not a folder, or one on the way to it is not.")
    return FileRefusal(kind, f"{shown(path.given)}: {os.strerror(error.errno or 0)}.")
