"""Markdown to Discord's: what Discord does not know becomes something it does, and nothing becomes a ping."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyromark

from echo_bot.text import defuse_mentions, strip_markup

MAX_CHARACTERS = 2000
_LINE_END = re.compile(r"\r\n?")
_BLOCK_SIGN = re.compile(r"^(?: {4}| {0,3}(?:\t|#|`{3}|~{3})|[ \t]*[-=*_|:][-=*_|: \t]*$)", re.MULTILINE)
"""Stands in whatever holds a block that is rewritten."""

_JOINER = "\u2060"
_FENCE = re.compile(r"`{3,}")
_LANGUAGE = re.compile(r"[\w+.#-]*")
_RULE = "───"
_DEEPEST_HEADING = 3
_CODE_SPAN = re.compile(r"(?<!`)(`++)(?:[^`]++|(?!\1(?!`))`++)+?\1(?!`)")
_LINK = re.compile(
    r"(?P<image>!?)\[(?P<words>[^\[\]\n]*)\]\(<?(?P<url>[^\s()<>]+(?:\([^\s()<>]*\))?)>?"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'))?[ \t]*\)"
)
_STRONG_UNDERSCORES = re.compile(r"(?<![\w\\])__(?=\S)([^\n_]+?)(?<=\S)__(?!\w)")
_OWN_SYNTAX = re.compile(r"\|\||<(?=t:|a?:\w|/[^>\n]*:\d|id:)|(?m:^(?=-#[ ]|>>>))")
_LITERAL = re.compile(
    r"(?P<url>https?://[^\s<]*[^\s<.,:;\"'\]][.,:;\"'\]]*<?)"
    r"|(?P<mark>[\\*_~`|\[<])"
    r"|(?m:^(?P<lead>[ \t]*)(?P<start>[#>-]))"
)


def render_markdown(source: str) -> str:
    """Discord's markdown; `source` with its links made honest where that would outgrow a message."""
    rendered = "\n".join(_rendered(source))
    return rendered if len(rendered) <= MAX_CHARACTERS else _outside_code(source, _honest)


def literal(text: str) -> str:
    """`text` so that Discord shows it as it is, in a code block where escaping would outgrow a message."""
    escaped = defuse_mentions(_LITERAL.sub(_escaped, text))
    if len(escaped) <= MAX_CHARACTERS:
        return escaped
    block = fenced(text)
    return block if len(block) <= MAX_CHARACTERS else text


def fenced(text: str, language: str = "") -> str:
    """A code block. Discord ends one at the first three backticks, so such runs are kept apart invisibly."""
    return f"```{language}\n{_FENCE.sub(lambda run: _JOINER.join(run[0]), text)}\n```"


@dataclass(frozen=True, slots=True)
class _Event:
    """`about` is the text, or what starts or ends; the place is in bytes."""

    kind: str
    about: Any
    start: int
    end: int


def _rendered(source: str) -> Iterator[str]:
    """The lines, block by block: only those blocks are rewritten that Discord shows otherwise."""
    source = _LINE_END.sub("\n", source)
    if not _BLOCK_SIGN.search(source):
        yield _inline(source)
        return
    encoded = source.encode("utf-8", "replace")
    place = 0
    for block in _blocks(encoded.decode()):
        start, end = _lines_of(block[0], encoded)
        lines = encoded[start:end].decode()
        rewritten = _rewritten(block, lines, encoded)
        if rewritten is not None:
            yield from _prose(encoded, place, start - 1)
            yield rewritten if _letters(rewritten) >= _letters(lines) else fenced(lines)
            place = end + 1
    yield from _prose(encoded, place, len(encoded))


def _blocks(source: str) -> Iterator[list[_Event]]:
    """The outermost blocks, each with what is in it."""
    depth, block = 0, list[_Event]()
    for event, span in pyromark.events_with_range(source, options=pyromark.Options.ENABLE_TABLES):
        kind, about = next(iter(event.items())) if isinstance(event, dict) else (event, None)
        block.append(_Event(kind, about, span["start"], span["end"]))
        depth += (kind == "Start") - (kind == "End")
        if not depth:
            yield block
            block = []


def _lines_of(block: _Event, encoded: bytes) -> tuple[int, int]:
    """From the start of its first line to the end of its last one; blank lines after it are none of its."""
    end = block.start + len(encoded[block.start : block.end].rstrip())
    line_end = encoded.find(b"\n", end)
    return encoded.rfind(b"\n", 0, block.start) + 1, line_end if line_end >= 0 else len(encoded)


def _rewritten(block: Sequence[_Event], lines: str, encoded: bytes) -> str | None:
    """What Discord is given in place of the block's lines; None to leave them."""
    match block[0].about:
        case {"CodeBlock": {"Fenced": info}}:
            return _fence(info.strip(), _code(block))
        case {"CodeBlock": _}:
            return fenced(_code(block))
        case {"Heading": {"level": level}}:
            return _heading(int(level[1:]), lines)
        case {"Table": _}:
            return fenced(_table(block, encoded))
        case _:
            return _RULE if block[0].kind == "Rule" else None


def _letters(text: str) -> int:
    """Of markup only signs may go. A table, for one, has no place for more cells than its head."""
    return sum(map(str.isalnum, text))


def _code(block: Sequence[_Event]) -> str:
    return "".join(event.about for event in block if event.kind == "Text").removesuffix("\n")


def _fence(info: str, code: str) -> str:
    """Discord shows no words beside the language: they become the first line."""
    language, _, words = info.partition(" ")
    if not _LANGUAGE.fullmatch(language):
        language, words = "", info
    return fenced(f"{words}\n{code}" if words else code, language)


def _heading(level: int, lines: str) -> str:
    text = _inline(_words_of_heading(level, lines))
    return f"{'#' * level} {text}" if level <= _DEEPEST_HEADING else f"**{strip_markup(text)}**"


def _words_of_heading(level: int, lines: str) -> str:
    """Without the signs around them, or the line below them."""
    *underlined, last = lines.split("\n")
    if underlined:
        return " ".join(map(str.strip, underlined))
    words = last.strip()[level:].strip()
    unclosed = words.rstrip("#")
    return words if unclosed and not unclosed[-1].isspace() else unclosed.rstrip()


def _table(block: Sequence[_Event], encoded: bytes) -> str:
    """Columns side by side in plain characters: Discord knows no tables."""
    rows: list[list[str]] = []
    for event in block:
        if event.kind == "Start" and event.about in ("TableHead", "TableRow"):
            rows.append([])
        elif event.kind == "Start" and event.about == "TableCell":
            cell = encoded[event.start : event.end].decode().replace("\\|", "|")
            rows[-1].append(strip_markup(cell.strip()))
    count = max(map(len, rows))
    full = [[*row, *[""] * (count - len(row))] for row in rows]
    widths = [max(len(row[column]) for row in full) for column in range(count)]
    head, *body = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in full]
    return "\n".join([head, "  ".join("─" * width for width in widths), *body])


def _prose(encoded: bytes, start: int, end: int) -> Iterator[str]:
    """What stands between two blocks, if a line does."""
    if start <= end:
        yield _inline(encoded[start:end].decode())


def _inline(text: str) -> str:
    """Everything outside code spans in Discord's spelling, with no ping and no syntax of Discord's own."""
    return _outside_code(text, _words)


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    pieces: list[str] = []
    place = 0
    for span in _CODE_SPAN.finditer(text):
        pieces += [change(text[place : span.start()]), span[0]]
        place = span.end()
    return "".join([*pieces, change(text[place:])])


def _honest(text: str) -> str:
    """Links with other words than their target show it; never longer than `text`."""
    return _LINK.sub(lambda found: min(_link(found), found[0], key=len), text)


def _words(text: str) -> str:
    text = _STRONG_UNDERSCORES.sub(r"**\1**", _LINK.sub(_link, text))
    return defuse_mentions(
        _OWN_SYNTAX.sub(lambda found: "".join(f"\\{sign}" for sign in found[0]) or "\\", text)
    )


def _link(found: re.Match[str]) -> str:
    """A link whose words name another address, or that no browser opens, is shown with its target."""
    words, url = found["words"], found["url"]
    if not url.startswith(("http://", "https://")):
        return f"{words} ({url})" if words else url
    if "://" in words or words.startswith("www."):
        return url if words == url else f"{words} ({url})"
    return f"[{words or 'image'}]({url})"


def _escaped(found: re.Match[str]) -> str:
    if found["url"] is not None:
        return found["url"]
    if found["mark"] is not None:
        return f"\\{found['mark']}"
    return f"{found['lead']}\\{found['start']}"
