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
_LOOK_ALIKES |= str.maketrans(
    "".join(chr(first + place) for first in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6) for place in range(26)),
    "abcdefghijklmnopqrstuvwxyz" * 4,
)
"""Squared, circled on black, squared on black, and the letters of flags: no compatibility form undoes them."""

_TURNED = str.maketrans("ɐqɔpǝɟƃɥᴉıɾʞɯuodbɹʇnʌʍʎ", "abcdefghiijkmnopqrtuvwy")
_TURNED_LETTERS = re.compile("[ɐɔǝɟƃɥᴉɾʞɯɹʇʌʍʎ]")
_FEWEST_TURNED = 3
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
_BITS = re.compile(r"(?<![01])(?:[01]{8}[ ,]?){4,2000}+(?![01])")
_CODES = re.compile(r"(?<![\w.])\d{2,3}(?:[ ,;]{1,2}\d{2,3}){6,2000}+")
_MORSE = re.compile(r"(?<![\w.\-–—·•/])[.\-–—·•]{1,6}(?:[ /|]{1,3}[.\-–—·•]{1,6}){4,2000}+")
_MORSE_SIGNS = str.maketrans("–—·•|", "--../")
_MORSE_LETTERS = dict(
    zip(
        [
            ".-",
            "-...",
            "-.-.",
            "-..",
            ".",
            "..-.",
            "--.",
            "....",
            "..",
            ".---",
            "-.-",
            ".-..",
            "--",
            "-.",
            "---",
            ".--.",
            "--.-",
            ".-.",
            "...",
            "-",
            "..-",
            "...-",
            ".--",
            "-..-",
            "-.--",
            "--..",
        ],
        "abcdefghijklmnopqrstuvwxyz",
        strict=True,
    )
)
_BASE32 = re.compile(r"(?<![A-Za-z0-9])[A-Z2-7]{24,4000}={0,6}(?![A-Za-z0-9=])")
_BACKWARDS = re.compile(
    r"backwards|in reverse|revers(?:e|ed)\b|倒[着著过過]|倒[读讀念]|反[着著过過]|反[读讀念]|逆序"
)
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
    """What is readable after one decoding: base64 and base32, hex, bits, codes, Morse, escapes, rot13, backwards."""
    for found in _BASE64.finditer(text):
        body = found[0].rstrip("=").translate(_URL_SAFE)
        yield from _readable(base64.b64decode, body + "=" * (-len(body) % 4))
    for found in _BASE32.finditer(text):
        body = found[0].rstrip("=")
        yield from _readable(base64.b32decode, body + "=" * (-len(body) % 8))
    for found in _HEX.finditer(text):
        yield from _readable(bytes.fromhex, _NOT_HEX.sub("", found[0]))
    for found in _BITS.finditer(text):
        yield from _readable(_from_bits, found[0])
    for found in _CODES.finditer(text):
        yield from _readable(_from_codes, found[0])
    for found in _MORSE.finditer(text):
        yield _from_morse(found[0])
    if len(_TURNED_LETTERS.findall(text)) >= _FEWEST_TURNED:
        yield text.casefold().translate(_TURNED)[::-1]
    if "%" in text and (unquoted := unquote(text)) != text:
        yield unquoted
    if "&" in text and (unescaped := html.unescape(text)) != text:
        yield unescaped
    if "\\" in text and (plain_text := _ESCAPE.sub(_escaped, text)) != text:
        yield plain_text
    lower = text.casefold()
    if any(codecs.encode(word, "rot13") in lower for word in _TELLING):
        yield codecs.decode(text, "rot13")
    if any(word[::-1] in lower for word in _TELLING) or _BACKWARDS.search(lower):
        yield text[::-1]


def _readable(decode: Callable[[str], bytes], encoded: str) -> Iterator[str]:
    try:
        raw = decode(encoded).decode("utf-8")
    except ValueError:
        return
    if raw.replace("\n", " ").isprintable():
        yield raw


def _from_bits(text: str) -> bytes:
    return bytes(int(eight, 2) for eight in re.findall("[01]{8}", text))


def _from_codes(text: str) -> bytes:
    return bytes(map(int, re.findall(r"\d+", text)))


def _from_morse(text: str) -> str:
    words = text.translate(_MORSE_SIGNS).split("/")
    return " ".join("".join(_MORSE_LETTERS.get(sign, "") for sign in word.split()) for word in words)


def _escaped(found: re.Match[str]) -> str:
    digits = found[1] or found[2] or found[3]
    return chr(int(digits, 16)) if digits else " "
