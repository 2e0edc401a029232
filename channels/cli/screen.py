"""The terminal's output: renderables become lines above whatever prompt is open."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import partial

from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.output import Output
from rich.console import Console, RenderableType
from rich.theme import Theme

from channels.cli.clean import Cleaned
from echo_bot.errors import TemporaryFailure

_THEME = Theme({"markdown.code": "cyan", "markdown.h1": "bold underline", "markdown.item.number": "bold"})
"""Colours only where the ground may be any: Rich gives inline code a black one."""

_MOST_COLUMNS = 100
"""Longer lines are hard to read, however wide the window is."""


class Screen:
    """Prints in order; an open prompt is erased for it and drawn again."""

    def __init__(self, output: Output, environ: Mapping[str, str]) -> None:
        self._output = output
        self._has_colour = not environ.get("NO_COLOR")

    @property
    def columns(self) -> int:
        return max(20, self._output.get_size().columns)

    async def show(self, renderable: RenderableType) -> None:
        """Print above the open prompt. Raises TemporaryFailure when the terminal takes nothing."""
        text = drawn(renderable, min(self.columns - 1, _MOST_COLUMNS), has_colour=self._has_colour)
        try:
            await run_in_terminal(partial(self._write, text))
        except (OSError, ValueError) as error:
            raise TemporaryFailure("the terminal does not take any text") from error

    def _write(self, text: str) -> None:
        self._output.enable_autowrap()
        self._output.write_raw(text)
        self._output.flush()


def drawn(renderable: RenderableType, width: int, *, has_colour: bool) -> str:
    """The text and colour codes of a renderable; its content is escaped, so the codes are all ours."""
    target = io.StringIO()
    console = Console(
        file=target,
        force_terminal=True,
        width=width,
        color_system="standard" if has_colour else None,
        no_color=not has_colour,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        theme=_THEME,
        _environ={},
    )
    console.print(Cleaned(renderable), end="", soft_wrap=False)
    return target.getvalue()
