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


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    import trafilatura

    url = sys.stdin.buffer.readline().decode().strip()
    page = sys.stdin.buffer.read().decode("utf-8", "replace")
    tree = trafilatura.load_html(page)
    if tree is None:
        json.dump({"title": "", "markdown": "", "text": ""}, sys.stdout)
        return
    heading = tree.find(".//title")
    markdown = trafilatura.extract(
        page,
        url=url,
        output_format="markdown",
        include_links=True,
        include_tables=True,
        include_comments=False,
        favor_recall=True,
    )
    found = {
        "title": heading.text_content() if heading is not None else "",
        "markdown": markdown or "",
        "text": trafilatura.html2txt(page),
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
