"""What a shell would know while it runs the text: variables, functions, aliases, folder, files it wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from echo_bot.policy.guards.shell.marks import GLOB_SET, HOME, UNKNOWN, UNKNOWN_FIELDS
from echo_bot.policy.guards.shell.stream import Stream
from echo_bot.policy.guards.shell.syntax import Node

_KEYED = re.compile(f"[\\[{GLOB_SET}]([^\\]]*)\\]=(.*)\\Z", re.DOTALL)
Value = str | list[str]
MAX_ITEMS = 200
"""A list that the text makes longer step by step is not followed beyond this."""
_MAX_PATH = 1024
_INITIAL: dict[str, Value] = {
    "IFS": " \t\n",
    "BASH": "/bin/bash",
    "SHELL": "/bin/bash",
    "HOME": HOME,
    "_": "",
    "BASH_VERSION": "5.2.15(1)-release",
    "OSTYPE": "linux-gnu",
}


class Variables(dict[str, Value]):
    """Variables; while `before` is a dict, it gathers what each name held before it was set."""

    __slots__ = ("before",)

    def __init__(self, known: Mapping[str, Value]) -> None:
        super().__init__(known)
        self.before: dict[str, Value | None] | None = None

    def __setitem__(self, name: str, value: Value) -> None:
        if self.before is not None and name not in self.before:
            self.before[name] = self.get(name)
        super().__setitem__(name, value)


@dataclass(slots=True)
class State:
    """Everything assigned in the text so far; a name that was not may be in the environment."""

    cwd: str
    home: str
    variables: Variables = field(default_factory=lambda: Variables(_INITIAL))
    functions: dict[str, Node] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)
    positional: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    choices: dict[str, list[str]] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)
    script_name: str = "bash"
    stdin: Stream | None = None
    calls: tuple[str, ...] = ()
    in_background: bool = False
    is_definition: bool = False
    traps: list[tuple[str, State]] = field(default_factory=list)

    def copy(self) -> State:
        """A subshell's state: it starts as this one and changes nothing here.

        Written files and traps are shared.
        """
        return State(
            self.cwd,
            self.home,
            Variables(self.variables),
            dict(self.functions),
            dict(self.aliases),
            self.files,
            self.links,
            self.programs,
            list(self.positional),
            list(self.folders),
            dict(self.choices),
            dict(self.references),
            self.script_name,
            self.stdin,
            self.calls,
            self.in_background,
            self.is_definition,
            self.traps,
        )

    def lookup(self, name: str) -> Value | None:
        """A variable's value; None when nothing in the text sets it."""
        name = self.references.get(name, name)
        if name in self.variables:
            return self.variables[name]
        if name == "PWD":
            return self.cwd
        return None

    def assign(self, name: str, value: Value, append: bool = False) -> None:
        name = self.references.get(name, name)
        previous = self.variables.get(name)
        self.choices.pop(name, None)
        if append:
            if isinstance(value, list):
                before = previous if isinstance(previous, list) else [] if previous is None else [previous]
                value = before + value if len(before) < MAX_ITEMS else [UNKNOWN_FIELDS]
            elif isinstance(previous, list):
                value = [previous[0] + value, *previous[1:]] if previous else [value]
            else:
                value = (UNKNOWN if previous is None else previous) + value
        self.variables[name] = value

    def assign_items(self, name: str, items: list[str], append: bool) -> None:
        """`name=(…)`, with or without `[key]=` in front of the values."""
        keyed = [_KEYED.match(item) for item in items]
        self.assign(
            name,
            [found.group(2) if found else item for found, item in zip(keyed, items, strict=True)],
            append,
        )
        held = self.variables.get(name)
        for found in keyed:
            if found is not None:
                if isinstance(held, list) and re.fullmatch(r"[0-9]{1,3}", found.group(1)):
                    at = int(found.group(1))
                    held.extend([""] * (at + 1 - len(held)))
                    held[at] = found.group(2)
                self.variables[f"{name}[{found.group(1)}]"] = found.group(2)

    def assign_element(self, name: str, subscript: str, value: str, append: bool) -> None:
        """`name[subscript]=value`; a subscript that is no small number leaves the array unknown."""
        current = self.variables.get(name)
        items = list(current) if isinstance(current, list) else [] if current is None else [current]
        if subscript.isascii() and subscript.isdigit() and len(subscript) < 4:
            index = int(subscript)
            items.extend([""] * (index + 1 - len(items)))
            items[index] = items[index] + value if append else value
            self.variables[name] = items
        else:
            self.variables[name] = [*items, value]
            self.variables[f"{name}[{subscript}]"] = value

    def change_folder(self, path: str) -> None:
        self.variables["OLDPWD"] = self.cwd
        self.cwd = path if len(path) <= _MAX_PATH else UNKNOWN
        self.variables.pop("PWD", None)


def initial_state(cwd: str, home: str, env: Mapping[str, str]) -> State:
    """The state before the first command: the call's folder and its environment changes."""
    state = State(cwd=cwd or UNKNOWN, home=home or "/root")
    state.variables.update(env)
    return state
