"""Reads a program's options by a small table: bundled letters, long names and their GNU abbreviations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from echo_bot.policy.guards.shell.marks import UNKNOWN, UNKNOWN_FIELDS


@dataclass(frozen=True, slots=True)
class OptionTable:
    """Which options take a value: single letters, and long names without dashes.

    `single_dash` reads `-name` as one long option (find, java, openssl style). The value of a `glued` letter
    can only follow in the same word.
    """

    letters: str = ""
    names: frozenset[str] = frozenset()
    single_dash: bool = False
    glued: str = ""


@dataclass(slots=True)
class Options:
    """`given` holds (name, value) in order, letters as "x", long names as "--name"; `rest` are operands."""

    given: list[tuple[str, str]] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)

    def has(self, *names: str) -> bool:
        """True when an option was given, also as an abbreviation of a long name."""
        return any(same_option(given, name) for given, _ in self.given for name in names)

    def has_exactly(self, *names: str) -> bool:
        """True when an option was given in full, abbreviations aside."""
        return any(given == name or given[2:] == name for given, _ in self.given for name in names)

    def values(self, *names: str) -> list[str]:
        return [value for given, value in self.given if any(same_option(given, name) for name in names)]


def same_option(given: str, name: str) -> bool:
    """Does the given option mean the named one? Long names may be cut short."""
    if given[:2] == "--":
        return len(name) > 1 and len(given) > 2 and name.startswith(given[2:])
    return given == name


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def read_options(
    args: Sequence[str], table: OptionTable, *, permute: bool = True, stop_at: Iterable[str] = ()
) -> Options:
    """Split arguments into options and operands. Without `permute` the first operand ends the options."""
    found = Options()
    stops = frozenset(stop_at)
    index = 0
    while index < len(args):
        arg = args[index]
        index += 1
        if arg == "--" or (not permute and not is_option(arg)) or arg in stops:
            found.rest.extend(args[index if arg == "--" else index - 1 :])
            break
        if not is_option(arg):
            found.rest.append(arg)
        elif arg.startswith("--") or table.single_dash:
            index = _long(found, args, index, arg.lstrip("-"), table)
        else:
            index = _letters(found, args, index, arg, table)
    return found


def is_option(arg: str) -> bool:
    return arg[:1] == "-" and arg != "-"


def _long(found: Options, args: Sequence[str], index: int, name: str, table: OptionTable) -> int:
    name, equals, value = name.partition("=")
    if not equals and index < len(args) and _takes_value(name, table):
        value = args[index]
        index += 1
    found.given.append(("--" + name.lower() if len(name) > 1 or not table.single_dash else name, value))
    return index


def _takes_value(name: str, table: OptionTable) -> bool:
    if name in table.names:
        return True
    return len(name) > 2 and any(known.startswith(name) for known in table.names)


def _letters(found: Options, args: Sequence[str], index: int, arg: str, table: OptionTable) -> int:
    for at in range(1, len(arg)):
        letter = arg[at]
        if letter in table.glued:
            found.given.append((letter, arg[at + 1 :]))
            break
        if letter not in table.letters:
            found.given.append((letter, ""))
            continue
        value = arg[at + 1 :]
        if not value and index < len(args):
            value = args[index]
            index += 1
        found.given.append((letter, value))
        break
    return index


def may_be_options(arg: str) -> bool:
    """A word whose beginning is not known may turn out to be an option."""
    return arg[:1] in (UNKNOWN, UNKNOWN_FIELDS)


def is_help(args: list[str]) -> bool:
    return bool(args) and (args[0] in ("--help", "--version", "--usage") or "--help" in args)
