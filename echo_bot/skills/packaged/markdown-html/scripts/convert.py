"""Convert a Markdown file to one self-contained HTML page. Raw HTML in it stays text."""

from __future__ import annotations

import argparse
import html
import os
import re
import sys

from markdown_it import MarkdownIt

PAGE = """<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ max-width: 42rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }}
pre, code {{ font-family: ui-monospace, monospace; background: #f4f4f4; }}
pre {{ padding: .75rem; overflow-x: auto; }}
table {{ border-collapse: collapse; }}
th, td {{ border: 1px solid #ccc; padding: .25rem .5rem; }}
blockquote {{ border-left: 3px solid #ccc; margin-left: 0; padding-left: 1rem; color: #555; }}
</style>
</head>
<body>
{body}</body>
</html>
"""
_ALLOWED = re.compile(r"(?:https?://|mailto:|[#./]|[^:/?#]*(?:[/?#]|$))", re.IGNORECASE)


def converted(text: str, title: str) -> str:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.validateLink = lambda url: _ALLOWED.match(url) is not None  # type: ignore[method-assign]
    body = parser.render(text)
    return PAGE.format(title=html.escape(title or heading_of(text)), body=body)


def heading_of(text: str) -> str:
    found = re.search(r"^#\s+(.+?)\s*#*$", text, re.MULTILINE)
    return found[1] if found else "Untitled"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--output", default="")
    parser.add_argument("--title", default="")
    options = parser.parse_args()
    workspace = os.environ.get("WORKSPACE", "")
    source = os.path.join(workspace, options.file)
    output = (
        os.path.join(workspace, options.output) if options.output else os.path.splitext(source)[0] + ".html"
    )
    if os.path.abspath(output) == os.path.abspath(source):
        sys.stderr.write("the page would replace its own source; name another --output\n")
        return 1
    try:
        with open(source, encoding="utf-8-sig") as file:
            page = converted(file.read(), options.title)
        with open(output, "w", encoding="utf-8") as file:
            file.write(page)
    except (OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"{options.file} cannot be converted: {error}\n")
        return 1
    sys.stdout.write(f"written to {output} ({len(page)} characters)\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
