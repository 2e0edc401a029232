"""`parse_mode`: HTML and MarkdownV2 to text and entities, as strict as Telegram about what is unescaped."""

from __future__ import annotations

from html.parser import HTMLParser

from echo_bot.testing.telegram.errors import ApiError
from echo_bot.testing.telegram.model import JsonObject
from echo_bot.testing.telegram.rules import utf16_length

_HTML_KINDS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
    "a": "text_link",
}
_MARKS = {
    "```": "pre",
    "||": "spoiler",
    "__": "underline",
    "*": "bold",
    "_": "italic",
    "~": "strikethrough",
    "`": "code",
}
_RESERVED = set("_*[]()~`>#+-=|{}.!")


def parse(text: str, parse_mode: str) -> tuple[str, list[JsonObject]]:
    """Text and entities. Raises ApiError "can't parse entities" as the Bot API does."""
    match parse_mode.lower():
        case "":
            return text, []
        case "html":
            return _Html().read(text)
        case "markdownv2":
            return _MarkdownV2(text).read()
        case _:
            raise ApiError.bad_request("unsupported parse_mode")


def _refuse(reason: str) -> ApiError:
    return ApiError.bad_request(f"can't parse entities: {reason}")


class _Html(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._text = ""
        self._open: list[tuple[str, int, JsonObject]] = []
        self._entities: list[JsonObject] = []

    def read(self, source: str) -> tuple[str, list[JsonObject]]:
        self.feed(source)
        self.close()
        if self._open:
            raise _refuse(f'can\'t find end tag corresponding to start tag "{self._open[-1][0]}"')
        return self._text, self._entities

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _HTML_KINDS:
            raise _refuse(f'unsupported start tag "{tag}" at byte offset {self.getpos()[1]}')
        known = dict(attrs)
        more: JsonObject = {"url": known.get("href") or ""} if tag == "a" else {}
        self._open.append((tag, utf16_length(self._text), more))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1][0] != tag:
            raise _refuse(f'unexpected end tag "{tag}"')
        _, offset, more = self._open.pop()
        length = utf16_length(self._text) - offset
        if length:
            self._entities.append({"type": _HTML_KINDS[tag], "offset": offset, "length": length} | more)

    def handle_data(self, data: str) -> None:
        self._text += data


class _MarkdownV2:
    def __init__(self, source: str) -> None:
        self._source, self._place = source, 0
        self._text = ""
        self._open: list[tuple[str, int]] = []
        self._entities: list[JsonObject] = []

    def read(self) -> tuple[str, list[JsonObject]]:
        while self._place < len(self._source):
            self._step()
        if self._open:
            mark, offset = self._open[-1]
            raise _refuse(f"can't find end of {_MARKS.get(mark, mark)} entity at byte offset {offset}")
        return self._text, self._entities

    def _step(self) -> None:
        rest = self._source[self._place :]
        in_code = bool(self._open) and self._open[-1][0] in ("`", "```")
        if rest[0] == "\\" and len(rest) > 1:
            self._take(rest[1], 2)
        elif (mark := next((mark for mark in _MARKS if rest.startswith(mark)), None)) and (
            not in_code or mark == self._open[-1][0]
        ):
            self._place += len(mark)
            self._toggle(mark)
        elif in_code:
            self._take(rest[0], 1)
        elif rest[0] == "[":
            self._place += 1
            self._open.append(("[", utf16_length(self._text)))
        elif rest.startswith("](") and self._open and self._open[-1][0] == "[":
            self._close_link(rest)
        elif rest[0] in _RESERVED:
            raise _refuse(f"character '{rest[0]}' is reserved and must be escaped with the preceding '\\'")
        else:
            self._take(rest[0], 1)

    def _take(self, char: str, width: int) -> None:
        self._text += char
        self._place += width

    def _toggle(self, mark: str) -> None:
        if not self._open or self._open[-1][0] != mark:
            self._open.append((mark, utf16_length(self._text)))
            return
        _, offset = self._open.pop()
        self._add(_MARKS[mark], offset, {})

    def _close_link(self, rest: str) -> None:
        url, closing, _ = rest[2:].partition(")")
        if not closing:
            raise _refuse("can't find end of a URL")
        self._place += len(url) + 3
        _, offset = self._open.pop()
        self._add("text_link", offset, {"url": url})

    def _add(self, kind: str, offset: int, more: JsonObject) -> None:
        length = utf16_length(self._text) - offset
        if length:
            self._entities.append({"type": kind, "offset": offset, "length": length} | more)
