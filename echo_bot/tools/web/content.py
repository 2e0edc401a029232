"""What came: a page, text, or something that is no text; by the declared type and by the first bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

_TEXT_TYPES = re.compile(
    r"text/.*|application/(?:.*\+)?(?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-javascript|x-ndjson|jsonl|sql"
    r"|x-sh|graphql|rtf|csv)|image/svg\+xml"
)
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_UNSAID = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/unknown"})
_HTML_START = re.compile(
    rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LOOK_AT = 2048


class Kind(StrEnum):
    HTML = "html"
    TEXT = "text"
    PDF = "pdf"
    IMAGE = "image"
    OTHER = "other"


def media_type(headers: Mapping[str, str]) -> str:
    """The declared type without its parameters, in lower case; "" when there is none."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def kind_of(headers: Mapping[str, str], body: bytes) -> Kind:
    declared, start = media_type(headers), body[:_LOOK_AT]
    if start.startswith(b"%PDF-") or declared == "application/pdf":
        return Kind.PDF
    if declared in _HTML_TYPES:
        return Kind.HTML
    if declared.startswith("image/") and declared != "image/svg+xml":
        return Kind.IMAGE
    if not (declared in _UNSAID or _TEXT_TYPES.fullmatch(declared)):
        return Kind.OTHER
    if not start.startswith(_UTF16_MARKS) and _CONTROLS.search(start):
        return Kind.OTHER
    return Kind.HTML if declared in _UNSAID and _HTML_START.match(start) else Kind.TEXT
