"""Spill: long results are kept as files of their scope and shown by head and tail.

Every scope has its own folder, named by a hash. Known secrets are masked before anything is kept. Files are
dropped when they are old, or when all of them together grow too large, oldest first.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from echo_bot.text.pieces import in_pieces
from echo_bot.tools.base import ToolExecutionContext

FILE_NAME = re.compile(r"[a-z0-9_-]{1,40}-[0-9a-f]{12}\.txt")
_SWEEP_EVERY_SECONDS = 3600.0
_HEAD_SHARE = 0.6
_NOTICE_CHARS = 200


@dataclass(frozen=True, slots=True)
class SpillLimits:
    """`spill.*` of the configuration."""

    max_inline_chars: int = 6000
    retention_days: int = 7
    max_total_mb: int = 512


class Spill:
    """`folder` is made when first needed, readable by its owner only. `now` is Unix time."""

    def __init__(
        self,
        folder: Path,
        limits: SpillLimits,
        now: Callable[[], float] = time.time,
        *,
        mask: Callable[[str], str] = str,
    ) -> None:
        self._folder = folder
        self._limits = limits
        self._mask = mask
        self._now = now
        self._swept_at = float("-inf")
        self._written_since = 0

    async def shorten(self, ctx: ToolExecutionContext | None, name: str, text: str) -> str:
        """The text itself if it is short; else its head and tail, and how to read the rest."""
        return await self.shorten_to(ctx, name, text, self._limits.max_inline_chars)

    async def shorten_to(self, ctx: ToolExecutionContext | None, name: str, text: str, max_chars: int) -> str:
        """The same for a text that has less room."""
        return await self._short(scope_of(ctx) if ctx else "", name, text, max_chars)

    async def shorten_in(self, scope: str, name: str, text: str) -> str:
        """The same for what comes from no call: `scope` is whose calls may read it."""
        return await self._short(scope, name, text, self._limits.max_inline_chars)

    async def _short(self, scope: str, name: str, text: str, max_chars: int) -> str:
        if len(text) <= max_chars:
            return text
        return await asyncio.to_thread(self._shortened, scope, name, text, max_chars)

    def open(self, ctx: ToolExecutionContext | None, path: str) -> BinaryIO | None:
        """A spilled file of this call's own scope, by the name that `shorten` gave; None if there is none."""
        if ctx is None or not FILE_NAME.fullmatch(path):
            return None
        try:
            handle = os.open(
                self._scope_folder(scope_of(ctx)) / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
            )
        except OSError:
            return None
        return os.fdopen(handle, "rb")

    def sweep(self) -> int:
        """Drop what is too old or too much; returns how many files went."""
        oldest = self._now() - self._limits.retention_days * 86400
        room = self._limits.max_total_mb * 1024 * 1024
        dropped = 0
        for changed_at, size, path in sorted(self._files(), reverse=True):
            room -= size
            if changed_at < oldest or room < 0:
                with suppress(OSError):
                    path.unlink()
                    dropped += 1
        self._swept_at, self._written_since = self._now(), 0
        return dropped

    def _shortened(self, scope: str, name: str, text: str, max_chars: int) -> str:
        masked = in_pieces(text, self._mask)
        kept = self._keep(scope, name, masked) if scope else ""
        return head_and_tail(masked, max_chars, kept)

    def _keep(self, scope: str, name: str, text: str) -> str:
        """Store it; "" when the disk does not take it: the head and tail are still worth showing."""
        data = text.encode("utf-8", "replace")
        safe = re.sub(r"[^a-z0-9_-]", "-", name.lower())[:40] or "result"
        file_name = f"{safe}-{secrets.token_hex(6)}.txt"
        folder = self._scope_folder(scope)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(folder / file_name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
        except OSError:
            return ""
        self._written_since += len(data)
        if self._now() - self._swept_at > _SWEEP_EVERY_SECONDS or self._written_since > self._sweep_bytes():
            self.sweep()
        return file_name

    def _sweep_bytes(self) -> int:
        return self._limits.max_total_mb * 1024 * 1024 // 10

    def _scope_folder(self, scope: str) -> Path:
        return self._folder / hashlib.sha256(scope.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        for path in self._folder.glob("*/*.txt"):
            with suppress(OSError):
                status = path.lstat()
                yield status.st_mtime, status.st_size, path


def scope_of(ctx: ToolExecutionContext) -> str:
    """Whose results these are: the memory scope, which workers share with the turn that started them."""
    return ctx.memory_scope or ctx.session_key


def head_and_tail(text: str, max_chars: int, kept_as: str) -> str:
    """The beginning and the end within the limit, cut at line ends where one is near."""
    room = max(max_chars - _NOTICE_CHARS, 2)
    head = text[: int(room * _HEAD_SHARE)]
    tail = text[len(text) - (room - len(head)) :]
    if (cut := head.rfind("\n")) > len(head) // 2:
        head = head[:cut]
    if 0 <= (cut := tail.find("\n")) < len(tail) // 2:
        tail = tail[cut + 1 :]
    left_out = len(text) - len(head) - len(tail)
    how = f"read_spill path={kept_as} shows all of it" if kept_as else "it was not kept"
    return f"{head}\n[… {left_out:,} of {len(text):,} characters left out; {how} …]\n{tail}"
