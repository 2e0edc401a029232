"""Does code that runs on this computer name the bot's own state? Its files change by their own commands only.

The sandbox hides the state; on the local host nothing does. What is found are names as they are written or as
the shell guard worked them out: it is a fence, not a wall, and the card still shows the whole call.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from echo_bot.files import resolve
from echo_bot.policy.call import Call, Executor
from echo_bot.policy.decision import Finding, Verdict
from echo_bot.policy.guards.paths import DATABASE_SIBLINGS, PathRules, is_protected, shown
from echo_bot.policy.guards.sensitive_names import fold, is_within
from echo_bot.policy.guards.shell.report import ShellReport

_TEXT_FIELDS = ("command", "code", "text")
_SEPARATORS = re.compile(r"""[\s'"`<>|&;()=,]+""")
_HOME = re.compile(r"\A(?:~|\$HOME|\$\{HOME\})(?=/|\Z)")
_PATTERN = re.compile(r"[*?\[]")
_LONGEST = 4096
_MOST_FOLLOWED = 2000
"""Of more names than a person would write, links are not followed: each costs a look at the disk."""


def judge_own_state(call: Call, shell: ShellReport | None, rules: PathRules) -> Iterator[Finding]:
    """At most one finding, a hard one. `rules` are real (`real_rules`): no link hides a protected place."""
    if call.executor is not Executor.LOCAL:
        return
    if call.tool == "skill_run":
        yield from _judge_arguments(call, rules)
        return
    places = tuple(fold(place) for place in rules.protected)
    folders = tuple(dict.fromkeys((call.cwd, *_folders_entered(call, shell, rules.home))))
    for number, name in enumerate(_names(call, shell)):
        follows = number < _MOST_FOLLOWED
        if any(_is_own(_at_home(name, rules.home), folder, places, follows) for folder in folders):
            yield _own(name)
            return


def _judge_arguments(call: Call, rules: PathRules) -> Iterator[Finding]:
    """What a script is given by name. Its own folder lies in the state and may be read."""
    args = call.args.get("args")
    for text in args if isinstance(args, list) else ():
        for name in (str(text), str(text).rpartition("=")[2]):
            for folder in (call.cwd, rules.workspace):
                path = posixpath.join(folder, _at_home(name, rules.home))
                spellings = {fold(posixpath.normpath(path)), fold(resolve(path, folder).real)}
                if name and any(is_protected(spelling, rules) for spelling in spellings):
                    yield _own(name)
                    return


def _own(name: str) -> Finding:
    return Finding(
        "protected_path",
        Verdict.DENY,
        f"{shown(name)} belongs to the bot itself: its settings and state are read and changed by "
        "their own commands only",
    )


def _names(call: Call, shell: ShellReport | None) -> Iterable[str]:
    """Each word that may be a path once: those the shell guard knows and those in the text."""
    found: dict[str, None] = dict.fromkeys([call.cwd])
    for command in shell.commands if shell else ():
        for word in command.words:
            if word:
                found.update(dict.fromkeys((word, word.rpartition("=")[2])))
    for field in _TEXT_FIELDS:
        text = call.args.get(field)
        if isinstance(text, str):
            found.update(
                dict.fromkeys(word for word in _SEPARATORS.split(text) if "/" in word or "~" in word)
            )
    return (name for name in found if name and len(name) <= _LONGEST)


def _folders_entered(call: Call, shell: ShellReport | None, home: str) -> Iterator[str]:
    """Where a `cd` may have gone before a relative name is used."""
    for command in shell.commands if shell else ():
        if command.words and command.words[0] in ("cd", "pushd"):
            operand = command.words[-1] if len(command.words) > 1 else home
            yield posixpath.join(call.cwd, _at_home(operand or home, home))


def _at_home(name: str, home: str) -> str:
    return _HOME.sub(lambda _: home, name, count=1) if home else name


def _is_own(name: str, folder: str, places: tuple[str, ...], follows: bool) -> bool:
    path = posixpath.join(folder, name)
    if _PATTERN.search(path):
        return any(_may_match(fold(posixpath.normpath(path)), place) for place in places)
    spellings = {fold(posixpath.normpath(path))}
    if follows:
        spellings.add(fold(resolve(path, folder).real))
    return any(_is_at(spelling, place) for spelling in spellings for place in places)


def _is_at(spelling: str, place: str) -> bool:
    return is_within(spelling, place) or spelling in {place + ending for ending in DATABASE_SIBLINGS}


def _may_match(pattern: str, place: str) -> bool:
    """Could the pattern's first components be the place itself?"""
    wanted, there = pattern.split("/"), place.split("/")
    return len(wanted) >= len(there) and all(map(_matches, there, wanted))


def _matches(name: str, glob: str) -> bool:
    """As a shell does: a name that begins with a dot needs a pattern that does."""
    return name.startswith(".") <= glob.startswith(".") and fnmatchcase(name, glob)
