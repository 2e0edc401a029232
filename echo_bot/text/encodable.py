"""Text that can be written as UTF-8: lone surrogates, which platforms and programs do send, are replaced."""

from __future__ import annotations


def encodable(text: str) -> str:
    """`text` with every half of a character replaced by U+FFFD; the very same object when there is none."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
