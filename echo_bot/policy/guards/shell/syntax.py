"""The shell syntax tree: words made of parts, commands made of words."""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_SHOWN = 4000


@dataclass(frozen=True, slots=True)
class Literal:
    """Text that stands for itself; unquoted text is still open to braces, tilde and globs."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name` or `${name op argument}`. `length` is `${#name}`, `indirect` is `${!name}`."""

    name: str
    quoted: bool
    operator: str = ""
    argument: Word | None = None
    subscript: str | None = None
    length: bool = False
    indirect: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$( )` or backticks. `detached` text was unescaped first, so its offsets are not the command's."""

    script: Script
    quoted: bool
    detached: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$(( ))`: only what is expanded inside can act."""

    body: Word
    quoted: bool
    source: str


@dataclass(frozen=True, slots=True)
class ProcessSubstitution:
    """`<( )` (direction "<") or `>( )` (direction ">")."""

    script: Script
    direction: str


@dataclass(frozen=True, slots=True)
class ArrayLiteral:
    """`( … )` on the right of an assignment."""

    words: tuple[Word, ...]


Part = Literal | Parameter | Substitution | Arithmetic | ProcessSubstitution | ArrayLiteral


@dataclass(frozen=True, slots=True)
class Word:
    """`static` is the word's only possible value, where no expansion is involved."""

    parts: tuple[Part, ...]
    start: int
    end: int
    static: str | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    name: str
    subscript: str | None
    append: bool
    value: Word


@dataclass(slots=True)
class Redirect:
    """One redirection. The body of a here-document is filled in when its line ends."""

    operator: str
    descriptor: str
    target: Word
    start: int
    end: int
    delimiter: str = ""
    is_literal: bool = False
    body: Word | None = None


@dataclass(frozen=True, slots=True)
class Simple:
    """`source` is how it was written, up to MAX_SHOWN characters; `start` and `end` are its place in a text,

    which for code in backticks, and for code in code, is not the whole command.
    """

    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    start: int
    end: int
    source: str


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Two or more commands joined by `|` or `|&`."""

    commands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Background:
    command: Node


@dataclass(frozen=True, slots=True)
class Script:
    """Commands one after the other, whatever separates them."""

    commands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class AndOr:
    """Commands joined by `&&` and `||`."""

    commands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Compound:
    """A group, subshell, loop or branch; `words` (tests, case patterns) are expanded first."""

    kind: str
    bodies: tuple[Node, ...]
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class ForLoop:
    variable: str
    items: tuple[Word, ...] | None
    body: Node


@dataclass(frozen=True, slots=True)
class Redirected:
    """A compound command with redirections of its own."""

    command: Node
    redirects: tuple[Redirect, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    body: Node


Node = Simple | Pipeline | Background | Script | AndOr | Compound | ForLoop | Redirected | Function


@dataclass(slots=True)
class Parsed:
    """A parse of a whole text: the complete lines before the first error, and that error."""

    lines: list[Node] = field(default_factory=list)
    error: str = ""
