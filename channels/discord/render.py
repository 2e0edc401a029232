"""Markdown to Discord's: what Discord does not know becomes something it does, and nothing becomes a ping."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from echo_bot.text import defuse_mentions, strip_markup

MAX_CHARACTERS = 2000
_LINE_END = re.compile(r"\r\n?")
_JOINER = "\u2060"
_FENCE = re.compile(r"`{3,}")
_LANGUAGE = re.compile(r"[\w+.#-]*")
_RULE = "───"
_DEEPEST_HEADING = 3
_CODE_SPAN = re.compile(r"(?<!`)(`++)(?:[^`]++|(?!\1(?!`))`++)+?\1(?!`)")
_LINK = re.compile(
    r"(?P<image>!?)\[(?P<words>[^\[\]\n]*)\]\(<?(?P<url>[^\s()<>]+(?:\([^\s()<>]*\))?)>?[^()\n]*\)"
)
_STRONG_UNDERSCORES = re.compile(r"(?<![\w\\])__(?=\S)([^\n_]+?)(?<=\S)__(?!\w)")
_OWN_SYNTAX = re.compile(r"\|\||<(?=t:|a?:\w|/[^>\n]*:\d|id:)|(?m:^(?=-#[ ]|>>>))")
_LITERAL = re.compile(
    r"(?P<url>https?://[^\s<]*[^\s<.,:;\"'\]][.,:;\"'\]]*<?)"
    r"|(?P<mark>[\\*_~`|\[<])"
    r"|(?m:^(?P<lead>[ \t]*)(?P<start>[#>-]))"
)


def render_markdown(source: str) -> str:
    """Discord's markdown, or `source` as it is where that would outgrow a message."""
    rendered = "\n".join(_rendered(source))
    return rendered if len(rendered) <= MAX_CHARACTERS else source


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


def _rendered(source: str) -> Iterator[str]:
    """The lines, block by block: only those blocks are rewritten that Discord shows otherwise."""
    source = _LINE_END.sub("\n", source)
    lines = source.split("\n")
    place = 0
    tokens = _parser().parse(source)
    for index, token in enumerate(tokens):
        if token.map is None or token.level or token.map[0] < place:
            continue
        rewritten = _rewritten(tokens, index)
        if rewritten is None:
            continue
        start, end = token.map
        yield from _prose(lines[place:start])
        yield rewritten
        place = end - _trailing_blanks(lines, start, end)
    yield from _prose(lines[place:])


def _rewritten(tokens: Sequence[Token], index: int) -> str | None:
    token = tokens[index]
    match token.type:
        case "fence":
            return _fence(token.info.strip(), token.content.removesuffix("\n"))
        case "code_block":
            return fenced(token.content.removesuffix("\n"))
        case "hr":
            return _RULE
        case "heading_open":
            return _heading(int(token.tag[1:]), tokens[index + 1].content)
        case "table_open":
            return fenced(_table(tokens[index:]))
        case _:
            return None


def _fence(info: str, code: str) -> str:
    """Discord shows no words beside the language: they become the first line."""
    language, _, words = info.partition(" ")
    if not _LANGUAGE.fullmatch(language):
        language, words = "", info
    return fenced(f"{words}\n{code}" if words else code, language)


def _heading(level: int, words: str) -> str:
    text = _inline(words.replace("\n", " "))
    return f"{'#' * level} {text}" if level <= _DEEPEST_HEADING else f"**{strip_markup(text)}**"


def _table(tokens: Sequence[Token]) -> str:
    """Columns side by side in plain characters: Discord knows no tables."""
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(strip_markup(token.content))
    count = max(map(len, rows))
    full = [[*row, *[""] * (count - len(row))] for row in rows]
    widths = [max(len(row[column]) for row in full) for column in range(count)]
    head, *body = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in full]
    return "\n".join([head, "  ".join("─" * width for width in widths), *body])


def _prose(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield _inline("\n".join(lines))


def _inline(text: str) -> str:
    """Everything outside code spans in Discord's spelling, with no ping and no syntax of Discord's own."""
    pieces: list[str] = []
    place = 0
    for span in _CODE_SPAN.finditer(text):
        pieces += [_words(text[place : span.start()]), span[0]]
        place = span.end()
    return "".join([*pieces, _words(text[place:])])


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


def _trailing_blanks(lines: Sequence[str], start: int, end: int) -> int:
    """Blank lines that the parser counts to a block stay where they are."""
    blanks = 0
    while end - blanks > start + 1 and not lines[end - blanks - 1].strip():
        blanks += 1
    return blanks


@cache
def _parser() -> MarkdownIt:
    """Of blocks only: what is within a line stays as it is written, but for what `_inline` does."""
    return MarkdownIt("commonmark").enable("table").disable("inline")
