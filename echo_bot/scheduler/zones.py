"""Time zones by name: the one a job asks for, or the computer's own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

UTC_NAME = "UTC"
_LOCALTIME = Path("/etc/localtime")
_TIMEZONE = Path("/etc/timezone")


def zone_of(name: str) -> ZoneInfo:
    """Raises ValueError with a sentence when there is no such zone."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"there is no time zone {name!r}; write it like Europe/Berlin or UTC") from None


def default_zone(configured: str, environ: Mapping[str, str] = os.environ) -> str:
    """The name of the configured zone, or of the computer's; UTC where that has no name.

    A name is needed rather than an offset: a job goes on over the next change of the clocks.
    """
    for name in (configured, *_names_here(environ)):
        if name and _exists(name):
            return name
    return UTC_NAME


def _names_here(environ: Mapping[str, str]) -> Iterator[str]:
    yield environ.get("TZ", "").removeprefix(":")
    yield str(_LOCALTIME.resolve()).rpartition("zoneinfo/")[2]
    try:
        yield _TIMEZONE.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return


def _exists(name: str) -> bool:
    try:
        zone_of(name)
    except ValueError:
        return False
    return True
