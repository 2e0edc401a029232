"""Reads shell commands: lists, pipelines, compound commands, redirections and here-documents."""

from __future__ import annotations

import re

from echo_bot.policy.guards.shell.commandreader import CommandReader
from echo_bot.policy.guards.shell.syntax import (
    AndOr,
    Background,
    Compound,
    ForLoop,
    Function,
    Node,
    Parsed,
    Pipeline,
    Redirect,
    Redirected,
    Script,
    Word,
)
from echo_bot.policy.guards.shell.trampoline import Steps, TooDeep, call, run
from echo_bot.policy.guards.shell.wordreader import PartList, Unparsed

_FUNCTION = re.compile(r"([^ \t\n'\"\\$`|&;()<>]+)[ \t]*\([ \t]*\)")
_RESERVED = re.compile(
    r"(?:if|then|elif|else|fi|while|until|do|done|for|select|case|esac|function|coproc|time|\{|\}|\[\[|!)"
    r"(?=[ \t\n;|&()<>]|\\\n|\Z)"
)
_CLOSING_WORDS = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
_BEFORE_COMPOUND = re.compile(r"(\w+)[ \t]+(?=[{(]|(?:if|while|until|for|case|\[\[)(?=[ \t\n]))", re.ASCII)
_LOOKS_LIKE_COMMANDS = re.compile(r"[;'\"\n]|[A-Za-z_]\w*[ \t]+-[A-Za-z]|[A-Za-z]\w*[ \t]+[/~\w]", re.ASCII)
_TIME_OPTION = re.compile(r"(?:-p|--)(?=[ \t])")
_PARENTHESIS = frozenset(")")
_DO = frozenset({"do"})
_DONE = frozenset({"done"})
_THEN = frozenset({"then"})
_BRANCHES = frozenset({"elif", "else", "fi"})
_CASE_ENDS = frozenset({";;", ";&", ";;&", "esac"})


class Parser(CommandReader):
    """Reads one text as commands. Raises Unparsed where bash would refuse the line."""

    def nested_script(self, text: str) -> Steps[Script]:
        return Parser(text, detached=True).whole()

    def whole(self) -> Steps[Script]:
        script = yield from call(self.script(frozenset()))
        if self.position < self.end:
            raise Unparsed("text is left over")
        return script

    def at_closer(self, closers: frozenset[str]) -> bool:
        char = self.peek()
        if char == ")":
            return True
        if char == ";":
            return self.peek(2) in (";;", ";&")
        found = _RESERVED.match(self.text, self.position, self.end)
        return found is not None and found.group() in _CLOSING_WORDS

    def script(self, closers: frozenset[str]) -> Steps[Script]:
        commands: list[Node] = []
        yield from self.lines()
        while self.position < self.end:
            if self.at_closer(closers):
                if self.closer() in closers:
                    break
                raise Unparsed(f"unexpected {self.closer()!r}")
            commands.append((yield from self.and_or()))
            yield from self.separator(commands)
            yield from self.lines()
        return Script(tuple(commands))

    def closer(self) -> str:
        """The closing token at this position."""
        for token in (";;&", ";;", ";&", ")"):
            if self.peek(len(token)) == token:
                return token
        found = _RESERVED.match(self.text, self.position, self.end)
        return found.group() if found else ""

    def line(self) -> Steps[Script]:
        """One complete line (or as many as a compound command takes)."""
        commands: list[Node] = []
        while True:
            self.blanks()
            if self.position >= self.end:
                break
            if self.peek() == "\n":
                yield from self.newline()
                if commands:
                    break
                continue
            if self.at_closer(frozenset()):
                raise Unparsed(f"unexpected {self.closer()!r}")
            commands.append((yield from self.and_or()))
            yield from self.separator(commands)
        return Script(tuple(commands))

    def separator(self, commands: list[Node]) -> Steps[None]:
        self.blanks()
        pair = self.peek(2)
        if pair[:1] == ";" and pair not in (";;", ";&"):
            self.position += 1
        elif pair[:1] == "&" and pair != "&&":
            self.position += 1
            commands[-1] = Background(commands[-1])
        elif pair[:1] not in ("", "\n", ")", ";"):
            found = _RESERVED.match(self.text, self.position, self.end)
            if found is None or found.group() not in _CLOSING_WORDS:
                raise Unparsed(f"unexpected {pair[:1]!r}")
        return
        yield

    def and_or(self) -> Steps[Node]:
        commands = [(yield from self.pipeline())]
        while True:
            self.blanks()
            if self.peek(2) not in ("&&", "||"):
                break
            self.position += 2
            yield from self.lines()
            commands.append((yield from self.pipeline()))
        return commands[0] if len(commands) == 1 else AndOr(tuple(commands))

    def pipeline(self) -> Steps[Node]:
        self.prefixes()
        commands = [(yield from self.command())]
        while True:
            self.blanks()
            if self.peek() != "|" or self.peek(2) == "||":
                break
            self.position += 2 if self.peek(2) == "|&" else 1
            yield from self.lines()
            commands.append((yield from self.command()))
        return commands[0] if len(commands) == 1 else Pipeline(tuple(commands))

    def prefixes(self) -> None:
        """`!` and `time [-p]`, which change nothing that is judged."""
        while True:
            self.blanks()
            found = _RESERVED.match(self.text, self.position, self.end)
            if found is None or found.group() not in ("!", "time"):
                return
            start, self.position = self.position, found.end()
            if found.group() == "time":
                self.blanks()
                while option := _TIME_OPTION.match(self.text, self.position, self.end):
                    self.position = option.end()
                    self.blanks()
                if self.peek() == "-":
                    self.position = start
                    return

    def command(self) -> Steps[Node]:
        self.blanks()
        start = self.position
        opener = self.peek()
        found = _RESERVED.match(self.text, start, self.end)
        word = found.group() if found else ""
        node: Node
        if opener == "(":
            node = yield from self.parenthesised_command()
        elif word in _CLOSING_WORDS:
            raise Unparsed(f"unexpected {word!r}")
        elif word and word != "time":
            self.position += len(word)
            node = yield from self.reserved(word)
            if isinstance(node, Background | Function):
                return node
        elif (function := _FUNCTION.match(self.text, start, self.end)) and not self._is_glob(function):
            self.position = function.end()
            return Function(function.group(1), (yield from call(self.function_body())))
        else:
            return (yield from self.simple())
        return (yield from self.redirected(node, start))

    def _is_glob(self, found: re.Match[str]) -> bool:
        return "=" in found.group(1)

    def redirected(self, node: Node, start: int) -> Steps[Node]:
        redirects: list[Redirect] = []
        while True:
            self.blanks()
            redirect = yield from self.redirect()
            if redirect is None:
                break
            redirects.append(redirect)
        return Redirected(node, tuple(redirects), start, self.position) if redirects else node

    def parenthesised_command(self) -> Steps[Node]:
        start = self.position
        if self.peek(2) == "((" and self.may_be_arithmetic(start):
            parts = PartList()
            try:
                yield from self.arithmetic(parts, True, 2, "))")
            except Unparsed:
                self.refuse_arithmetic(start)
            else:
                return (yield from self.arithmetic_command(parts, start))
        self.position = start + 1
        body = yield from call(self.script(_PARENTHESIS))
        self.expect(")")
        return Compound("subshell", (body,))

    def arithmetic_command(self, parts: PartList, start: int) -> Steps[Node]:
        """`(( ))`; text that reads like commands is judged as such too, whichever way a shell takes it."""
        source = self.text[start + 2 : self.position - 2]
        bodies: tuple[Node, ...] = ()
        if _LOOKS_LIKE_COMMANDS.search(source):
            try:
                inner = Parser(source, detached=True)
                inner.retries = 0
                bodies = ((yield from call(inner.whole())),)
            except Unparsed:
                bodies = ()
        return Compound("arithmetic", bodies, (parts.word(start, self.position),))

    def reserved(self, word: str) -> Steps[Node]:
        if word == "{":
            body = yield from call(self.script(frozenset("}")))
            self.expect("}")
            return Compound("group", (body,))
        if word == "if":
            return (yield from self.if_command())
        if word in ("while", "until"):
            test = yield from call(self.script(_DO))
            self.expect("do")
            body = yield from call(self.script(_DONE))
            self.expect("done")
            return Compound("loop", (test, body))
        if word in ("for", "select"):
            return (yield from self.for_command())
        if word == "case":
            return (yield from self.case_command())
        if word == "[[":
            return (yield from self.test_command())
        if word == "function":
            self.blanks()
            name = self.plain_word() or (yield from self.word())
            self.blanks()
            if re.compile(r"\([ \t]*\)").match(self.text, self.position, self.end):
                self.position = self.text.index(")", self.position) + 1
            return Function(name.static or "", (yield from call(self.function_body())))
        if word == "coproc":
            self.blanks()
            named = _BEFORE_COMPOUND.match(self.text, self.position, self.end)
            if named and not _RESERVED.match(self.text, self.position, self.end):
                self.position = named.end()
            return Background((yield from call(self.command())))
        raise Unparsed(f"unexpected {word!r}")

    def function_body(self) -> Steps[Node]:
        yield from self.lines()
        return (yield from self.command())

    def if_command(self) -> Steps[Node]:
        """The first test runs in any case; then nothing, or one of the branches, each with its own test."""
        first: Node = yield from call(self.script(_THEN))
        self.expect("then")
        bodies: list[Node] = [Script(())]
        tests: tuple[Node, ...] = ()
        while True:
            body = yield from call(self.script(_BRANCHES))
            bodies.append(Compound("group", (*tests, body)) if tests else body)
            tests = ()
            word = self.closer()
            self.expect(word or "fi")
            if word == "fi":
                return Compound("group", (first, Compound("if", tuple(bodies))))
            if word == "elif":
                tests = ((yield from call(self.script(_THEN))),)
                self.expect("then")

    def for_command(self) -> Steps[Node]:
        self.blanks()
        if self.peek(2) == "((":
            parts = PartList()
            start = self.position
            yield from self.arithmetic(parts, True, 2, "))")
            header: tuple[Word, ...] = (parts.word(start, self.position),)
            body = yield from self.loop_body()
            return Compound("loop", (body,), header)
        name = self.plain_word() or (yield from self.word())
        yield from self.lines()
        items: list[Word] | None = None
        if re.compile(r"in(?=[ \t\n;]|\\\n)").match(self.text, self.position, self.end):
            self.position += 2
            items = []
            while True:
                self.blanks()
                if self.peek() in ("", ";", "\n"):
                    break
                items.append(self.plain_word() or (yield from self.word()))
        body = yield from self.loop_body()
        return ForLoop(name.static or "", None if items is None else tuple(items), body)

    def loop_body(self) -> Steps[Node]:
        self.blanks()
        if self.peek() == ";":
            self.position += 1
        yield from self.lines()
        if self.peek() == "{":
            self.position += 1
            body = yield from call(self.script(frozenset("}")))
            self.expect("}")
            return body
        self.expect("do")
        body = yield from call(self.script(_DONE))
        self.expect("done")
        return body

    def case_command(self) -> Steps[Node]:
        self.blanks()
        words = [self.plain_word() or (yield from self.word())]
        yield from self.lines()
        self.expect("in")
        bodies: list[Node] = []
        while True:
            yield from self.lines()
            if self.closer() == "esac":
                self.position += 4
                return Compound("case", tuple(bodies), tuple(words))
            yield from self.case_pattern(words)
            bodies.append((yield from call(self.script(_CASE_ENDS))))
            token = self.closer()
            if token != "esac":
                self.expect(token or ";;")

    def case_pattern(self, words: list[Word]) -> Steps[None]:
        if self.peek() == "(":
            self.position += 1
        while True:
            self.blanks()
            words.append((yield from self.word()))
            self.blanks()
            if self.peek() != "|":
                break
            self.position += 1
        self.expect(")")

    def test_command(self) -> Steps[Node]:
        """`[[ ]]`: its words, whatever operators join them."""
        words: list[Word] = []
        while True:
            yield from self.lines()
            if self.position >= self.end:
                raise Unparsed("[[ is not closed")
            if self.peek(2) == "]]":
                self.position += 2
                return Compound("test", (), tuple(words))
            if self.peek() in "()&|<>;":
                self.position += 1
                continue
            words.append((yield from self.word()))


def parse(text: str) -> Parsed:
    """Read a whole text; on an error the complete lines before it are kept, as bash would have run them."""
    parsed = Parsed()
    parser = Parser(text)
    try:
        while parser.position < parser.end:
            line = run(parser.line())
            if line.commands:
                parsed.lines.append(line)
    except (Unparsed, TooDeep) as error:
        parsed.error = str(error) or "not understood"
    return parsed
