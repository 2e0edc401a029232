"""A page as markdown, read by a child process with a deadline."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from echo_bot.execution.environment import clean_environment
from echo_bot.tools.web.written import clean_line, clean_text

_CHILD = Path(__file__).with_name("page_reader.py")
_MAX_TITLE = 300
MISSING = (
    "the package trafilatura is not installed: run pip install 'echo-bot[web]' "
    "(in a checkout: pip install -c constraints.txt -e '.[web]')"
)


@dataclass(frozen=True, slots=True)
class Page:
    """`markdown` is the main part, `text` the plain words of the whole page; either may be empty."""

    title: str = ""
    markdown: str = ""
    text: str = ""


class Unreadable(Exception):
    """The page could not be turned into text; the message is a sentence."""


def can_read() -> bool:
    """Is the package there that reads pages?"""
    return find_spec("trafilatura") is not None


async def read_page(html: str, url: str, seconds: float) -> Page:
    """Raises Unreadable when it takes longer than `seconds`, or fails."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        str(_CHILD),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=clean_environment(os.environ, home="/", tmpdir="/tmp"),
        start_new_session=True,
    )
    request = url.encode("utf-8", "replace") + b"\n" + html.encode("utf-8", "replace")
    try:
        async with asyncio.timeout(seconds):
            answer, _ = await child.communicate(request)
    except TimeoutError:
        raise Unreadable(f"turning the page into text took longer than {seconds:g} s") from None
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    try:
        found = json.loads(answer)
        title, markdown, text = found["title"], found["markdown"], found["text"]
    except (ValueError, KeyError, TypeError):
        raise Unreadable("the page could not be turned into text") from None
    return Page(clean_line(title, _MAX_TITLE), clean_text(markdown), clean_text(text))
