"""Copies of a text in which disguises are undone: patterns read these, the original is what gets stored."""

from __future__ import annotations

import base64
import codecs
import re
import unicodedata
from collections.abc import Iterator

from echo_bot.policy.guards.memory.traditional import SIMPLIFIED

_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһӏѵԛԝьвкмнтгпιοαερτυνκχηβ" + "ɪɢɴʀᴇᴀʙᴄᴅꜰʜᴊᴋʟᴍᴏᴘꜱᴛᴜᴠᴡʏᴢı",
    "aeopcyxijsdhlvqwbbkmhtrnioaeptuvkxnb" + "ignreabcdfhjklmopstuvwyzi",
)
_LEET = str.maketrans("01345789@$!|l", "oieastbgasiii")
_SPACED_LETTERS = re.compile(r"\b(?:\w ){3,}\w\b")
_NOT_WORD = re.compile(r"[\W_]+")
_CHINESE_FILL = re.compile(r"[\s*\-_·•・~`'\"“”‘’()（）\[\]【】「」『』<>《》{}|/\\^+=#]+")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,4000}={0,2}(?![A-Za-z0-9+/=])")
_MIXED_WORD = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|[@$!|]")


def plain(text: str) -> str:
    """Compatibility forms, case, marks and invisible characters undone; blanks one space; alphabets kept."""
    decomposed = unicodedata.normalize("NFKD", text)
    kept = "".join(char for char in decomposed if unicodedata.category(char) not in ("Mn", "Me", "Cf"))
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", kept).casefold())


def latin(plain_text: str) -> str:
    """`plain` text with letters of other alphabets that look Latin made Latin."""
    return plain_text if plain_text.isascii() else plain_text.translate(_LOOK_ALIKES)


def words(latin_text: str) -> str:
    """Only words, one space between: punctuation used as a disguise is gone, spaced letters are joined."""
    spaced = _NOT_WORD.sub(" ", latin_text)
    return _SPACED_LETTERS.sub(lambda run: run[0].replace(" ", ""), spaced)


def squashed(latin_text: str) -> str:
    """Spelt-out words without any separator; "" for a text that spells nothing out."""
    spaced = _NOT_WORD.sub(" ", latin_text)
    return spaced.replace(" ", "") if _SPACED_LETTERS.search(spaced) else ""


def leet(latin_text: str) -> str:
    """Digits used as letters undone; "l" becomes "i", which "1" may stand for; "" when there are none."""
    return words(latin_text.translate(_LEET)) if _MIXED_WORD.search(latin_text) else ""


def chinese(plain_text: str) -> str:
    """Simplified, without blanks and marks between the characters; "" for a text without any."""
    if not any("\u4e00" <= char <= "\u9fff" for char in plain_text):
        return ""
    return _CHINESE_FILL.sub("", plain_text.translate(SIMPLIFIED))


def decoded(text: str) -> Iterator[str]:
    """What is readable in base64 or rot13 within the text."""
    for found in _BASE64.finditer(text):
        body = found[0].rstrip("=")
        try:
            raw = base64.b64decode(body + "=" * (-len(body) % 4)).decode("utf-8")
        except ValueError:
            continue
        if raw.isprintable():
            yield raw
    if text.isascii() and len(text) < 4000:
        yield codecs.decode(text, "rot13")
