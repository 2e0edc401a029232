"""The operator's allowlist: calls that pass without a person, by patterns written into the configuration."""

from __future__ import annotations

import fnmatch
import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from echo_bot.policy.call import Arguments, JsonValue
from echo_bot.policy.catalogue import canonical_name
from echo_bot.policy.settings import AllowEntry

if TYPE_CHECKING:  # the shell guard brings a parser, which reading the list does not need
    from echo_bot.policy.guards.shell.report import ShellReport, SimpleCommand

THE_REST = "**"

_READ_ONLY_SHELL = (
    "ls **", "pwd", "cat **", "head **", "tail **", "wc **", "nl **", "stat **", "du **", "df **", "cut **",
    "tr **", "grep **", "egrep **", "fgrep **", "diff **", "cmp **", "basename **", "dirname **",
    "realpath **", "readlink **", "md5sum **", "sha1sum **", "sha256sum **", "which **", "echo **",
    "true", "date", "whoami", "id", "uname **", "nproc", "uptime", "hostname",
    "git status", "git status --short", "git status -s", "git log", "git log --oneline", "git diff",
    "git diff --stat", "git diff --cached", "git show --stat", "git branch", "git rev-parse HEAD",
)  # fmt: skip
"""Programs no option of which writes a file or runs another program."""

PRESETS: Mapping[str, tuple[AllowEntry, ...]] = {
    "read_only_shell": tuple(AllowEntry("exec", {"command": command}) for command in _READ_ONLY_SHELL)
}

_SHELL_FIELDS: Mapping[str, str] = {"process": "command", "execute_code": "code"}


def allows(entries: Iterable[AllowEntry], tool: str, args: Arguments, report: ShellReport | None) -> bool:
    """Does the list cover this call? `report` is the shell guard's, for a call that carries shell code."""
    named = [entry for entry in entries if canonical_name(entry.tool) == tool]
    if tool == "exec":
        return _allows_exec(named, args, report)
    return any(_fits(entry.args, args) and _shell_is_plain(entry, tool, report) for entry in named)


def _allows_exec(entries: Iterable[AllowEntry], args: Arguments, report: ShellReport | None) -> bool:
    """Every simple command must match an entry whose other fields fit too."""
    if report is None or not report.complete or not report.commands:
        return False
    rest = {name: value for name, value in args.items() if name != "command"}
    patterns = [
        entry.args["command"]
        for entry in entries
        if "command" in entry.args
        and _fits({name: glob for name, glob in entry.args.items() if name != "command"}, rest)
    ]
    return all(any(_command_fits(pattern, command) for pattern in patterns) for command in report.commands)


def _command_fits(pattern: str, command: SimpleCommand) -> bool:
    """One glob per word, the same number of words; a last `**` takes the rest."""
    if not command.plain:
        return False
    words = [word for word in command.words if word is not None]
    if len(words) != len(command.words):
        return False
    globs = _split(pattern)
    if globs and globs[-1] == THE_REST:
        globs = globs[:-1]
        words = words[: len(globs)] if len(words) >= len(globs) else words
    return bool(globs) and len(globs) == len(words) and all(map(_word_fits, words, globs))


def _word_fits(word: str, glob: str) -> bool:
    return fnmatch.fnmatchcase(word, glob)


def _split(pattern: str) -> list[str]:
    """The pattern's words; quotes keep blanks together. A broken one has none and matches nothing."""
    try:
        return shlex.split(pattern)
    except ValueError:
        return []


def _fits(globs: Mapping[str, str], args: Arguments) -> bool:
    """Each named field is there and matches whole; no other field is there, except timeout."""
    if any(name not in globs and name != "timeout" for name in args):
        return False
    return all(name in args and _value_fits(args[name], glob) for name, glob in globs.items())


def _value_fits(value: JsonValue, glob: str) -> bool:
    return isinstance(value, str) and fnmatch.fnmatchcase(value, glob)


def _shell_is_plain(entry: AllowEntry, tool: str, report: ShellReport | None) -> bool:
    """A wildcard over shell code must not stretch over a second command; a literal pattern cannot."""
    glob = entry.args.get(_SHELL_FIELDS.get(tool, ""), "")
    if report is None or not any(sign in glob for sign in "*?["):
        return True
    return (
        report.complete
        and len(report.commands) == 1
        and all(command.plain and None not in command.words for command in report.commands)
    )
