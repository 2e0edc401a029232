"""Copies of a text in which disguises are undone: patterns read these, the original is what gets stored."""

# ruff: noqa: E501 - a pattern is read as one line

from __future__ import annotations

import base64
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from echo_bot.policy.guards.memory.traditional import SIMPLIFIED

_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһӏѵԛԝьвкмнтгпιοαερτυνκχηβ" + "ɪɢɴʀᴇᴀʙᴄᴅꜰʜᴊᴋʟᴍᴏᴘꜱᴛᴜᴠᴡʏᴢı",
    "aeopcyxijsdhlvqwbbkmhtrnioaeptuvkxnb" + "ignreabcdfhjklmopstuvwyzi",
)
_SPACED_LETTERS = re.compile(r"\b(?:\w ){3,}\w\b")
_NOT_WORD = re.compile(r"[\W_]+")
_CHINESE_FILL = re.compile(r"[\s*\-_·•・~`'\"“”‘’()（）\[\]【】「」『』<>《》{}|/\\^+=#]+")
_MENTION = re.compile(
    r"\b(book|film|movie|song|album|episode|article|talk|paper|lecture|chapter|attack|phrase|example|string|payload|slogan|title|headline)"
    r" ['\"‘“«][^'\"’”»\n]{1,60}['\"’”»](?= (?:is|was|are|were|has|had|appears|appeared|by|from)\b)"
)
_BETWEEN_CHINESE = re.compile(
    r"(?<=[\u4e00-\u9fff])[\s*_=.·•・~`'\"“”‘’【】「」『』<>《》{}|/\\^+#-]+(?=[\u4e00-\u9fff])"
)
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,4000}={0,2}(?![A-Za-z0-9+/=_-])")
_URL_SAFE = str.maketrans("-_", "+/")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ :,]?){12,4000}+")
_TELLING = (
    "ignor",
    "disregard",
    "forget",
    "overrid",
    "bypass",
    "instruct",
    "prompt",
    "guideline",
    "approv",
    "password",
    "secret",
)
"""Words without which a text read in rot13 or backwards gives no order worth reading."""

_NOT_HEX = re.compile(r"0x|[^0-9A-Fa-f]")
_ESCAPE = re.compile(r"\\u\{?([0-9A-Fa-f]{4,5})\}?|\\x([0-9A-Fa-f]{2})|\\U000([0-9A-Fa-f]{5})|\\[tnr]")
_LONG_WORD = re.compile(r"[a-z]{18,}")


def plain(text: str) -> str:
    """Compatibility forms, case, marks and invisible characters undone; blanks one space; alphabets kept."""
    decomposed = unicodedata.normalize("NFKD", text)
    kept = "".join(char for char in decomposed if unicodedata.category(char) not in ("Mn", "Me", "Cf"))
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", kept).casefold())


def without_mentions(plain_text: str) -> str:
    """`plain` text without short quotes that are named and talked about: the book "…" is, the attack '…' was."""
    return _MENTION.sub(r"\1 …", plain_text)


def latin(plain_text: str) -> str:
    """`plain` text with letters of other alphabets that look Latin made Latin."""
    return plain_text if plain_text.isascii() else plain_text.translate(_LOOK_ALIKES)


def words(latin_text: str) -> str:
    """Only words, one space between: punctuation used as a disguise is gone, spaced letters are joined."""
    spaced = _NOT_WORD.sub(" ", latin_text)
    return _SPACED_LETTERS.sub(lambda run: run[0].replace(" ", ""), spaced)


def squashed(latin_text: str) -> str:
    """Spelt-out and run-together words without any separator; "" for a text that has neither."""
    spaced = _NOT_WORD.sub(" ", latin_text)
    if _SPACED_LETTERS.search(spaced):
        return spaced.replace(" ", "")
    return " ".join(_LONG_WORD.findall(spaced))


def chinese(plain_text: str) -> str:
    """Simplified, without blanks and marks between the characters; "" for a text without any."""
    if not any("\u4e00" <= char <= "\u9fff" for char in plain_text):
        return ""
    return _CHINESE_FILL.sub("", plain_text.translate(SIMPLIFIED))


def simplified(plain_text: str) -> str:
    """Simplified characters, and no blanks or marks between two of them; other scripts stay as they are."""
    if plain_text.isascii():
        return plain_text
    return _BETWEEN_CHINESE.sub("", plain_text.translate(SIMPLIFIED))


def decoded(text: str) -> Iterator[str]:
    """What is readable in the text after one decoding: base64, hex, escapes, entities, rot13, backwards."""
    for found in _BASE64.finditer(text):
        body = found[0].rstrip("=").translate(_URL_SAFE)
        yield from _readable(base64.b64decode, body + "=" * (-len(body) % 4))
    for found in _HEX.finditer(text):
        yield from _readable(bytes.fromhex, _NOT_HEX.sub("", found[0]))
    if "%" in text and (unquoted := unquote(text)) != text:
        yield unquoted
    if "&" in text and (unescaped := html.unescape(text)) != text:
        yield unescaped
    if "\\" in text and (plain_text := _ESCAPE.sub(_escaped, text)) != text:
        yield plain_text
    lower = text.casefold()
    if any(codecs.encode(word, "rot13") in lower for word in _TELLING):
        yield codecs.decode(text, "rot13")
    if any(word[::-1] in lower for word in _TELLING):
        yield text[::-1]


def _readable(decode: Callable[[str], bytes], encoded: str) -> Iterator[str]:
    try:
        raw = decode(encoded).decode("utf-8")
    except ValueError:
        return
    if raw.replace("\n", " ").isprintable():
        yield raw


def _escaped(found: re.Match[str]) -> str:
    digits = found[1] or found[2] or found[3]
    return chr(int(digits, 16)) if digits else " "
