"""What one server is by the configuration, and how long things may take with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from echo_bot.backoff import backoff


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """`command` and what belongs to it, or `url` and `headers`. `env` is laid over the clean environment.

    `risk` is what the operator says of all its tools, "" for nothing. `timeout_seconds` bounds one call.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_seconds: int = 30
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    risk: str = ""

    def offers(self, tool: str) -> bool:
        """Does the operator want this one of its tools, by the server's spelling?"""
        if any(fnmatchcase(tool, pattern) for pattern in self.exclude):
            return False
        return not self.include or any(fnmatchcase(tool, pattern) for pattern in self.include)


@dataclass(frozen=True, slots=True)
class Timing:
    """In seconds. A connection that held for `stable` begins the back-off anew.

    `look_again`: how often the list of tools is read anew, which is also the sign of life.
    `calm`: at least so long between two readings, however often the server says that its list changed.
    """

    connect: float = 60.0
    list: float = 30.0
    first_pause: float = 1.0
    most_pause: float = 300.0
    stable: float = 60.0
    look_again: float = 60.0
    calm: float = 1.0
    stop: float = 4.5

    def pause(self, failures: int) -> float:
        """Before the next try, after so many failures in a row."""
        return backoff(failures - 1, self.first_pause, self.most_pause)
