"""The page's sentences in the chosen language: those that its scripts ask for, out of the one catalogue."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from echo_bot.text.language import N_, _, chosen

_ASKED_FOR = re.compile(r'\b(?:_|fill)\("([^"\\]+)"')
_NEEDS_SCRIPTS = N_("This page needs JavaScript.")


def words_script(page: Path) -> str:
    """The module that `language.js` imports."""
    said = {message: _(message) for message in _messages(page)}
    changed = {message: words for message, words in said.items() if words != message}
    lines = (
        f"export const language = {json.dumps(chosen())};",
        f"export const words = {json.dumps(changed)};",
    )
    return "\n".join(lines) + "\n"


def index_page(page: Path) -> str:
    """The page itself, which says its language before any script runs."""
    html = (page / "index.html").read_text("utf-8")
    if chosen() == "en":
        return html
    return html.replace('lang="en"', 'lang="zh-Hans"').replace(_NEEDS_SCRIPTS, _(_NEEDS_SCRIPTS))


@cache
def _messages(page: Path) -> tuple[str, ...]:
    scripts = sorted(page.glob("*.js"))
    return tuple(
        dict.fromkeys(m for script in scripts for m in _ASKED_FOR.findall(script.read_text("utf-8")))
    )
