"""The program that turns a page into markdown, run as a child that can be killed.

Some pages, made for it or not, keep the parser busy for minutes. It is started by path, reads the page's
address on the first line of standard input and the page after it, both UTF-8, and answers with one JSON
object: title, markdown of the main part, and the plain text of everything.
"""

from __future__ import annotations

import json
import resource
import sys

_MEMORY_BYTES = 1536 * 1024 * 1024
_UNREAD = ("script", "style", "template", "noscript", "title")


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    url = sys.stdin.buffer.readline().decode().strip()
    json.dump(_read(sys.stdin.buffer.read(), url), sys.stdout)


def _read(page: bytes, url: str) -> dict[str, str]:
    import trafilatura
    from lxml import etree, html  # type: ignore[import-untyped]  # lxml carries no types

    if not page.strip():
        return {"title": "", "markdown": "", "text": ""}
    try:
        tree = html.document_fromstring(page, parser=html.HTMLParser(encoding="utf-8"))
    except etree.ParserError:
        return {"title": "", "markdown": "", "text": ""}
    heading = tree.find(".//title")
    title = heading.text_content() if heading is not None else ""
    markdown = trafilatura.extract(
        tree,
        url=url,
        output_format="markdown",
        include_links=True,
        include_tables=True,
        include_comments=False,
        favor_recall=True,
    )
    etree.strip_elements(tree, etree.Comment, etree.ProcessingInstruction, *_UNREAD, with_tail=False)
    return {"title": title, "markdown": markdown or "", "text": " ".join(" ".join(tree.itertext()).split())}


if __name__ == "__main__":
    main()
