"""Opens what a walk found, following no link on the way: nobody can exchange it before it is mounted."""

from __future__ import annotations

import os
from collections.abc import Iterable

from echo_bot.errors import StartError


def open_all(root: str, paths: Iterable[str]) -> dict[str, int]:
    """An O_PATH handle for each path below `root`, for the caller to close; on StartError none stays open."""
    handles: dict[str, int] = {}
    try:
        for path in paths:
            handles[path] = _open_beneath(root, os.path.relpath(path, root))
    except OSError as error:
        close_all(handles.values())
        raise StartError(f"the workspace changed while the sandbox was made ({error}); try again") from error
    return handles


def close_all(handles: Iterable[int]) -> None:
    for handle in handles:
        os.close(handle)


def _open_beneath(root: str, relative: str) -> int:
    """A link in the place of any part raises OSError."""
    *folders, last = relative.split("/")
    handle = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            inner = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
            os.close(handle)
            handle = inner
        found = os.open(last, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
    finally:
        os.close(handle)
    if _is_link(found):
        os.close(found)
        raise OSError(f"{relative} is a link")
    return found


def _is_link(handle: int) -> bool:
    return os.stat(handle).st_mode & 0o170000 == 0o120000
