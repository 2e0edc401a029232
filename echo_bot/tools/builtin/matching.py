"""Finding lines by a pattern: a plain text in this process, a regular expression in a child with a deadline.

Python's matcher holds the interpreter's lock for as long as it takes, and some patterns take for ever; one
that comes from a chat must not stop the bot.
"""

from __future__ import annotations

import json
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

LINE_CHARS = 400
Match = tuple[int, str]
"""The line's number, from 1, and the line, cut."""

_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
_CHILD = Path(__file__).with_name("line_matcher.py")


class PatternError(ValueError):
    """The pattern is no regular expression, or takes too long; the message says what to do."""


class Matcher(Protocol):
    def lines(self, data: bytes) -> list[Match]:
        """The matching lines of a file's content, up to the number wanted. Raises PatternError."""
        ...


@contextmanager
def matcher(pattern: str, wanted: int, seconds: float) -> Iterator[Matcher]:
    """A matcher for `pattern`, alive inside the block. Raises PatternError."""
    if not pattern or "\n" in pattern:
        raise PatternError("the pattern must be one non-empty line; matches never span lines")
    if not _SPECIAL.search(pattern):
        yield _PlainText(pattern, wanted)
        return
    child = _Child(pattern, wanted, time.monotonic() + seconds)
    try:
        yield child
    finally:
        child.close()


class _PlainText:
    def __init__(self, text: str, wanted: int) -> None:
        self._text, self._wanted = text, wanted

    def lines(self, data: bytes) -> list[Match]:
        found: list[Match] = []
        for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
            if self._text in line.removesuffix("\r"):
                found.append((number, line.removesuffix("\r")[:LINE_CHARS]))
                if len(found) >= self._wanted:
                    break
        return found


class _Child:
    """A running `line_matcher`."""

    def __init__(self, pattern: str, wanted: int, deadline: float) -> None:
        self._deadline = deadline
        self._process = _start()
        try:
            self._send(pattern.encode("utf-8", "surrogatepass"))
            self._send(str(wanted).encode())
            problem = self._answer()
        except PatternError:
            self.close()
            raise
        if problem is not None:
            self.close()
            raise PatternError(f"not a regular expression: {problem}; escape special characters with \\")

    def lines(self, data: bytes) -> list[Match]:
        self._send(data)
        answer = self._answer()
        return [(int(number), str(line)) for number, line in answer] if isinstance(answer, list) else []

    def close(self) -> None:
        with suppress(OSError):
            self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process.wait()

    def _send(self, data: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(len(data).to_bytes(8, "big"))
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except OSError as error:
            raise PatternError("the search stopped unexpectedly; try a simpler pattern") from error

    def _answer(self) -> object:
        assert self._process.stdout is not None
        left = self._deadline - time.monotonic()
        ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, left))
        line = self._process.stdout.readline() if ready else b""
        if not line:
            raise PatternError(
                "the pattern takes too long on these files; simplify it or name a smaller path"
            )
        return json.loads(line)


def _start() -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(_CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
        )
    except OSError as error:
        raise PatternError(
            f"regular expressions cannot be run here ({error}); search for a plain text"
        ) from error
