"""What is printed: bot texts, cards with a coloured bar, one line for a closed card, hints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text

from channels.cli.clean import clean, clean_line
from channels.cli.markdown import ChatMarkdown, highlighted
from echo_bot.events import Card, CardBlock, CardState, CodeBlock, Fields, OutboundText, Paragraph
from echo_bot.text.language import _, listed

_RISK_COLOURS = {"dangerous": "red", "exec": "yellow", "write": "blue", "read_only": "green"}
_OUTCOMES = {
    CardState.APPROVED: ("✓", "green"),
    CardState.DENIED: ("✗", "red"),
    CardState.EXPIRED: ("⌛", "yellow"),
    CardState.CLOSED: ("·", "cyan"),
    CardState.OPEN: ("?", "cyan"),
}


def message(text: OutboundText) -> RenderableType:
    """A bot text with an empty line after it."""
    body = ChatMarkdown(text.text) if text.markdown else Text(clean(text.text), overflow="fold")
    return Padding(body, (0, 0, 1, 0))


def card(of: Card) -> RenderableType:
    """A card whole, behind a bar in the colour of its risk."""
    colour = _RISK_COLOURS.get(of.risk, "cyan")
    blocks: list[RenderableType] = [Text(clean_line(of.title), style=f"bold {colour}")]
    for before, block in zip((None, *of.blocks), of.blocks, strict=False):
        is_under_heading = isinstance(before, Paragraph) and before.strong
        blocks += [*([] if is_under_heading else [Text()]), *_block(block)]
    return Padding(_Barred(Group(*blocks), Style.parse(colour)), (1, 0, 0, 0))


def outcome(of: Card, offers: tuple[str, ...] = ()) -> RenderableType:
    """A closed card in a line: what became of it, which it was; a reason; commands that it still offers."""
    mark, colour = _OUTCOMES[of.state]
    verdict = next((b for b in of.blocks if isinstance(b, Paragraph) and b.strong), None)
    line = Text(f"{mark} ", style=f"bold {colour}", overflow="fold")
    line.append(clean_line(verdict.text if verdict else of.title), style=colour)
    if verdict is not None:
        line.append(f" · {clean_line(of.title)}", style="dim not bold")
    if of.short_id:
        line.append(f" ({clean_line(of.short_id)})", style="dim not bold")
    reasons = [Text(f"  {clean_line(text)}", overflow="fold") for text in _reasons(of)]
    still = [hint("  " + _("Possible now: {commands}").format(commands=listed(offers)))] if offers else []
    return Group(line, *reasons, *still, Text())


def hint(text: str) -> RenderableType:
    """A line from the terminal itself."""
    return Text(clean_line(text), style="dim", overflow="fold")


def refusal(text: str) -> RenderableType:
    return Text(f"✗ {clean_line(text)}", style="red", overflow="fold")


def file_line(name: str, path: str, size: int) -> RenderableType:
    line = Text(_("File") + " ", style="bold", overflow="fold")
    line.append(clean_line(name), style="cyan")
    line.append(_(" ({count:,} bytes)").format(count=size), style="dim not bold")
    line.append(f"\n  {clean_line(path)}\n", style="dim not bold")
    return line


def _reasons(of: Card) -> Iterator[str]:
    """The plain paragraphs that follow the verdict at the head of a closed card."""
    if not (of.blocks and isinstance(of.blocks[0], Paragraph) and of.blocks[0].strong):
        return
    for block in of.blocks[1:]:
        if not isinstance(block, Paragraph) or block.strong:
            return
        yield block.text


def _block(block: CardBlock) -> Iterator[RenderableType]:
    match block:
        case Paragraph():
            yield Text(clean(block.text), style="bold" if block.strong else "", overflow="fold")
        case CodeBlock():
            if block.label:
                yield Text(clean_line(block.label), style="dim")
            yield Padding(highlighted(clean(block.text), block.language), (0, 0, 0, 2))
        case Fields():
            yield _facts(block)
        case _other:
            assert_never(_other)


def _facts(fields: Fields) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", overflow="fold", max_width=24)
    table.add_column(overflow="fold")
    for label, value in fields.rows:
        table.add_row(Text(clean_line(label)), Text(clean_line(value), overflow="fold"))
    return table


class _Barred:
    """A renderable behind a vertical bar; no frame at the right, so that a narrowed window keeps it whole."""

    def __init__(self, body: RenderableType, style: Style) -> None:
        self._body, self._style = body, style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        inner = options.update(width=max(options.max_width - 2, 10))
        for line in console.render_lines(self._body, inner, pad=False):
            yield Segment("▌ ", self._style)
            yield from line
            yield Segment.line()
