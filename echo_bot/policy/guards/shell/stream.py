"""Standard input as far as it is known."""

from __future__ import annotations

from dataclasses import dataclass

from echo_bot.policy.guards.shell.marks import UNKNOWN


@dataclass(slots=True)
class Stream:
    """Text, partly known text, or None where nothing is connected. Reading consumes it."""

    text: str | None = None

    def line(self) -> str:
        """The next line; UNKNOWN where nothing is known."""
        if self.text is None:
            return UNKNOWN
        first, _, self.text = self.text.partition("\n")
        return first
