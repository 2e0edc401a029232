"""What goes wrong with a skill, always as one sentence that says what to do."""

from __future__ import annotations

from typing import Literal

from echo_bot.errors import EchoBotError

Kind = Literal["business", "denied", "dependency", "timeout"]


class SkillError(EchoBotError):
    """A skill cannot be read, run or installed. `kind` is the `error_kind` of the tool's result."""

    def __init__(self, sentence: str, kind: Kind = "business") -> None:
        self.kind: Kind = kind
        super().__init__(sentence)
