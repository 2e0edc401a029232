"""The real terminal as prompt_toolkit's input and output."""

from __future__ import annotations

import os
import sys

from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.output.vt100 import Vt100_Output


def open_terminal() -> tuple[Input, Output]:
    """Input and output of this process.

    The terminal is never asked for its cursor position: its answer would come as typed keys, and keys are
    dropped before a card.
    """
    stdout = sys.stdout

    def size() -> Size:
        columns, rows = os.get_terminal_size(stdout.fileno())
        return Size(rows=rows or 24, columns=columns or 80)

    return create_input(sys.stdin), Vt100_Output(
        stdout,
        size,
        term=os.environ.get("TERM"),
        default_color_depth=ColorDepth.from_env(),
        enable_cpr=False,
        enable_bell=False,
    )
