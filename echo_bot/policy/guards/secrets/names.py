"""Values that a telling name announces: assignments, JSON, YAML, headers, cookies, query strings, prose."""

from __future__ import annotations

import re
from collections.abc import Iterator

from echo_bot.policy.guards.secrets.fold import Span
from echo_bot.policy.guards.secrets.values import has_shape, is_secret

_COMPOUND = (
    r"(?:api|access|private|auth|signing|encryption|decrypt(?:ion)?|master|shared|account|subscription|service|license"
    r"|consumer|app|bot|session|refresh|id|bearer|personal|secret|client|storage|webhook|hmac|deploy)[_ -]?"
    r"(?:key|token|secret|password)"
)
_STRONG = (
    rf"authorization|pass(?:word|wd|phrase|code)|{_COMPOUND}|secret(?:[_-]?(?:access[_-]?)?key)?|pwd"
    r"|密[码碼钥鑰]|口令"
)
_NAMED = re.compile(
    rf"(?:(?P<strong>{_STRONG})|(?P<weak>token|pass|auth|creds?|credentials?|signature|key))"
    r"(?:[\"'\]]{0,2}|\\\")[ \t]*(?P<separator>=>|:=|[:=：]|>(?=[^<\s=]))[ \t]*"
    r"(?:(?:bearer|basic|bot|token|digest|apikey|negotiate)[ \t]++)?"
    r"(?:(?P<quote>\\?[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\n])++)|(?P<bare>[^\s\"'`,;&|<>()\[\]{}]++))",
    re.IGNORECASE,
)
_PAGE_MARKS = re.compile(
    r"(?:page|next|prev|continuation|sync|cursor|max|num|total|primary|foreign|public|sort)[_-]?$", re.I
)

_PROSE = re.compile(
    r"\b(?:password|passcode|passphrase|api[ -]key|secret(?: key)?|token)\s++(?:is|was)\s++[:\"'`]*"
    r"(?P<value>[^\s\"'`,;]{6,})",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?:密[码碼钥鑰]|秘钥|令牌|口令|私钥)\s*(?:是|为|為|[:：=])\s*[\"'“「]?(?P<value>[!-~]{6,})"
)
_BEARER = re.compile(r"\bbearer[ \t]++(?P<value>[A-Za-z0-9._~+/=-]{16,})", re.IGNORECASE)
_QUERY = re.compile(
    r"[?&;](?:[\w.-]*?(?:token|key|sig|signature|secret|password|passwd|pwd|auth|jwt|code|credential))="
    r"(?P<value>[^&#\s\"'<>]{12,})",
    re.IGNORECASE,
)
_COOKIES = re.compile(r"\bcookie\"?'?\s*[:=]\s*(?P<pairs>[^\n]+)", re.IGNORECASE)
_COOKIE = re.compile(
    r"(?:sess|sid|token|auth|jwt|login|remember|csrf|xsrf)[\w.-]*=(?P<value>[^;\s\"']{8,})", re.IGNORECASE
)


def named_spans(text: str) -> Iterator[Span]:
    """The spans of values that look like secrets and follow a name that says so."""
    for found in _NAMED.finditer(text):
        if (span := _named_value(text, found)) is not None:
            yield span
    for pattern in (_PROSE, _CHINESE, _BEARER, _QUERY):
        for found in pattern.finditer(text):
            if has_shape(found["value"]) and is_secret(found["value"], strong=False):
                yield found.span("value")
    for header in _COOKIES.finditer(text):
        for found in _COOKIE.finditer(text, *header.span("pairs")):
            yield found.span("value")


def _named_value(text: str, found: re.Match[str]) -> Span | None:
    if not _stands_as_name(text, found):
        return None
    group = "quoted" if found["quoted"] is not None else "bare"
    value = found[group]
    is_assignment = found["separator"] in ("=", ":=", "=>", ">") or group == "quoted"
    if group == "bare":
        value = value.rstrip(".")
    if not value or not is_secret(value.strip(), strong=bool(found["strong"]) and is_assignment):
        return None
    start = found.start(group)
    return start, start + len(value)


def _stands_as_name(text: str, found: re.Match[str]) -> bool:
    """A name is a whole word or ends a compound: `dbToken` and `db_token`, not `monkey` or `compass`."""
    start = found.start()
    if _PAGE_MARKS.search(text, max(0, start - 14), start):
        return False
    if found["strong"]:
        return not (found["strong"].casefold() == "pwd" and text[start - 1 : start].isalpha())
    before, first = text[start - 1 : start], text[start]
    if found["weak"].casefold() == "key":
        return before == "-"
    return not before.isalpha() or (before.islower() and first.isupper())
