"""What workers do, as lines below the call that waits for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from echo_bot.events import Address, SessionKey, TurnId, WorkerBrief
from echo_bot.text.language import _

Print = Callable[[str, str], None]
"""Show a line as output of a running call, by its execution id; see `StatusLines.printed`."""


class Progress:
    """Lines go up from a worker to its caller, and end at the conversation's own call.

    Who shows them bounds how many and how often.
    """

    def __init__(self, printed: Print) -> None:
        self._printed = printed
        self._calls: dict[tuple[TurnId, str], str] = {}
        self._workers: dict[TurnId, tuple[TurnId, WorkerBrief]] = {}

    @contextmanager
    def waiting(self, turn_id: TurnId, call_key: str, execution_id: str) -> Iterator[None]:
        """This call waits for workers; after a restart it is another execution of the same call."""
        self._calls[turn_id, call_key] = execution_id
        try:
            yield
        finally:
            self._calls.pop((turn_id, call_key), None)

    @contextmanager
    def working(self, turn_id: TurnId, parent: TurnId, brief: WorkerBrief) -> Iterator[None]:
        self._workers[turn_id] = (parent, brief)
        try:
            yield
        finally:
            self._workers.pop(turn_id, None)

    def tell(self, turn_id: TurnId, words: str) -> None:
        """A worker does this now."""
        while (above := self._workers.get(turn_id)) is not None:
            turn_id, brief = above
            told = _("worker {place} of {count}: {words}")
            words = told.format(place=brief.index, count=brief.count, words=words)
            execution_id = self._calls.get((turn_id, brief.call_key))
            if execution_id is not None:
                self._printed(execution_id, f"{words}\n")


class WorkerWatch:
    """Told of a worker's calls in the place of the chat's status lines; implements `CallWatch`."""

    def __init__(self, progress: Progress, turn_id: TurnId) -> None:
        self._progress, self._turn_id = progress, turn_id

    def began(
        self, call_id: str, tool: str, address: Address, session_key: SessionKey, requester: str
    ) -> None:
        self._progress.tell(self._turn_id, tool)

    def ended(self, call_id: str, how: Literal["done", "failed", "stopped"]) -> None:
        """The next call says more than the end of this one."""
