"""What one command's redirections connect."""

from __future__ import annotations

from dataclasses import dataclass, field

from echo_bot.policy.guards.shell.state import State
from echo_bot.policy.guards.shell.stream import Stream
from echo_bot.policy.guards.shell.syntax import Redirect, Script


@dataclass(slots=True)
class Plumbing:
    """Standard input, the file that gets the output, and the commands behind `>( )`."""

    stdin: Stream | None = None
    target: tuple[str, bool] | None = None
    scripts: list[Script] = field(default_factory=list)

    def connect(self, descriptor: str, text: str, state: State) -> None:
        if descriptor in ("", "0"):
            self.stdin = Stream(text)
        else:
            state.files[f"/dev/fd/{descriptor}"] = text

    def duplicate(self, node: Redirect, target: str) -> None:
        """`>&2` sends the output away from the pipe."""
        if node.operator == ">&" and node.descriptor in ("", "1") and target != "1":
            self.target = None if target == "-" else ("/dev/stderr", False)
