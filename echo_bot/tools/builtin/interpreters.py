"""The languages of execute_code: how each is run, and which of them this machine can run."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interpreter:
    """How a language is run with its code on standard input; `get` says where `binary` comes from."""

    binary: str
    argv: tuple[str, ...]
    get: str


INTERPRETERS: Mapping[str, Interpreter] = {
    "python": Interpreter("python3", ("python3", "-u", "-"), "apt install python3"),
    "javascript": Interpreter("node", ("node", "-"), "apt install nodejs"),
    # bash reads a script bit by bit, so the commands in it must not share its input: they would eat the rest.
    "bash": Interpreter(
        "bash",
        ("/bin/sh", "-c", 'exec "$@" 3<&0 </dev/null', "sh", "bash", "--noprofile", "--norc", "/dev/fd/3"),
        "apt install bash",
    ),
}


def has_interpreter(language: str, path: str | None) -> bool:
    """Is the language's program on this PATH? With None code runs elsewhere, and that shows when it runs."""
    return path is None or shutil.which(INTERPRETERS[language].binary, path=path) is not None


def languages_readiness(languages: Iterable[str], path: str | None) -> tuple[bool, str]:
    """Ready while one of the enabled languages can run; the sentence names those that cannot."""
    enabled = tuple(languages)
    missing = [language for language in enabled if not has_interpreter(language, path)]
    if not enabled:
        return False, "tools.code_exec.languages is empty: list python, javascript or bash there"
    if not missing:
        return True, "ready"
    names = ", ".join(
        f"{name} ({INTERPRETERS[name].binary} is not on PATH; {INTERPRETERS[name].get})" for name in missing
    )
    return len(missing) < len(enabled), f"not runnable: {names}"
