"""The clean environment of child processes: five names, what the operator lists, never the bot's own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

from echo_bot.errors import StartError

DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
OWN_PREFIXES = ("ECHO_BOT_", "ECHO_AGENT_")
"""Config and the credential key travel under these names: no list of the operator's lets them through."""


def clean_environment(
    source: Mapping[str, str], passed: Iterable[str] = (), *, home: str, tmpdir: str
) -> dict[str, str]:
    """PATH, HOME, LANG, TERM, TMPDIR and the `passed` names of `source` that exist and are not the bot's."""
    env = {
        name: source[name] for name in passed if name in source and not name.upper().startswith(OWN_PREFIXES)
    }
    return env | {
        "PATH": _path(source.get("PATH", "")),
        "HOME": home,
        "LANG": source.get("LANG") or "C.UTF-8",
        "TERM": source.get("TERM") or "dumb",
        "TMPDIR": tmpdir,
    }


def check_environment(environment: Mapping[str, str]) -> None:
    """Raises StartError for a name or value that no process can be given."""
    for name, value in environment.items():
        if not name or "=" in name or "\0" in name + value:
            raise StartError(f"{name!r} cannot be in the environment of a command with the value it has")


def _path(path: str, own_bin: str = os.path.join(sys.prefix, "bin")) -> str:
    """The bot's own virtual environment goes last: `pip` and `python3` mean the user's, if there are any."""
    entries = [entry for entry in path.split(":") if os.path.isabs(entry)] or DEFAULT_PATH.split(":")
    if sys.prefix != sys.base_prefix and own_bin in entries:
        entries = [entry for entry in entries if entry != own_bin] + [own_bin]
    return ":".join(entries)
