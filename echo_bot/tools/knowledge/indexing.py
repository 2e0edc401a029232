"""One run over the documents: what is new or changed by its content is indexed, what is gone is forgotten."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from echo_bot.files import FileDoor, FileRefusal, FileWalk
from echo_bot.policy.guards.paths import shown
from echo_bot.policy.guards.sensitive_names import is_within
from echo_bot.storage.knowledge import IndexedFile, KnowledgeIndex
from echo_bot.text.counted import counted
from echo_bot.tools.builtin.pages import is_binary
from echo_bot.tools.knowledge.passages import passages_of

MAX_FILE_BYTES = 10 * 1024 * 1024
_SNIFFED_BYTES = 8192
_BATCH_FILES = 32
_PROGRESS_FILES = 250
_FORMAT = "1"
"""Part of every digest: another way to cut passages indexes every document again."""


class Stopped(Exception):
    """The run was cancelled; what it had finished is in the index."""


@dataclass(frozen=True, slots=True)
class Documents:
    """Which files are documents. `base` is the folder that relative paths count from."""

    base: str
    extensions: tuple[str, ...]
    chunk_chars: int

    def holds(self, name: str) -> bool:
        return name.lower().endswith(tuple(ending.lower() for ending in self.extensions))


@dataclass(slots=True)
class RunReport:
    """What one run came to. `problems` are sentences on places that could not be looked at."""

    seen: int = 0
    changed: int = 0
    removed: int = 0
    binary: int = 0
    too_big: int = 0
    left_out: int = 0
    problems: list[str] = field(default_factory=list)

    def text(self) -> str:
        unchanged = self.seen - self.changed - self.binary - self.too_big
        parts = [f"{self.changed:,} indexed", f"{unchanged:,} unchanged", f"{self.removed:,} removed"]
        more = {
            "binary": self.binary,
            f"over {MAX_FILE_BYTES // 1024**2} MiB": self.too_big,
            "left out: outside what the path policy lets be seen": self.left_out,
        }
        parts += [f"{count:,} {what}" for what, count in more.items() if count]
        return "\n".join([f"{counted(self.seen, 'document')}: {', '.join(parts)}", *self.problems])


class IndexRun:
    """`progress` is told in lines; `is_stopped` is asked before every file. Blocks: run it in a thread."""

    def __init__(
        self,
        index: KnowledgeIndex,
        documents: Documents,
        *,
        progress: Callable[[str], None] = lambda line: None,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._index, self._documents = index, documents
        self._progress, self._is_stopped = progress, is_stopped
        self.report = RunReport()
        self._known: dict[str, str] = {}
        self._seen: set[str] = set()
        self._batch: list[IndexedFile] = []

    def add(self, door: FileDoor, roots: Sequence[str]) -> tuple[str, ...]:
        """Index what lies at these places, as `door` lets it be read; returns those it could look at, real.

        Raises Stopped, and StorageError when the index cannot be used.
        """
        self._known = self._index.digests()
        looked_at = []
        for root in roots:
            real = self._add_root(door, root)
            if real:
                looked_at.append(real)
                self._forget(
                    [path for path in self._known if is_within(path, real) and path not in self._seen]
                )
        self._flush()
        return tuple(looked_at)

    def forget_outside(self, roots: Sequence[str]) -> None:
        """Forget what lies below none of these real places: it is no root any more."""
        known = self._index.digests()
        self._forget([path for path in known if not any(is_within(path, root) for root in roots)])

    def _add_root(self, door: FileDoor, root: str) -> str:
        admitted = door.admit(os.path.expanduser(root), self._documents.base, "list")
        if isinstance(admitted, FileRefusal):
            self.report.problems.append(admitted.sentence)
            return ""
        if not admitted.path.exists:
            self.report.problems.append(f"{shown(root)} does not exist.")
            return admitted.path.real
        if admitted.path.kind == "file":
            self._add_file(door, admitted.path.real)
            return admitted.path.real
        walk = FileWalk(door, admitted)
        for entry in walk.files():
            if self._documents.holds(entry.name):
                self._add_file(door, entry.path.real)
        self.report.left_out += walk.left_out
        return admitted.path.real

    def _add_file(self, door: FileDoor, path: str) -> None:
        if self._is_stopped():
            self._flush()
            raise Stopped
        if path in self._seen:
            return
        content = door.read_bytes(path, self._documents.base, MAX_FILE_BYTES)
        if isinstance(content, FileRefusal):
            self.report.too_big += content.kind == "too_big"
            self.report.seen += content.kind == "too_big"
            self.report.left_out += content.kind == "denied"
            return
        self._seen.add(path)
        self.report.seen += 1
        if is_binary(content.data[:_SNIFFED_BYTES]):
            self.report.binary += 1
            self._seen.discard(path)
        else:
            self._index_changed(path, content.data)
        if self.report.seen % _PROGRESS_FILES == 0:
            self._progress(f"{counted(self.report.seen, 'document')} read, {self.report.changed:,} indexed\n")

    def _index_changed(self, path: str, data: bytes) -> None:
        digest = f"{_FORMAT}:{self._documents.chunk_chars}:{hashlib.sha256(data).hexdigest()}"
        if self._known.get(path) == digest:
            return
        self.report.changed += 1
        text = data.decode("utf-8", "replace")
        passages = tuple(passages_of(path, text, self._documents.chunk_chars))
        self._batch.append(IndexedFile(path, digest, passages))
        if len(self._batch) >= _BATCH_FILES:
            self._flush()

    def _flush(self) -> None:
        if self._batch:
            self._index.put(self._batch)
            self._batch = []

    def _forget(self, paths: list[str]) -> None:
        for some in _groups(paths):
            self._index.remove(some)
            self.report.removed += len(some)


def _groups(paths: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(paths), _BATCH_FILES):
        yield paths[start : start + _BATCH_FILES]
