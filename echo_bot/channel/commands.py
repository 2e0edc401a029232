"""Chat commands, and what a button or a native command asks and answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from echo_bot.events import Address


class Completes(StrEnum):
    """What a command's parameter is completed with; see `Port.complete`."""

    NOTHING = ""
    APPROVALS = "approvals"
    GRANTS = "grants"
    TOOLS = "tools"
    MODELS = "models"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a command. `choices` are all its values, if few; the last one may take the rest."""

    name: str
    description: str
    required: bool = True
    choices: tuple[str, ...] = ()
    completes: Completes = Completes.NOTHING

    @property
    def usage(self) -> str:
        """`<id>`, `[reason]` or `[once|session]`."""
        words = "|".join(self.choices) or self.name
        return f"<{words}>" if self.required else f"[{words}]"


@dataclass(frozen=True, slots=True)
class Command:
    """One chat command: `name` without the slash. Its text form is `/name` and the values, in this order.

    `starts_turn`: it queues like a message and its reply comes by `Channel.send_text`.
    """

    name: str
    description: str
    parameters: tuple[Parameter, ...] = ()
    starts_turn: bool = False

    @property
    def usage(self) -> str:
        return " ".join(parameter.usage for parameter in self.parameters)


def starts_turn(text: str, commands: Sequence[Command]) -> bool:
    """Whether it queues like a message: all but what names a command that does not."""
    name = text.removeprefix("/").partition(" ")[0] if text.startswith("/") else ""
    return all(command.name != name or command.starts_turn for command in commands)


@dataclass(frozen=True, slots=True)
class CommandReply:
    """What a native command came to: the answer in markdown, or `queued` when it became a turn.

    `ok` False: it was refused, and `text` says why; `busy` when the same may pass a little later. `repeated`:
    it was taken before, and nothing was done now.
    """

    text: str = ""
    queued: bool = False
    ok: bool = True
    busy: bool = False
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """One way to complete a parameter: what is inserted and what is shown for it."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a button asks for: the question, and the words to begin with (all of them, never shortened).

    `address` is where its card stands, for platforms that ask in the chat and leave threads out of presses.
    """

    question: str
    initial: str = ""
    title: str = ""
    address: Address | None = None
