"""Reads shell words: quoting, expansions and substitutions, with nothing unescaped before its time."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from echo_bot.policy.guards.shell.marks import GLOB_STAR
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
from echo_bot.policy.guards.shell.trampoline import Steps, Stopped, call
from echo_bot.policy.guards.shell.unescape import ansi_c

_PLAIN_WORD = re.compile(r"(?:[\w./:=@%+,^-]+|'[^']*'|\"[^\"\\$`]*\")(?=[ \t\n;|&)]|[<>](?!\()|\Z)")
_UNQUOTED_RUN = re.compile(r"[^ \t\n'\"\\$`|&;()<>]+")
_DOUBLE_QUOTED_RUN = re.compile(r'[^"\\$`]+')
_HERE_RUN = re.compile(r"[^\\$`]+")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_PARAMETER = re.compile(r"[A-Za-z_]\w*|[0-9]+|[@*#?$!-]", re.ASCII)
_SPECIAL = "0123456789@*#?$!-"
_BACKTICKED = re.compile(r"(?:[^`\\]|\\.)*`", re.DOTALL)
_ANSI_C = re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL)
_OPERATORS = re.compile(r":?[-=?+]|##?|%%?|//?|\^\^?|,,?|~~?|@|:")
_PATTERN_OPERATORS = frozenset({"#", "##", "%", "%%", "/", "//", "^", "^^", ",", ",,", "~", "~~"})
_ASSIGNING = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=\Z", re.ASCII)
_ACTIVE = frozenset("*?[{~")
_MAX_ARITHMETIC_RETRIES = 8


class Unparsed(Stopped):
    """The text is no shell program, or none that is understood."""


class PartList:
    """Collects a word's parts; neighbouring literals of one kind become one."""

    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts: list[Part] = []

    def text(self, text: str, quoted: bool) -> None:
        last = self.parts[-1] if self.parts else None
        if isinstance(last, Literal) and last.quoted == quoted and len(last.text) < 256:
            self.parts[-1] = Literal(last.text + text, quoted)
        else:
            self.parts.append(Literal(text, quoted))

    def word(self, start: int, end: int) -> Word:
        pieces: list[str] = []
        for part in self.parts:
            if not isinstance(part, Literal) or (not part.quoted and not _ACTIVE.isdisjoint(part.text)):
                return Word(tuple(self.parts), start, end)
            pieces.append(part.text)
        return Word(tuple(self.parts), start, end, "".join(pieces))


class WordReader(ABC):
    """A position in a text, and the readers of everything that can be part of a word."""

    def __init__(self, text: str, position: int = 0, end: int | None = None, detached: bool = False) -> None:
        self.text = text
        self.position = position
        self.end = len(text) if end is None else end
        self.detached = detached
        self.retries = _MAX_ARITHMETIC_RETRIES
        self.not_arithmetic: set[int] = set()
        self.next_double = -1

    @abstractmethod
    def script(self, closers: frozenset[str]) -> Steps[Script]:
        """Read commands up to one of the closers, which is left unread."""

    @abstractmethod
    def nested_script(self, text: str) -> Steps[Script]:
        """Read a whole other text as commands."""

    def peek(self, length: int = 1) -> str:
        return self.text[self.position : self.position + length]

    def expect(self, token: str) -> None:
        if self.peek(len(token)) != token:
            raise Unparsed(f"expected {token!r}")
        self.position += len(token)

    def plain_word(self) -> Word | None:
        """The next word where it holds nothing special at all."""
        found = _PLAIN_WORD.match(self.text, self.position, self.end)
        if found is None:
            return None
        start, self.position = self.position, found.end()
        value = found.group()
        if value[0] in "'\"":
            value = value[1:-1]
            return Word((Literal(value, True),), start, self.position, value)
        return Word((Literal(value, False),), start, self.position, value)

    def word(self) -> Steps[Word]:
        """The next word, up to an unquoted blank or operator."""
        start = self.position
        parts = PartList()
        while self.position < self.end:
            found = _UNQUOTED_RUN.match(self.text, self.position, self.end)
            if found is not None:
                parts.text(found.group(), False)
                self.position = found.end()
                continue
            char = self.text[self.position]
            if char in "<>" and self.peek(2)[1:] == "(":
                self.position += 2
                script = yield from call(self.script(frozenset(")")))
                self.expect(")")
                parts.parts.append(ProcessSubstitution(script, char))
            elif char == "(":
                more = yield from self.parenthesis(parts)
                if not more:
                    break
            elif char in " \t\n;|&)<>":
                break
            else:
                yield from self.special(char, parts)
        if self.position == start:
            raise Unparsed("expected a word")
        return parts.word(start, self.position)

    def parenthesis(self, parts: PartList) -> Steps[bool]:
        """`name=( … )` or an extended glob; False when the parenthesis does not belong to the word."""
        last = parts.parts[-1] if parts.parts else None
        if not isinstance(last, Literal) or last.quoted:
            return False
        if _ASSIGNING.match(last.text) and len(parts.parts) == 1:
            parts.parts.append((yield from call(self.array())))
            return True
        if last.text[-1] in "@!*?+":
            parts.parts[-1] = Literal(last.text[:-1], False)
            yield from call(self.extended_glob())
            parts.text(GLOB_STAR, True)
            return True
        return False

    def array(self) -> Steps[ArrayLiteral]:
        self.expect("(")
        words: list[Word] = []
        while True:
            while self.peek() in (" ", "\t", "\n") or self.peek(2) == "\\\n":
                self.position += 2 if self.peek() == "\\" else 1
            if self.peek() == "#":
                newline = self.text.find("\n", self.position, self.end)
                self.position = self.end if newline < 0 else newline
                continue
            if self.peek() == ")":
                self.position += 1
                return ArrayLiteral(tuple(words))
            words.append(self.plain_word() or (yield from self.word()))

    def extended_glob(self) -> Steps[None]:
        self.expect("(")
        while self.peek() != ")":
            if self.position >= self.end:
                raise Unparsed("a pattern is not closed")
            if self.peek() in "|*":
                self.position += 1
            else:
                yield from self.word()
        self.position += 1

    def special(self, char: str, parts: PartList) -> Steps[None]:
        """A quote, an escape, a dollar or a backtick outside double quotes."""
        if char == "'":
            if (close := self.text.find("'", self.position + 1, self.end)) < 0:
                raise Unparsed("a single quote is not closed")
            parts.text(self.text[self.position + 1 : close], True)
            self.position = close + 1
        elif char == '"':
            yield from self.double_quoted(parts)
        elif char == "\\":
            escaped = self.peek(2)[1:]
            self.position += 2 if escaped else 1
            if escaped != "\n":
                parts.text(escaped or "\\", True)
        elif char == "$":
            yield from self.dollar(parts, quoted=False)
        else:
            yield from self.backticks(parts, quoted=False)

    def double_quoted(self, parts: PartList) -> Steps[None]:
        self.position += 1
        parts.text("", True)
        yield from self.expanding_text(parts, _DOUBLE_QUOTED_RUN, '$`"\\')
        if self.peek() != '"':
            raise Unparsed("a double quote is not closed")
        self.position += 1

    def here_body(self) -> Steps[Word]:
        """The rest of the text as the body of an expanding here-document."""
        start = self.position
        parts = PartList()
        yield from self.expanding_text(parts, _HERE_RUN, "$`\\")
        return parts.word(start, self.end)

    def expanding_text(self, parts: PartList, run: re.Pattern[str], escapable: str) -> Steps[None]:
        while self.position < self.end:
            found = run.match(self.text, self.position, self.end)
            if found is not None:
                parts.text(found.group(), True)
                self.position = found.end()
                continue
            char = self.text[self.position]
            if char == "$":
                yield from self.dollar(parts, quoted=True)
            elif char == "`":
                yield from self.backticks(parts, quoted=True)
            elif char == "\\":
                escaped = self.peek(2)[1:]
                self.position += 2 if escaped else 1
                if escaped and escaped in escapable:
                    parts.text(escaped, True)
                elif escaped != "\n":
                    parts.text("\\" + escaped, True)
            else:
                return

    def backticks(self, parts: PartList, quoted: bool) -> Steps[None]:
        start = self.position
        found = _BACKTICKED.match(self.text, start + 1, self.end)
        if found is None:
            raise Unparsed("a backtick is not closed")
        escapes = r"\\([$`\\\"])" if quoted else r"\\([$`\\])"
        inner = re.sub(escapes, r"\1", found.group()[:-1])
        self.position = found.end()
        script = yield from call(self.nested_script(inner))
        parts.parts.append(Substitution(script, quoted, True, start, self.position))

    def dollar(self, parts: PartList, quoted: bool) -> Steps[None]:
        following = self.peek(2)[1:]
        if following == "(":
            yield from call(self.parenthesised(parts, quoted))
        elif following == "{":
            yield from call(self.braced(parts, quoted))
        elif following == "[":
            yield from self.arithmetic(parts, quoted, 2, "]")
        elif following == "'" and not quoted:
            found = _ANSI_C.match(self.text, self.position + 2, self.end)
            if found is None:
                raise Unparsed("a quote is not closed")
            parts.text(ansi_c(found.group()[:-1]), True)
            self.position = found.end()
        elif following == '"' and not quoted:
            self.position += 1
            yield from self.double_quoted(parts)
        elif following and following in _SPECIAL:
            parts.parts.append(Parameter(following, quoted))
            self.position += 2
        elif name := _NAME.match(self.text, self.position + 1, self.end):
            parts.parts.append(Parameter(name.group(), quoted))
            self.position = name.end()
        elif self.peek(3)[1:] == "\\\n":
            raise Unparsed("a dollar sign is cut from its name by a line continuation")
        else:
            parts.text("$", quoted)
            self.position += 1

    def parenthesised(self, parts: PartList, quoted: bool) -> Steps[None]:
        """`$(( ))` where it reads as arithmetic, else `$( )`."""
        start = self.position
        if self.peek(3) == "$((" and self.may_be_arithmetic(start):
            known = len(parts.parts)
            try:
                yield from self.arithmetic(parts, quoted, 3, "))")
            except Unparsed:
                self.refuse_arithmetic(start)
                del parts.parts[known:]
            else:
                return
        self.position = start + 2
        script = yield from call(self.script(frozenset(")")))
        self.expect(")")
        parts.parts.append(Substitution(script, quoted, self.detached, start, self.position))

    def may_be_arithmetic(self, start: int) -> bool:
        if self.retries <= 0 or start in self.not_arithmetic:
            return False
        if self.next_double < start:
            self.next_double = self.end if (found := self.text.find("))", start)) < 0 else found
        return self.next_double < self.end

    def refuse_arithmetic(self, start: int) -> None:
        """What opened here are commands; after many such failures everything is read as commands at once."""
        self.retries -= 1
        self.not_arithmetic.add(start)
        self.position = start

    def arithmetic(self, parts: PartList, quoted: bool, opening: int, closing: str) -> Steps[None]:
        """Read up to the closing bracket at depth zero. `opening` is the length of what opened it."""
        self.position += opening
        start = self.position
        inner = PartList()
        depth = 0
        opener = "[" if closing == "]" else "("
        while self.position < self.end:
            char = self.text[self.position]
            if depth == 0 and self.peek(len(closing)) == closing:
                source = self.text[start : self.position]
                body = inner.word(start, self.position)
                self.position += len(closing)
                parts.parts.append(Arithmetic(body, quoted, source))
                return
            if char == opener:
                depth += 1
            elif char == closing[0]:
                depth -= 1
            if depth < 0:
                break
            if char in "'\"\\$`":
                yield from self.special(char, inner)
            else:
                found = re.compile(r"[^()\[\]'\"\\$`]+|.", re.DOTALL).match(
                    self.text, self.position, self.end
                )
                assert found is not None
                inner.text(found.group(), True)
                self.position = found.end()
        raise Unparsed("arithmetic is not closed")

    def braced(self, parts: PartList, quoted: bool) -> Steps[None]:
        """`${ }` in all its forms."""
        start = self.position
        self.position += 2
        if self.peek() in (" ", "\t", "\n", "|", "("):
            if self.peek() == "|":
                self.position += 1
            script = yield from call(self.script(frozenset("}")))
            self.expect("}")
            parts.parts.append(Substitution(script, quoted, self.detached, start, self.position))
            return
        length = self.peek() == "#" and self.peek(2)[1:] not in ("}", "", ":", "-", "=", "+", "%")
        indirect = self.peek() == "!" and self.peek(2)[1:] not in ("}", "", ":", "-", "=", "+", "%", "#")
        indirect = indirect or self.peek(3) == "!#}"
        self.position += length or indirect
        found = _PARAMETER.match(self.text, self.position, self.end)
        if found is None:
            raise Unparsed("a bad substitution")
        self.position = found.end()
        if indirect and self.peek(2) in ("*}", "@}"):
            self.position += 2
            parts.parts.append(Parameter("!", quoted, "", None, None, False, False))
            return
        subscript = self.subscript() if self.peek() == "[" else None
        operator, argument = "", None
        if self.peek() != "}":
            chosen = _OPERATORS.match(self.text, self.position, self.end)
            if chosen is None:
                raise Unparsed("a bad substitution")
            operator, self.position = chosen.group(), chosen.end()
            argument = yield from self.argument(quoted, operator in _PATTERN_OPERATORS)
        self.expect("}")
        parts.parts.append(Parameter(found.group(), quoted, operator, argument, subscript, length, indirect))

    def subscript(self) -> str:
        depth = 0
        for index in range(self.position, self.end):
            char = self.text[index]
            depth += (char == "[") - (char == "]")
            if depth == 0:
                text = self.text[self.position + 1 : index]
                self.position = index + 1
                return text
        raise Unparsed("a subscript is not closed")

    def argument(self, quoted: bool, is_pattern: bool) -> Steps[Word]:
        """The text behind a parameter operator, up to the closing brace."""
        start = self.position
        parts = PartList()
        while self.position < self.end:
            char = self.text[self.position]
            if char == "}":
                return parts.word(start, self.position)
            if char == "'" and quoted and not is_pattern:
                parts.text(char, True)
                self.position += 1
            elif char in "'\"\\$`":
                if char == "$" and quoted:
                    yield from self.dollar(parts, quoted=True)
                else:
                    yield from self.special(char, parts)
            else:
                found = re.compile(r"[^}'\"\\$`]+").match(self.text, self.position, self.end)
                assert found is not None
                parts.text(found.group(), quoted and not is_pattern)
                self.position = found.end()
        raise Unparsed("a parameter expansion is not closed")
