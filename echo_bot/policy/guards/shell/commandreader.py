"""Reads simple commands: assignments, words, redirections, and the here-documents that follow a line."""

from __future__ import annotations

import re

from echo_bot.policy.guards.shell.syntax import MAX_SHOWN, Assignment, Literal, Node, Redirect, Simple, Word
from echo_bot.policy.guards.shell.trampoline import Steps, call
from echo_bot.policy.guards.shell.wordreader import Unparsed, WordReader

_BLANKS = re.compile(r"(?:[ \t]|\\\n)*")
_BLANK_STARTS = frozenset(" \t\\#")
_REDIRECT = re.compile(r"(\d+|\{\w+\})?(&>>|&>|<<<|<<-|<<|<>|<&|>&|>>|>\||<(?!\()|>(?!\())", re.ASCII)
_REDIRECT_STARTS = frozenset("0123456789{&<>")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\[[^\]\n]*\])?(\+?)=", re.ASCII)


class CommandReader(WordReader):
    """A word reader that knows where commands end and keeps the here-documents still to come."""

    def __init__(self, text: str, position: int = 0, end: int | None = None, detached: bool = False) -> None:
        super().__init__(text, position, end, detached)
        self.pending: list[Redirect] = []

    def blanks(self) -> None:
        if self.peek() not in _BLANK_STARTS:
            return
        found = _BLANKS.match(self.text, self.position, self.end)
        assert found is not None
        self.position = found.end()
        if self.peek() == "#" and (self.position == 0 or self.text[self.position - 1] in " \t\n;|&()"):
            newline = self.text.find("\n", self.position, self.end)
            self.position = self.end if newline < 0 else newline

    def lines(self) -> Steps[None]:
        """Skip blanks, comments and newlines; a newline brings the bodies of waiting here-documents."""
        self.blanks()
        while self.peek() == "\n":
            yield from self.newline()
            self.blanks()

    def newline(self) -> Steps[None]:
        self.position += 1
        waiting, self.pending = self.pending, []
        for redirect in waiting:
            yield from call(self.here_document(redirect))

    def here_document(self, redirect: Redirect) -> Steps[None]:
        start = self.position
        tabs = "\t*" if redirect.operator == "<<-" else ""
        ending = re.compile(rf"^{tabs}{re.escape(redirect.delimiter)}(?=\n|\Z)", re.MULTILINE)
        found = ending.search(self.text, start, self.end)
        while found is not None and not redirect.is_literal and self._is_continued(start, found.start()):
            found = ending.search(self.text, found.end(), self.end)
        body_end = found.start() if found else self.end
        self.position = min(found.end() + 1, self.end) if found else self.end
        text, detached = self.text, self.detached
        position = start
        if tabs:
            text = re.sub(r"^\t+", "", self.text[start:body_end], flags=re.MULTILINE)
            position, body_end, detached = 0, len(text), True
        if redirect.is_literal:
            value = text[position:body_end]
            redirect.body = Word((Literal(value, True),), redirect.start, redirect.end, value)
        else:
            reader = type(self)(text, position, body_end, detached)
            redirect.body = yield from call(reader.here_body())

    def _is_continued(self, start: int, line: int) -> bool:
        """True when the line before ends in a backslash that joins the two."""
        index = line - 2
        while index >= start and self.text[index] == "\\":
            index -= 1
        return (line - 2 - index) % 2 == 1

    def redirect(self) -> Steps[Redirect | None]:
        if self.peek() not in _REDIRECT_STARTS:
            return None
        found = _REDIRECT.match(self.text, self.position, self.end)
        if found is None:
            return None
        start, self.position = self.position, found.end()
        self.blanks()
        target = self.plain_word() or (yield from self.word())
        redirect = Redirect(found.group(2), found.group(1) or "", target, start, self.position)
        if redirect.operator in ("<<", "<<-"):
            raw = self.text[target.start : target.end]
            redirect.is_literal = any(char in raw for char in "'\"\\")
            redirect.delimiter = target.static if target.static is not None else raw
            self.pending.append(redirect)
        return redirect

    def assignment(self) -> Steps[Assignment | None]:
        found = _ASSIGNMENT.match(self.text, self.position, self.end)
        if found is None:
            return None
        name, subscript, append = found.groups()
        self.position = start = found.end()
        value: Word | None = None
        if self.peek() == "(":
            array = yield from call(self.array())
            value = Word((array,), start, self.position)
        elif self.peek() not in ("", " ", "\t", "\n", ";", "|", "&", ")", "<", ">") or self.peek(2) in (
            "<(",
            ">(",
        ):
            value = self.plain_word() or (yield from self.word())
        value = value or Word((), start, start, "")
        return Assignment(name, subscript[1:-1] if subscript else None, bool(append), value)

    def simple(self) -> Steps[Node]:
        start = end = self.position
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            self.blanks()
            char = self.peek()
            if char in ("", "\n", ";", "|", ")") or (char == "&" and self.peek(2) != "&>"):
                break
            redirect = yield from self.redirect()
            if redirect is not None:
                redirects.append(redirect)
            else:
                assignment = None if words else (yield from self.assignment())
                if assignment is not None:
                    assignments.append(assignment)
                else:
                    words.append(self.plain_word() or (yield from self.word()))
            end = self.position
        if not (assignments or words or redirects):
            raise Unparsed(f"unexpected {char!r}")
        source = self.text[start : min(end, start + MAX_SHOWN)]
        return Simple(tuple(assignments), tuple(words), tuple(redirects), start, end, source)
