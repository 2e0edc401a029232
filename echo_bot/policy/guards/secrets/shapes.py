"""Where secrets are, by shape: vendor tokens, key blocks, URL passwords, telling names, program flags."""

from __future__ import annotations

import re
from collections.abc import Iterator

from echo_bot.policy.guards.secrets.disguised import (
    BROKEN_TOKEN,
    SHORTEST_ENCODED,
    broken_spans,
    encoded_spans,
)
from echo_bot.policy.guards.secrets.flags import LONG_FLAGS, PROGRAMS, flag_spans
from echo_bot.policy.guards.secrets.fold import Span, lower_ascii
from echo_bot.policy.guards.secrets.hinted import Spotter
from echo_bot.policy.guards.secrets.names import PATTERNS, named_spans
from echo_bot.policy.guards.secrets.vendors import (
    LONG_WORD,
    LONGEST_UNSEEN,
    PRIVATE_KEY_BODY,
    PRIVATE_KEY_END,
    PRIVATE_KEY_START,
    PUTTY_KEY,
    SECRET_PATHS,
    TOKENS,
    TOKENS_ESCAPED,
    UNLISTED_TOKEN,
)

_USERINFO = re.compile(r"(?<=://)[^\s:/?#@\"'<>]*+:(?P<password>[^\s/?#\"'<>]+)@(?=[^\s?#@]|$)")
_KEY_AS_USER = re.compile(r"(?<=://)[0-9a-f]{32}(?=@)")
_TOKEN_AS_USER = re.compile(r"(?<=://)(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{16,}(?=@)")
_ORACLE = re.compile(r"(?:thin|oci8?):[\w.-]{1,60}/(?P<password>[^\s@/\"']{4,})@")
_PLACEHOLDER_PASSWORD = re.compile(r"[$*{<%][^@]*$|x+$|\*+$|\.{3,}$", re.IGNORECASE)

SPOTTER = Spotter((*PATTERNS, *LONG_FLAGS, *PROGRAMS, SECRET_PATHS, BROKEN_TOKEN))


def secret_spans(text: str) -> Iterator[Span]:
    """The spans of secret values, in no order, possibly overlapping."""
    for word in LONG_WORD.finditer(text):
        for found in _tokens(text, word):
            if not _is_blanked(found[0]):
                yield found.span(found.lastgroup or 0)
        if word.end() - word.start() >= SHORTEST_ENCODED:
            yield from encoded_spans(text, *word.span())
    lower = lower_ascii(text)
    possible = SPOTTER.possible(lower)
    if BROKEN_TOKEN in possible:
        yield from broken_spans(text)
    if SECRET_PATHS in possible:
        yield from (found.span(1) for found in SECRET_PATHS.pattern.finditer(lower))
    if "PRIVATE KEY" in text:
        yield from _private_keys(text)
    if "Private-Lines" in text:
        yield from (found.span("body") for found in PUTTY_KEY.finditer(text))
    if "://" in text:
        for found in _USERINFO.finditer(text):
            if not _is_reference(found["password"]):
                yield found.span("password")
        yield from (found.span() for found in _KEY_AS_USER.finditer(lower))
        yield from (found.span() for found in _TOKEN_AS_USER.finditer(text))
    if "jdbc:oracle" in lower:
        yield from (found.span("password") for found in _ORACLE.finditer(text))
    yield from named_spans(text, lower, possible)
    yield from flag_spans(text, lower, possible)


def _tokens(text: str, word: re.Match[str]) -> Iterator[re.Match[str]]:
    yield from TOKENS.finditer(text, *word.span())
    if "\\" in word[0] or "%" in word[0]:
        yield from TOKENS_ESCAPED.finditer(text, *word.span())
    if word.end() - word.start() > LONGEST_UNSEEN:
        yield from UNLISTED_TOKEN.finditer(text, *word.span())


def _private_keys(text: str) -> Iterator[Span]:
    starts = list(PRIVATE_KEY_START.finditer(text))
    limits = [*(start.start() for start in starts[1:]), len(text)]
    for start, limit in zip(starts, limits, strict=False):
        end = PRIVATE_KEY_END.search(text, start.end(), limit)
        if end is not None:
            body = (start.end(), end.start())
        else:
            found = PRIVATE_KEY_BODY.match(text, start.end(), limit)
            body = found.span() if found else (start.end(), start.end())
        if text[body[0] : body[1]].strip():
            yield body


def _is_blanked(token: str) -> bool:
    """Is the token an example whose letters somebody replaced by one, `ghp_xxxxxxxx`?"""
    return len(set(token[-16:])) == 1


def _is_reference(password: str) -> bool:
    return bool(_PLACEHOLDER_PASSWORD.fullmatch(password)) or (
        password.startswith(("$", "{", "%", "<")) and password.endswith(("}", "%", ">", ")"))
    )
