"""Turns words into the fields a command receives: braces, tilde, parameters, substitutions, splitting."""

from __future__ import annotations

import re
from typing import Protocol

from echo_bot.policy.guards.shell.braces import TooManyWords, expand_braces, has_braces
from echo_bot.policy.guards.shell.calculate import calculated
from echo_bot.policy.guards.shell.marks import (
    HOME,
    ITEM,
    UNKNOWN,
    UNKNOWN_FIELDS,
    collapsed,
    globbed,
    is_open,
    shown,
    unglobbed,
)
from echo_bot.policy.guards.shell.parameters import recased, replaced, sliced, trimmed
from echo_bot.policy.guards.shell.state import State, Value
from echo_bot.policy.guards.shell.syntax import (
    Arithmetic,
    ArrayLiteral,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
    Script,
    Substitution,
    Word,
)
from echo_bot.policy.guards.shell.trampoline import Steps, call

_TILDE = re.compile(r"~([\w.+-]*)(?=/|:|\Z)")
_DYNAMIC = frozenset({"RANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "BASHPID", "PPID", "UID", "EUID"})


class Runner(Protocol):
    """What expansion needs from the evaluation: running what is inside a substitution."""

    def substitution(self, part: Substitution, state: State) -> Steps[str]: ...

    def process_substitution(self, script: Script, direction: str, state: State) -> Steps[str]: ...

    def expanded_text(self, text: str, state: State) -> Steps[str]: ...

    def charge(self, amount: int) -> None: ...


class FieldList:
    """Fields under construction: text is added to the open field until a separator closes it."""

    __slots__ = ("fields", "open")

    def __init__(self) -> None:
        self.fields: list[str] = []
        self.open: list[str] | None = None

    def add(self, text: str) -> None:
        if self.open is None:
            self.open = [text]
        else:
            self.open.append(text)

    def close(self) -> None:
        if self.open is not None:
            self.fields.append("".join(self.open))
            self.open = None

    def split(self, value: str, separators: str) -> None:
        """Add an unquoted value: split at IFS, its glob characters active."""
        if value == UNKNOWN:
            self.add(UNKNOWN_FIELDS)
            return
        value = globbed(value)
        if not separators:
            if value:
                self.add(value)
            return
        pieces = re.split("[" + re.escape(separators) + "]+", value)
        for index, piece in enumerate(pieces):
            if index:
                self.close()
            if piece:
                self.add(piece)


def expand_fields(word: Word, state: State, runner: Runner) -> Steps[list[str]]:
    """All fields of a word, as an argument."""
    if word.static is not None:
        return [word.static]
    if not has_braces(word.parts):
        return (yield from _fields(word.parts, state, runner))
    try:
        words = expand_braces(word.parts)
    except TooManyWords:
        return [UNKNOWN_FIELDS]
    fields: list[str] = []
    for parts in words:
        runner.charge(len(parts))
        fields.extend((yield from _fields(parts, state, runner)))
    return fields


def expand_text(word: Word, state: State, runner: Runner, is_pattern: bool = False) -> Steps[str]:
    """A word as one value: no splitting, no globbing (assignments, here-documents, redirections)."""
    if word.static is not None:
        return word.static
    out = FieldList()
    for index, part in enumerate(word.parts):
        if isinstance(part, Literal) and not part.quoted:
            text = _tilde(part.text, state) if index == 0 or part.text[:1] == ":" else part.text
            out.add(globbed(text) if is_pattern else text)
        else:
            yield from _part(part, state, runner, out, splitting=False)
    out.close()
    text = collapsed(" ".join(out.fields))
    runner.charge(len(text) // 64)
    if text.isascii():
        return text
    return text if is_pattern else unglobbed(text).replace(UNKNOWN_FIELDS, UNKNOWN)


def _fields(parts: tuple[Part, ...], state: State, runner: Runner) -> Steps[list[str]]:
    out = FieldList()
    for index, part in enumerate(parts):
        if isinstance(part, Literal):
            if part.quoted:
                out.add(part.text)
            else:
                text = part.text
                if "~" in text and (index == 0 or text[0] in ":="):
                    text = _tilde(text, state)
                out.add(globbed(text))
        else:
            yield from _part(part, state, runner, out, splitting=True)
    out.close()
    runner.charge(sum(map(len, out.fields)) // 64)
    return out.fields


def _tilde(text: str, state: State) -> str:
    """`~`, `~user`, and tildes behind `=` or `:` as in an assignment."""
    if "~" not in text:
        return text

    def replace(found: re.Match[str]) -> str:
        before = text[found.start() - 1 : found.start()] if found.start() else ""
        if before not in ("", "=", ":"):
            return found.group()
        name = found.group(1)
        if name == "":
            home = state.variables.get("HOME", HOME)
            return home if isinstance(home, str) else UNKNOWN
        if name == "+":
            return state.cwd
        if name == "-":
            return UNKNOWN
        return "/root" if name == "root" else f"/home/{name}"

    return _TILDE.sub(replace, text)


def _part(part: Part, state: State, runner: Runner, out: FieldList, splitting: bool) -> Steps[None]:
    if isinstance(part, Literal):
        out.add(part.text)
    elif isinstance(part, Parameter):
        yield from _parameter(part, state, runner, out, splitting)
    elif isinstance(part, Substitution):
        value = yield from call(runner.substitution(part, state))
        _place(value, part.quoted or not splitting, state, out)
    elif isinstance(part, Arithmetic):
        text = yield from call(expand_text(part.body, state, runner))
        out.add(calculated(text, state))
    elif isinstance(part, ProcessSubstitution):
        out.add((yield from call(runner.process_substitution(part.script, part.direction, state))))
    else:
        assert isinstance(part, ArrayLiteral)
        for word in part.words:
            for field in (yield from call(expand_fields(word, state, runner))):
                out.add(ITEM + field)


def _place(value: str, quoted: bool, state: State, out: FieldList) -> None:
    if quoted:
        out.add(value)
    else:
        separators = state.variables.get("IFS", " \t\n")
        out.split(value, separators if isinstance(separators, str) else " \t\n")


def _parameter(part: Parameter, state: State, runner: Runner, out: FieldList, splitting: bool) -> Steps[None]:
    quoted = part.quoted or not splitting
    value = yield from _value(part, state, runner)
    if isinstance(value, str):
        _place(value, quoted, state, out)
        return
    runner.charge(len(value) // 4)
    star = part.name == "*" or part.subscript == "*"
    if quoted and (star or not splitting):
        separators = state.variables.get("IFS", " ")
        out.add((separators[:1] if isinstance(separators, str) else " ").join(value))
        return
    for index, item in enumerate(value):
        if index:
            out.close()
        if quoted:
            out.add(item)
        else:
            _place(item, False, state, out)


def _stored(part: Parameter, state: State) -> Value | None:
    """The parameter's own value, before any operator; None when nothing sets it."""
    name = part.name
    if name in ("@", "*"):
        return list(state.positional)
    if name == "0":
        return state.script_name
    if name.isdigit():
        index = int(name) - 1
        return state.positional[index] if index < len(state.positional) else _absent(state)
    if name == "#":
        return UNKNOWN if UNKNOWN_FIELDS in state.positional else str(len(state.positional))
    if name in ("?", "$", "!", "-") or name in _DYNAMIC:
        return UNKNOWN
    value = state.lookup(name)
    if part.subscript is None:
        return value[0] if isinstance(value, list) and value else "" if value == [] else value
    if part.subscript in ("@", "*"):
        return value if isinstance(value, list) or value is None else [value]
    if value is None:
        return None
    items = value if isinstance(value, list) else [value]
    index_text = part.subscript.strip()
    if re.fullmatch(r"-?\d{1,4}", index_text):
        index = int(index_text)
        return items[index] if -len(items) <= index < len(items) else ""
    direct = state.variables.get(f"{name}[{part.subscript}]")
    if isinstance(direct, str):
        return direct
    number = calculated(index_text, state)
    return items[int(number)] if number.isdigit() and int(number) < len(items) else UNKNOWN


def _absent(state: State) -> str | None:
    return None if UNKNOWN_FIELDS in state.positional else ""


def _value(part: Parameter, state: State, runner: Runner) -> Steps[Value]:
    value = _stored(part, state)
    if part.subscript and ("$(" in part.subscript or "`" in part.subscript):
        yield from call(runner.expanded_text(part.subscript, state))
    if part.indirect:
        name = value if isinstance(value, str) else ""
        value = _stored(Parameter(name, False), state) if name and not is_open(name) else None
    if part.length:
        known = isinstance(value, str) and not is_open(value)
        return str(len(value)) if isinstance(value, list) or (known and value is not None) else UNKNOWN
    if not part.operator:
        return UNKNOWN if value is None else value
    argument = ""
    if part.argument is not None:
        is_pattern = part.operator[0] in "#%/"
        argument = yield from call(expand_text(part.argument, state, runner, is_pattern))
    operator = part.operator
    if operator.lstrip(":")[:1] in ("-", "=", "+", "?") and operator != ":":
        return _default(part, operator.lstrip(":"), value, argument, state)
    if value is None:
        return UNKNOWN
    if operator == "@" and argument == "P" and isinstance(value, str):
        return (yield from call(runner.expanded_text(value, state)))
    runner.charge(len(value) // 16 if isinstance(value, str) else sum(map(len, value)) // 16)
    if isinstance(value, list):
        if operator == ":":
            return _sliced_list(value, argument)
        return [_operated(item, operator, argument, state) for item in value]
    return _operated(value, operator, argument, state)


def _default(part: Parameter, operator: str, value: Value | None, argument: str, state: State) -> Value:
    is_set = value is not None and value != "" and value != []
    if operator == "+":
        return argument if is_set else UNKNOWN if value is None else ""
    if is_set and value is not None:
        return value
    if operator == "?":
        return UNKNOWN
    if operator == "=":
        state.assign(part.name, argument)
    return argument


def _sliced_list(items: list[str], argument: str) -> list[str]:
    offset, _, length = argument.partition(":")
    if re.fullmatch(r"\s*-\d{1,4}\s*", offset) and UNKNOWN_FIELDS not in items:
        items = items[int(offset) :]
        return items[: int(length)] if re.fullmatch(r"\s*[0-9]{1,4}\s*", length) else items
    if not re.fullmatch(r"\s*\d{1,4}\s*", offset) or not re.fullmatch(r"\s*\d{0,4}\s*", length):
        return [UNKNOWN_FIELDS]
    start = max(int(offset) - 1, 0)
    return items[start : start + int(length)] if length.strip() else items[start:]


def _operated(value: str, operator: str, argument: str, state: State) -> str:
    if HOME in value:
        value = shown(value, state.home)
    if operator in ("#", "##", "%", "%%"):
        return trimmed(value, operator, argument)
    if operator in ("/", "//"):
        return replaced(value, operator, argument)
    if operator == ":":
        return sliced(value, calculated(argument, state) if argument.count(":") == 0 else argument)
    if operator[0] in "^,~":
        return recased(value, operator)
    if operator == "@":
        return {"U": value.upper(), "L": value.lower(), "u": value[:1].upper() + value[1:], "Q": value}.get(
            argument, value
        )
    return UNKNOWN
