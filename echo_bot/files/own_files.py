"""Which files are the bot's own, by inode: a hard link shows one of them under another name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

Inode = tuple[int, int]


class OwnFiles:
    """Looks once into every set of protected places it is asked about; keep one no longer than a call."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, ...], frozenset[Inode]] = {}

    def holds(self, protected: tuple[str, ...], status: os.stat_result) -> bool:
        """Is this one of the `protected` files, or one below such a folder?"""
        if protected not in self._found:
            self._found[protected] = frozenset(inode for place in protected for inode in _inodes(place))
        return (status.st_dev, status.st_ino) in self._found[protected]


def _inodes(place: str) -> Iterator[Inode]:
    """Of files with more than one name only: no other can be met elsewhere."""
    folders = [place]
    with suppress(OSError):
        yield _inode(os.stat(place))
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                    continue
                status = entry.stat(follow_symlinks=False)
                if status.st_nlink > 1:
                    yield _inode(status)


def _inode(status: os.stat_result) -> Inode:
    return status.st_dev, status.st_ino
