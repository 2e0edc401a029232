"""The words of an HTML page, each on the line where it stands in the file."""

from __future__ import annotations

from html.parser import HTMLParser

_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "head"})
_SHOWN_OF_HEAD = "title"


class _Words(HTMLParser):
    """Collects text by line. Tags that never close cannot hide the rest: an end of any outer one counts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: dict[int, list[str]] = {}
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "body":
            self._inside.clear()
        elif tag in _UNSEEN or (self._inside and tag == _SHOWN_OF_HEAD):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._inside:
            del self._inside[self._inside.index(tag) :]

    def handle_data(self, data: str) -> None:
        if self._inside and self._inside[-1] != _SHOWN_OF_HEAD:
            return
        number = self.getpos()[0]
        for offset, line in enumerate(data.split("\n")):
            if line.strip():
                self.lines.setdefault(number + offset, []).append(line.strip())


def text_of_html(markup: str) -> str:
    """What a reader sees, with as many lines as the markup has."""
    words = _Words()
    words.feed(markup)
    words.close()
    count = markup.count("\n") + 1
    return "\n".join(" ".join(words.lines.get(number, ())) for number in range(1, count + 1))
