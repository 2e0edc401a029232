"""Interpreters of other languages: where their program text is, and what it certainly does."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import effects
from echo_bot.policy.guards.shell.foreign import judge_foreign
from echo_bot.policy.guards.shell.foreigntext import string_value
from echo_bot.policy.guards.shell.marks import UNKNOWN, UNKNOWN_FIELDS, is_open, is_plain, shown, unglobbed
from echo_bot.policy.guards.shell.options import is_option, names
from echo_bot.policy.guards.shell.paths import resolve
from echo_bot.policy.guards.shell.started import started
from echo_bot.policy.guards.shell.trampoline import Steps, call

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine


@dataclass(frozen=True, slots=True)
class Interpreter:
    """How an interpreter takes its program.

    code, code_long: options whose value is program text. values, values_long: other options that take one.
    checks: options with which nothing runs. subcommand: a first operand that carries code (`deno eval`).
    reads_input: runs standard input when no file is named.
    """

    code: str = ""
    code_long: frozenset[str] = frozenset()
    values: str = ""
    values_long: frozenset[str] = frozenset()
    checks: frozenset[str] = frozenset()
    subcommand: frozenset[str] = frozenset()
    reads_input: bool = True
    glued: str = ""


def i(
    code: str = "",
    code_long: str = "",
    values: str = "",
    values_long: str = "",
    checks: str = "",
    subcommand: str = "",
    reads_input: bool = True,
    glued: str = "",
) -> Interpreter:
    return Interpreter(
        code,
        names(code_long),
        values,
        names(values_long),
        names(checks),
        names(subcommand),
        reads_input,
        glued,
    )


_PYTHON = i("c", values="WXQm", values_long="check-hash-based-pycs", checks="V version h help")
_PERL = i("eE", values="IMmCx", checks="c v V version help h", glued="0laiFdDsTtuUwWCxMmI")
_RUBY = i(
    "e",
    values="IrCEWFKTx",
    values_long="require encoding external-encoding",
    checks="c v version h help",
    glued="0aiKTWxF",
)
_NODE = i(
    "ep",
    "eval print",
    values="rC",
    values_long="require import loader conditions input-type env-file inspect-port title",
    checks="c check v version h help test",
)
_TABLE: tuple[tuple[str, Interpreter], ...] = (
    (r"(?:python|pythonw|pypy|jython|ipython|micropython|graalpy)(?:\d[\d.]*)?(?:\.exe)?", _PYTHON),
    (r"perl(?:\d[\d.]*)?", _PERL),
    (r"(?:ruby|jruby|truffleruby|irb|pry)(?:\d[\d.]*)?", _RUBY),
    (r"node(?:js)?(?:\.exe)?", _NODE),
    (
        r"(?:ts-node|tsx|babel-node|esr|jsc|qjs|quickjs|rhino|d8|js\d*|gjs)",
        i("epc", "eval print command", checks="version help"),
    ),
    (r"deno", i(subcommand="eval", checks="version help", reads_input=False)),
    (r"bun", i("ep", "eval print", checks="version help", reads_input=False)),
    (
        r"php(?:\d[\d.]*)?",
        i(
            "rBRE",
            "run process-begin process-code process-end",
            values="dczfFt",
            checks="l v version i m h help ini",
        ),
    ),
    (r"lua(?:jit)?(?:\d[\d.]*)?", i("e", values="l", checks="v")),
    (r"(?:rscript|r)", i("e", checks="version help", values_long="file default-packages", reads_input=False)),
    (r"julia", i("eEL", "eval print load", values="JptCH", checks="v version h help")),
    (r"(?:tclsh|wish|expect)(?:\d[\d.]*)?", i("c", checks="v version")),
    (r"osascript", i("e", values="ls")),
    (
        r"(?:jshell|groovysh|iex|erl|raku|rakudo|perl6|scala|kotlin|swift|ghci|ocaml|"
        r"racket|sbcl|clisp|ecl|gosh|chibi-scheme|octave|octave-cli|gnuplot|maxima|sage|pwsh)",
        i("e", "eval execute expression", checks="version help"),
    ),
    (
        r"(?:groovy|elixir|crystal|nim|ghc|runghc|runhaskell|stack|bb|dart)",
        i("e", "eval execute expression", checks="version help", reads_input=False),
    ),
    (r"(?:clojure|clj)", i("e", "eval", values="MXTAPSr", checks="version help", glued="MXTAPS")),
    (r"guile(?:\d[\d.]*)?", i("ce", checks="version help")),
    (r"emacs", i("", "eval execute", checks="version help", reads_input=False)),
    (r"emacsclient", i("e", "eval", values="sfaF", checks="version help", reads_input=False)),
)
_NAMES = re.compile("|".join(f"(?P<n{number}>{pattern})" for number, (pattern, _) in enumerate(_TABLE)))
_AWK = re.compile(r"(?:[gmn]?awk|original-awk|bwk|busybox-awk)\Z")


def interpreter_named(name: str) -> Interpreter | None:
    found = _NAMES.fullmatch(name)
    return _TABLE[int(str(found.lastgroup)[1:])][1] if found else None


def is_awk(name: str) -> bool:
    return _AWK.match(name) is not None


@dataclass(frozen=True, slots=True)
class Program:
    """What an interpreter is asked to run: code on the command line, a file, standard input, or nothing."""

    code: list[str]
    file: str | None
    operands: list[str]
    from_input: bool
    modules: list[str]


def find_program(args: list[str], entry: Interpreter) -> Program | None:
    """None where nothing is run (help, version, syntax check)."""
    code: list[str] = []
    modules: list[str] = []
    index = 0
    while index < len(args):
        arg = args[index]
        if not is_option(arg) or arg == "--":
            break
        index += 1
        if arg.startswith("--") or (len(arg) > 2 and arg[1:] in entry.checks | entry.code_long):
            name, equals, value = arg.lstrip("-").partition("=")
            if name in entry.checks:
                return None
            takes = name in entry.code_long or name in entry.values_long
            if takes and not equals and index < len(args):
                value = args[index]
                index += 1
            if name in entry.code_long:
                code.append(value)
            continue
        for at in range(1, len(arg)):
            letter = arg[at]
            following = arg[at + 1 :]
            if letter in entry.code:
                if following and set(following) <= set(entry.code):
                    continue
                if not following and index < len(args):
                    following = args[index]
                    index += 1
                code.append(following)
                break
            if letter in entry.checks:
                return None
            if letter in entry.glued and following and letter not in "waplnscdtTuUW":
                if letter in entry.values or letter in "iF":
                    modules.append(following)
                    break
                continue
            if letter in entry.values:
                if not following and index < len(args):
                    following = args[index]
                    index += 1
                modules.append(following)
                if letter == "m" and "c" in entry.code:
                    return Program([], None, args[index:], False, modules)
                break
        if code and entry.code == "c":
            break
    operands = args[index:]
    if operands[:1] == ["--"]:
        operands = operands[1:]
    if operands and operands[0] in entry.subcommand and not code:
        return Program(
            [word for word in operands[1:] if not is_option(word)][:1], None, operands[2:], False, modules
        )
    if code:
        return Program(code, None, operands, False, modules)
    if operands and operands[0] not in ("-", "/dev/stdin", "/dev/fd/0"):
        return Program([], operands[0], operands[1:], False, modules)
    return Program([], None, operands, entry.reads_input, modules)


_PRINTED = re.compile(
    r"\s*(?:print|puts|say|echo|console\.log|process\.stdout\.write|io\.write|sys\.stdout\.write|printf)"
    r"[\s(]*((?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'))[\s);]*\Z",
    re.DOTALL,
)


def printed(code: list[str]) -> str:
    """What a program prints that does nothing but print one literal text."""
    found = _PRINTED.match(code[0]) if len(code) == 1 else None
    return UNKNOWN if found is None else string_value(found.group(1)) + "\n"


def interpret(machine: Machine, inv: Invocation, entry: Interpreter) -> Steps[str]:
    program = find_program(inv.args, entry)
    if program is None:
        return UNKNOWN
    if program.code:
        machine.carries_code = True
        machine.ask("inline_interpreter", f"Runs program text given to {inv.name} on the command line.", inv)
        if inv.name == "osascript":
            for text in re.findall(r'do shell script "((?:[^"\\]|\\.)*)"', " ".join(program.code)):
                yield from call(machine.code(text.replace('\\"', '"'), inv.state.copy(), inv.stdin, inv.span))
        if inv.name.startswith(_TCL):
            yield from _tcl(machine, inv, "\n".join(program.code))
        for text in program.code:
            for line in re.findall(r"^\s*!+\s*(.+)", text, re.MULTILINE) if "ipython" in inv.name else ():
                yield from started(machine, inv, line)
            for folder in re.findall(r'\(delete-directory\s+"([^"]+)"\s+t\b', text):
                effects.delete_tree(machine, inv, folder)
            yield from judge_foreign(machine, inv, shown(text, machine.home), program.operands)
        return printed(program.code)
    elif program.file is not None:
        yield from _file(machine, inv, program.file)
    elif program.from_input and inv.stdin.text is not None:
        machine.carries_code = True
        text = inv.stdin.text
        kind = "pipe_to_shell" if is_open(text) else "inline_interpreter"
        machine.ask(kind, f"Feeds program text to {inv.name}, which runs it.", inv)
        if inv.name.startswith(_TCL):
            yield from _tcl(machine, inv, text)
        yield from judge_foreign(machine, inv, shown(text, machine.home), program.operands)
    return UNKNOWN


_TCL_COMMAND = re.compile(
    r"(?:^|[;\n\[{])\s*(?:exec|spawn|system|open\s*\"\|)\s+"
    r"((?:\{[^{}]*\}|\"(?:[^\"\\]|\\.)*\"|[^;\n\]}\"{])+)"
)
_TCL_WORD = re.compile(r"\"(?:[^\"\\]|\\.)*\"|\{([^{}]*)\}")
_TCL = ("tclsh", "wish", "expect")


def _tcl(machine: Machine, inv: Invocation, text: str) -> Steps[None]:
    """Tcl's exec, spawn and open: what stands behind them is a command line."""
    for found in _TCL_COMMAND.finditer(text):
        braced = _TCL_WORD.sub(
            lambda part: part.group() if part.group(1) is None else shlex.quote(part.group(1)), found.group(1)
        )
        yield from started(machine, inv, braced.strip())


def _file(machine: Machine, inv: Invocation, path: str) -> Steps[None]:
    if path.startswith(UNKNOWN_FIELDS) or path == UNKNOWN:
        machine.ask("inline_interpreter", f"What {inv.name} runs is not known before.", inv)
        return
    content = inv.state.files.get(resolve(path, inv.place))
    if content is not None:
        machine.carries_code = True
        if path.startswith("/dev/"):
            kind = "pipe_to_shell" if is_open(content) else "inline_interpreter"
            machine.ask(kind, f"Feeds program text to {inv.name}, which runs it.", inv)
        yield from judge_foreign(machine, inv, content, [])
    elif is_plain(path):
        machine.script_files.setdefault(shown(unglobbed(path), machine.home))
