"""Tokens that do not stand as they are: encoded in base64, or broken by the end of a line."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from echo_bot.policy.guards.secrets.fold import Span
from echo_bot.policy.guards.secrets.hinted import hinted
from echo_bot.policy.guards.secrets.vendors import TOKENS

_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{28,}+={0,2}+")
SHORTEST_ENCODED = 28
_LONGEST_READ = 4096
"""Of a longer run only so much is read; a multiple of four."""

_HEX = re.compile("[0-9a-f]+|[0-9A-F]+")
_URL_SAFE = str.maketrans("-_", "+/")
_ASSIGNED = re.compile(r"(?:password|passwd|secret|token|api_?key)[\"']?\s*[=:]\s*\S{4}", re.IGNORECASE)

BROKEN_TOKEN = hinted(
    r"(?<![A-Za-z0-9_-])(?P<first>(?:gh[pousr]_|github_pat_|glpat-|sk-[a-z]{3,8}|xox[a-z]-|AKIA|ASIA|AIza|npm_|hf_|pypi-|eyJ|\d{8,10}:AA)"
    r"[A-Za-z0-9_.-]{0,80})\r?\n[ \t>|]{0,8}(?P<rest>(?=[A-Za-z_.-]*\d)[A-Za-z0-9_.-]{8,})",
    "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-|sk-|xox|akia|asia|aiza|npm_|hf_|pypi-|eyj|:aa",
)
"""The beginning of a token nobody mistakes, at the end of a line, and what the next line begins with."""


def encoded_spans(text: str, start: int, end: int) -> Iterator[Span]:
    """The spans of base64 and hexadecimal in a word that hold a token or name a secret."""
    for found in _ENCODED.finditer(text, start, end):
        inner = _decoded(found[0][:_LONGEST_READ])
        if inner is not None and (TOKENS.search(inner) or _ASSIGNED.search(inner)):
            yield found.span()


def _decoded(run: str) -> str | None:
    body = run.rstrip("=").translate(_URL_SAFE)
    try:
        raw = bytes.fromhex(body) if _HEX.fullmatch(body) else base64.b64decode(body + "=" * (-len(body) % 4))
        return raw.decode("ascii")
    except ValueError:
        return None


def broken_spans(text: str) -> Iterator[Span]:
    """The spans of both halves of tokens that are whole only when the lines are put together."""
    for found in BROKEN_TOKEN.pattern.finditer(text):
        first, rest = found["first"], found["rest"]
        whole = TOKENS.match(first + rest)
        if whole and whole.end() > len(first) and not TOKENS.fullmatch(first):
            yield found.span("first")
            yield found.start("rest"), found.start("rest") + whole.end() - len(first)
