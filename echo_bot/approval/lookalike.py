"""Names that look like others: hosts with letters beyond ASCII, words that mix alphabets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from echo_bot.text.language import _, ngettext

_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/{1,3}([^\s/?#'\"<>\\]+)")
_WORD = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*")
_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU")
_MOST_NOTES = 8


def lookalike_notes(text: str) -> tuple[str, ...]:
    """Sentences about hosts and words in `text` that may be taken for others."""
    if text.isascii():
        return ()
    notes = [*_host_notes(text), *_word_notes(text), *_imitation_notes(text)]
    unique = tuple(dict.fromkeys(notes))
    if len(unique) <= _MOST_NOTES:
        return unique
    return (
        *unique[:_MOST_NOTES],
        _("{count} more words with look-alike letters.").format(count=len(unique) - _MOST_NOTES),
    )


def punycode(host: str) -> str:
    """The ASCII form in which a host is looked up, label by label; never raises."""
    normal = unicodedata.normalize("NFKC", host).casefold()
    return ".".join(
        label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")
        for label in re.split(r"[.\u3002\uff0e\uff61]", normal)
    )


def _host_notes(text: str) -> Iterator[str]:
    for found in _HOST.finditer(text):
        host = found[1].rpartition("@")[2]
        if not host.isascii():
            yield _("The host {host} is non-ASCII ({codes}): it is looked up as {ascii}.").format(
                host=host, codes=_codes(set(host)), ascii=punycode(host)
            )


def _word_notes(text: str) -> Iterator[str]:
    for found in _WORD.finditer(text):
        word = found[0]
        if word.isascii():
            continue
        alphabets = {alphabet for char in word if (alphabet := _alphabet(char))}
        if len(alphabets) > 1:
            foreign = {char for char in word if _alphabet(char) not in ("", "LATIN")}
            codes = _codes(foreign)
            template = ngettext(
                "The word {word} has mixed alphabets: {codes} looks like another letter.",
                "The word {word} has mixed alphabets: {codes} look like other letters.",
                len(foreign),
            )
            yield template.format(word=word, codes=codes)


_POSES_AS_LATIN = frozenset("асԁеһіјӏорԛѕԝхуѵАВСЕНІЈКМОРЅТХУѴΑΒΕΖΗΙΚΜΝΟΡΤΥΧορν")
"""Letters of other alphabets that a reader takes for Latin ones."""
_PATH_MARKS = re.compile(
    r"(?<![^\x00-\x7f])[\u2024\u2044\u2215\u29f8\ua4f8\ufe52\uff0e\uff0f\uff3c](?=[A-Za-z0-9_.~])"
)
"""What looks like a dot or a slash, among ASCII characters."""


def _imitation_notes(text: str) -> Iterator[str]:
    """Whole words, letters of other shapes, dots and slashes that pose as ASCII ones."""
    letters = {char for char in text if _alphabet(char) not in ("", "LATIN")}
    for found in _WORD.finditer(text) if letters and letters <= _POSES_AS_LATIN else ():
        if found[0].isalpha() and set(found[0]) <= _POSES_AS_LATIN:
            yield _("{word} only looks like ASCII: {codes}.").format(
                word=found[0], codes=_codes(set(found[0]))
            )
    for word in text.split():
        shaped = {char for char in word if not char.isascii() and _is_shaped(char)}
        if shaped:
            yield _("{word} only looks like ASCII: {codes}.").format(word=word[:40], codes=_codes(shaped))
    if marks := set(_PATH_MARKS.findall(text)):
        yield _("{word} only looks like ASCII: {codes}.").format(
            word=" ".join(sorted(marks)), codes=_codes(marks)
        )


def _is_shaped(char: str) -> bool:
    """A wide, bold, script or circled form of an ASCII letter or digit."""
    kind = unicodedata.decomposition(char).partition(">")[0]
    plain = unicodedata.normalize("NFKC", char)
    return kind in ("<wide", "<font", "<circle") and plain.isascii() and plain.isalnum()


def _codes(characters: set[str]) -> str:
    return ", ".join(f"U+{ord(char):04X}" for char in sorted(characters) if not char.isascii())


def _alphabet(char: str) -> str:
    """The alphabet of a letter, among those with letters that look alike; "" for others."""
    if char.isascii():
        return "LATIN" if char.isalpha() else ""
    if not char.isalpha():
        return ""
    first = unicodedata.name(char, "").partition(" ")[0]
    return first if first in _ALPHABETS else ""
