"""Backslash escapes of `$'…'`, `echo -e` and `printf`."""

from __future__ import annotations

import re

_SIMPLE = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}

_ANSI_C = re.compile(
    r"\\(?:x\{?([0-9A-Fa-f]{1,2})\}?|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_ECHO = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|0([0-7]{0,3})|([1-7][0-7]{0,2})|(.))",
    re.DOTALL,
)


def _character(number: int) -> str:
    """A code point, or nothing for one that no text can hold (bash ends the word at NUL)."""
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else ""


def ansi_c(text: str) -> str:
    """The value of `$'text'`."""
    if "\\" not in text:
        return text

    def replace(found: re.Match[str]) -> str:
        hexadecimal, short, long, octal, control, simple = found.groups()
        if digits := hexadecimal or short or long:
            return _character(int(digits, 16))
        if octal:
            return _character(int(octal, 8) & 0xFF)
        if control:
            return _character(ord(control.upper()) & 0x1F)
        return _SIMPLE.get(simple, "\\" + simple)

    return _utf8(_ANSI_C.sub(replace, text))


def backslashes(text: str) -> str:
    """The escapes that `echo -e` and `printf` understand; `\\c` ends the text."""
    if "\\" not in text:
        return text
    cut = re.search(r"(?<!\\)(?:\\\\)*\\c", text)
    if cut is not None:
        text = text[: cut.end() - 2]

    def replace(found: re.Match[str]) -> str:
        hexadecimal, short, long, zero_octal, octal, simple = found.groups()
        if digits := hexadecimal or short or long:
            return _character(int(digits, 16))
        if zero_octal is not None or octal:
            return _character(int(zero_octal or octal or "0", 8) & 0xFF)
        return _SIMPLE.get(simple, "\\" + simple)

    return _utf8(_ECHO.sub(replace, text))


def _utf8(text: str) -> str:
    """Bytes written one by one as escapes are read as UTF-8 where they are."""
    if text.isascii() or any(ord(char) > 0xFF for char in text):
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return text
