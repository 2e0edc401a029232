"""Walks a parsed command: values flow, nothing runs, every simple command is judged on the way."""

from __future__ import annotations

from collections.abc import Callable

from echo_bot.policy.decision import Finding, Verdict
from echo_bot.policy.guards.shell.expand import expand_fields, expand_text
from echo_bot.policy.guards.shell.invocation import Invocation
from echo_bot.policy.guards.shell.marks import GLOB_SET, UNKNOWN, UNKNOWN_FIELDS, is_plain, shown, unglobbed
from echo_bot.policy.guards.shell.parser import parse
from echo_bot.policy.guards.shell.redirects import connected, written
from echo_bot.policy.guards.shell.report import SimpleCommand
from echo_bot.policy.guards.shell.state import MAX_ITEMS, State, Value
from echo_bot.policy.guards.shell.stream import Stream
from echo_bot.policy.guards.shell.syntax import (
    AndOr,
    ArrayLiteral,
    Assignment,
    Background,
    Compound,
    ForLoop,
    Function,
    Node,
    Parameter,
    Pipeline,
    Redirected,
    Script,
    Simple,
    Substitution,
)
from echo_bot.policy.guards.shell.trampoline import Steps, Stopped, call
from echo_bot.policy.guards.shell.wordreader import WordReader

_MAX_TEXT = 1 << 20
_MAX_VALUE = 1 << 9
_MAX_COMBINATIONS = 8


class BudgetSpent(Stopped):
    """The steps this text may cost are used up."""


Dispatch = Callable[["Machine", Invocation], Steps[str]]


class Machine:
    """Walks commands iteratively under a step budget and collects what the report says."""

    def __init__(self, text: str, home: str, dispatch: Dispatch, only_hard: bool = False) -> None:
        self.text = text
        self.home = home
        self.dispatch = dispatch
        self.only_hard = only_hard
        self.budget = 20_000 + 4 * len(text)
        self.findings: dict[tuple[str, Verdict, tuple[int, int] | None], Finding] = {}
        self.commands: list[SimpleCommand] = []
        self.script_files: dict[str, None] = {}
        self.carries_code = False
        self.complete = True
        self.asks_at_most = False
        self.loops = 0
        self.longest = _MAX_VALUE
        self.fixed_span: tuple[int, int] | None = None
        self.waiting_outputs: list[Script] = []

    def charge(self, amount: int) -> None:
        self.budget -= amount
        if self.budget < 0:
            raise BudgetSpent

    def find(self, kind: str, verdict: Verdict, sentence: str, span: tuple[int, int] | None) -> None:
        if self.only_hard and verdict is not Verdict.DENY:
            return
        self.findings.setdefault((kind, verdict, span), Finding(kind, verdict, sentence, "", span))

    def ask(self, kind: str, sentence: str, inv: Invocation) -> None:
        self.find(kind, Verdict.ASK, sentence, inv.span)

    def deny(self, kind: str, sentence: str, inv: Invocation) -> None:
        self.find(kind, Verdict.ASK if self.asks_at_most else Verdict.DENY, sentence, inv.span)

    def span_of(self, start: int, end: int) -> tuple[int, int]:
        return self.fixed_span or (start, end)

    # -- code inside code

    def code(self, text: str, state: State, stdin: Stream, span: tuple[int, int]) -> Steps[str]:
        """Run text as a shell program in this state."""
        self.charge(8 + len(text) // 8 + (len(state.variables) + len(state.aliases)) // 16)
        if text.strip(UNKNOWN + UNKNOWN_FIELDS + " \t\n") == "":
            return ""
        parsed = parse(text)
        saved, self.fixed_span = self.fixed_span, span
        output: list[str] = []
        try:
            for line in parsed.lines:
                text = yield from call(self.node(line, state, stdin))
                output.append(text)
        finally:
            self.fixed_span = saved
        if parsed.error:
            self.find("unparsed", Verdict.ASK, "Part of this is no readable shell text.", span)
            self.complete = False
            output.append(UNKNOWN)
        return "".join(output)

    def substitution(self, part: Substitution, state: State) -> Steps[str]:
        self.charge(4)
        saved = self.fixed_span
        if part.detached and saved is None:
            self.fixed_span = (part.start, part.end)
        try:
            output = yield from call(self.node(part.script, self.subshell(state), Stream()))
        finally:
            self.fixed_span = saved
        return output.rstrip("\n") if len(output) < _MAX_TEXT else UNKNOWN

    def process_substitution(self, script: Script, direction: str, state: State) -> Steps[str]:
        path = f"/dev/fd/{63 + len(state.files)}"
        if direction == ">":
            self.waiting_outputs.append(script)
            return path
        state.files[path] = yield from call(self.node(script, self.subshell(state), Stream()))
        return path

    def expanded_text(self, text: str, state: State) -> Steps[str]:
        """Expand text once more, as a prompt or a subscript is."""
        from echo_bot.policy.guards.shell.parser import Parser
        from echo_bot.policy.guards.shell.wordreader import Unparsed

        self.charge(8 + len(text) // 8)
        reader: WordReader = Parser(text, detached=True)
        try:
            word = yield from call(reader.here_body())
        except Unparsed:
            self.find("unparsed", Verdict.ASK, "Text that is expanded again cannot be read.", self.fixed_span)
            return UNKNOWN
        return (yield from expand_text(word, state, self))

    def subshell(self, state: State) -> State:
        self.charge(2 + len(state.variables) // 16 + len(state.functions) // 16)
        return state.copy()

    # -- nodes

    def node(self, node: Node, state: State, stdin: Stream) -> Steps[str]:
        """Run one node; the result is what it writes to standard output."""
        self.charge(1)
        if isinstance(node, Simple):
            return (yield from self.simple(node, state, stdin))
        if isinstance(node, Script):
            return (yield from self.sequence(node.commands, state, stdin))
        if isinstance(node, AndOr):
            return (yield from self.and_or(node, state, stdin))
        if isinstance(node, Pipeline):
            return (yield from self.pipeline(node, state, stdin))
        if isinstance(node, Redirected):
            return (yield from self.redirected(node, state, stdin))
        if isinstance(node, Background):
            inner = self.subshell(state)
            inner.in_background = True
            return (yield from call(self.node(node.command, inner, stdin)))
        if isinstance(node, Compound):
            return (yield from self.compound(node, state, stdin))
        if isinstance(node, ForLoop):
            return (yield from self.for_loop(node, state, stdin))
        return (yield from self.define(node, state))

    def sequence(self, commands: tuple[Node, ...], state: State, stdin: Stream) -> Steps[str]:
        if len(commands) == 1:
            return (yield from call(self.node(commands[0], state, stdin)))
        output: list[str] = []
        for command in commands:
            text = yield from call(self.node(command, state, stdin))
            if text:
                output.append(text)
        return self.limited("".join(output))

    def and_or(self, node: AndOr, state: State, stdin: Stream) -> Steps[str]:
        """`a && b || c`: all may run; a variable that a later one sets may also keep its value."""
        output = [(yield from call(self.node(node.commands[0], state, stdin)))]
        for command in node.commands[1:]:
            self.charge(1)
            outer, changed = state.variables.before, dict[str, Value | None]()
            state.variables.before = changed
            output.append((yield from call(self.node(command, state, stdin))))
            state.variables.before = outer
            for name, old in changed.items():
                value = state.variables.get(name)
                if outer is not None:
                    outer.setdefault(name, old)
                if (
                    isinstance(value, str)
                    and isinstance(old, str)
                    and value != old
                    and name not in ("_", "OLDPWD")
                ):
                    state.choices[name] = [old, value]
        return self.limited("".join(output))

    def kept(self, value: str) -> str:
        """A value that is stored: not known when it has grown beyond every word of the text."""
        return value if len(value) <= self.longest else UNKNOWN

    def limited(self, text: str) -> str:
        self.charge(len(text) // 64)
        return text if len(text) <= _MAX_TEXT else UNKNOWN

    def pipeline(self, node: Pipeline, state: State, stdin: Stream) -> Steps[str]:
        text = ""
        for index, command in enumerate(node.commands):
            inner = self.subshell(state)
            inner.in_background = True
            source = Stream(text) if index else stdin
            text = self.limited((yield from call(self.node(command, inner, source))))
        return text

    def redirected(self, node: Redirected, state: State, stdin: Stream) -> Steps[str]:
        own = yield from connected(self, node.redirects, state)
        output = yield from call(self.node(node.command, state, own.stdin or stdin))
        return (yield from written(self, own, output, state))

    def compound(self, node: Compound, state: State, stdin: Stream) -> Steps[str]:
        for word in node.words:
            values = yield from expand_fields(word, state, self)
            if node.kind in ("test", "arithmetic"):
                yield from self.subscripts(values, state)
        if node.kind == "subshell":
            state = self.subshell(state)
        if node.kind in ("if", "case"):
            return (yield from self.branches(node, state, stdin))
        if node.kind == "loop":
            return (yield from self.loop(node, state, stdin))
        return (yield from self.sequence(node.bodies, state, stdin))

    def subscripts(self, values: list[str], state: State) -> Steps[None]:
        """A subscript in text that the shell reads as a name is expanded again: `[[ -v 'x[$(cmd)]' ]]`."""
        for value in values:
            if "[" in unglobbed(value) and ("$(" in value or "`" in value):
                yield from call(self.expanded_text(value, state))

    def branches(self, node: Compound, state: State, stdin: Stream) -> Steps[str]:
        """Every branch is run from the same start; variables may then hold any branch's value."""
        output: list[str] = []
        ends: list[State] = []
        for body in node.bodies:
            inner = self.subshell(state)
            inner.variables.before = {}
            output.append((yield from call(self.node(body, inner, stdin))))
            ends.append(inner)
        for end in ends:
            state.functions.update(end.functions)
            state.aliases.update(end.aliases)
            if end.cwd != state.cwd:
                state.change_folder(end.cwd)
        names = {
            name
            for end in ends
            for name in end.variables.before or ()
            if state.variables.get(name) != end.variables.get(name)
        }
        for name in names:
            values = [end.variables[name] for end in ends if name in end.variables]
            changed = [value for value in values if value != state.variables.get(name)]
            texts = list(dict.fromkeys(v for v in values if isinstance(v, str)))
            state.assign(name, changed[-1])
            if len(texts) > 1:
                state.choices[name] = texts
        return self.limited("".join(output))

    def loop(self, node: Compound, state: State, stdin: Stream) -> Steps[str]:
        """Once, and again for as long as the loop eats known lines of its input."""
        output: list[str] = []
        while True:
            before = stdin.text
            self.loops += 1
            output.append((yield from self.sequence(node.bodies, state, stdin)))
            self.loops -= 1
            if not stdin.text or stdin.text == before or stdin.text == UNKNOWN:
                return self.limited("".join(output))

    def for_loop(self, node: ForLoop, state: State, stdin: Stream) -> Steps[str]:
        items: list[str] = []
        if node.items is None:
            items = list(state.positional)
        else:
            for word in node.items:
                items.extend((yield from expand_fields(word, state, self)))
        output: list[str] = []
        for item in items or [UNKNOWN]:
            if node.variable:
                state.assign(node.variable, UNKNOWN if item == UNKNOWN_FIELDS else item)
            output.append((yield from call(self.node(node.body, state, stdin))))
        return self.limited("".join(output))

    def define(self, node: Function, state: State) -> Steps[str]:
        """A function's body is judged where it is defined, with arguments that are not known yet."""
        state.functions[node.name] = node.body
        inner = self.subshell(state)
        inner.positional = [UNKNOWN_FIELDS]
        inner.calls, inner.is_definition = (*state.calls, node.name), True
        yield from call(self.node(node.body, inner, Stream(UNKNOWN)))
        return ""

    # -- simple commands

    def simple(self, node: Simple, state: State, stdin: Stream) -> Steps[str]:
        """A simple command, once for every value that a variable in it may have after a branch."""
        if not state.choices:
            return (yield from self.simple_once(node, state, stdin))
        names = [
            part.name
            for word in node.words
            for part in word.parts
            if isinstance(part, Parameter) and part.name in state.choices
        ]
        output = ""
        tried = 0
        for name in dict.fromkeys(names):
            for value in state.choices[name]:
                tried += 1
                if tried > _MAX_COMBINATIONS * 8:
                    raise BudgetSpent
                inner = self.subshell(state)
                inner.variables[name] = value
                yield from self.simple_once(node, inner, Stream(stdin.text))
        output = yield from self.simple_once(node, state, stdin)
        return UNKNOWN if tried else output

    def simple_once(self, node: Simple, state: State, stdin: Stream) -> Steps[str]:
        self.charge(2 + len(node.words))
        span = self.span_of(node.start, node.end)
        argv: list[str] = []
        for word in node.words:
            if word.end - word.start > self.longest:
                self.longest = word.end - word.start
            if word.static is not None:
                argv.append(word.static)
            else:
                argv.extend((yield from expand_fields(word, state, self)))
        if argv and argv[0] == GLOB_SET:
            argv[0] = "["
        if not argv:
            yield from self.assignments(node.assignments, state)
            self.record(node, argv)
            own = yield from connected(self, node.redirects, state)
            return (yield from written(self, own, "", state))
        env: dict[str, str] = {}
        for assignment in node.assignments:
            env[assignment.name] = yield from expand_text(assignment.value, state, self)
        self.record(node, argv)
        waiting, self.waiting_outputs = self.waiting_outputs, []
        own = yield from connected(self, node.redirects, state)
        if argv == ["exec"] and own.stdin is not None:
            state.stdin = own.stdin
        given = own.stdin or (state.stdin if stdin.text is None else None) or stdin
        inv = Invocation(argv, state, given, span, env, waiting)
        output = yield from call(self.dispatch(self, inv))
        for script in waiting:
            yield from call(self.node(script, self.subshell(state), Stream(output)))
        if argv[-1:] and node.words:
            state.variables["_"] = argv[-1]
        return (yield from written(self, own, output, state))

    def record(self, node: Simple, argv: list[str]) -> None:
        words = tuple(
            unglobbed(word) if (is_plain(word) and word.isascii()) or is_plain(word) else None
            for word in argv
        )
        known = tuple(None if word is None else shown(word, self.home) for word in words)
        self.commands.append(SimpleCommand(known, node.source, not node.redirects and not node.assignments))

    def assignments(self, assignments: tuple[Assignment, ...], state: State) -> Steps[None]:
        for assignment in assignments:
            yield from self.assign(assignment, state)

    def assign(self, node: Assignment, state: State) -> Steps[None]:
        array = node.value.parts[0] if node.value.parts else None
        if isinstance(array, ArrayLiteral):
            items: list[str] = []
            for word in array.words:
                items.extend((yield from expand_fields(word, state, self)))
            grown = len(items) > max(MAX_ITEMS, len(array.words))
            state.assign_items(node.name, [UNKNOWN_FIELDS] if grown else items, node.append)
            return
        self.longest = max(self.longest, node.value.end - node.value.start)
        value = yield from expand_text(node.value, state, self)
        if node.append and node.subscript is None and isinstance(old := state.lookup(node.name), str):
            state.assign(node.name, self.kept(old + value))
            return
        value = self.kept(value)
        if node.subscript is not None:
            subscript = yield from call(self.expanded_text(node.subscript, state))
            state.assign_element(node.name, subscript.strip("'\""), value, node.append)
        else:
            state.assign(node.name, value, node.append)
