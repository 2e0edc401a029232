"""Bytes to text: by byte order mark, by the header, by the document's own word, else by the bytes."""

from __future__ import annotations

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_IN_HEADER = re.compile(r"""charset\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_IN_DOCUMENT = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})"""
    rb"""|^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9_.:-]{1,40})""",
    re.IGNORECASE,
)
_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-9": "cp1254",
}
"""Browsers read these names as the wider set, and pages rely on it."""

_OF_PAGES = re.compile(
    r"ascii|utf-8|iso8859-\d+|cp\d+|koi8-[rut]|gb2312|gbk|gb18030|hz|big5(?:hkscs)?|shift_jis|euc_(?:jp|kr)"
    r"|iso2022_jp|mac-\w+|tis-620|johab"
)
"""The codecs that pages are written in; Python knows others that decode to surprises."""

_LOOK_AT = 4096


def decoded(body: bytes, content_type: str) -> str:
    """The text; what does not fit its encoding becomes the replacement character."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    named = _named(body, content_type)
    if named:
        return body.decode(named, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return _guessed(body)


def _named(body: bytes, content_type: str) -> str:
    """The encoding by its usual name; "" when nothing known is named."""
    labels = []
    if found := _IN_HEADER.search(content_type):
        labels.append(found[1])
    if inside := _IN_DOCUMENT.search(body[:_LOOK_AT]):
        labels.append((inside[1] or inside[2]).decode("ascii"))
    for label in labels:
        try:
            codec = codecs.lookup(label)
        except LookupError:
            continue
        if _OF_PAGES.fullmatch(codec.name):
            return _WIDER.get(codec.name, codec.name)
    return ""


def _guessed(body: bytes) -> str:
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return body.decode("cp1252", "replace")
    best = from_bytes(body[:65536]).best()
    return body.decode(best.encoding if best else "cp1252", "replace")
