"""What a start in the background hands down: `nohup … &` ignores signals, and children would inherit that."""

from __future__ import annotations

import signal
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGQUIT)


def hear_ignored_signals() -> None:
    """Give the ignored ones a handler that does nothing: a program that is started gets them as usual.

    An ignored signal stays ignored over exec, a handled one is reset. For the main thread.
    """
    for number in _ENDING:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _nothing)


def _nothing(number: int, frame: FrameType | None) -> None:
    """This process goes on, as it would have."""
