"""One command about to run, with all its words known as far as they can be."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from echo_bot.policy.guards.shell.paths import Place
from echo_bot.policy.guards.shell.state import State
from echo_bot.policy.guards.shell.stream import Stream
from echo_bot.policy.guards.shell.syntax import Script


@dataclass(slots=True)
class Invocation:
    """One command about to run: resolved words, where, with which input and environment."""

    argv: list[str]
    state: State
    stdin: Stream
    span: tuple[int, int]
    env: dict[str, str] = field(default_factory=dict)
    outputs: list[Script] = field(default_factory=list)
    name: str = field(init=False, default="")
    args: list[str] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.name = base_name(self.argv[0]) if self.argv else ""
        self.args = self.argv[1:]

    @property
    def place(self) -> Place:
        return Place(self.state.cwd, self.state.home, self.state.links)

    def inner(self, argv: list[str], stdin: Stream | None = None) -> Invocation:
        return replace(self, argv=argv, stdin=stdin or self.stdin)


def base_name(word: str) -> str:
    """The program's name, whatever folder it is called from; names are compared without case."""
    return word.rsplit("/", 1)[-1].lower()
