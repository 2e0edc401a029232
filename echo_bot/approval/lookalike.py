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
    notes = [*_host_notes(text), *_word_notes(text)]
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
            yield _("The host {host} is not ASCII: it is looked up as {ascii}.").format(
                host=host, ascii=punycode(host)
            )


def _word_notes(text: str) -> Iterator[str]:
    for found in _WORD.finditer(text):
        word = found[0]
        if word.isascii():
            continue
        alphabets = {alphabet for char in word if (alphabet := _alphabet(char))}
        if len(alphabets) > 1:
            foreign = {char for char in word if _alphabet(char) not in ("", "LATIN")}
            codes = ", ".join(f"U+{ord(char):04X}" for char in sorted(foreign))
            template = ngettext(
                "The word {word} has mixed alphabets: {codes} looks like another letter.",
                "The word {word} has mixed alphabets: {codes} look like other letters.",
                len(foreign),
            )
            yield template.format(word=word, codes=codes)


def _alphabet(char: str) -> str:
    """The alphabet of a letter, among those with letters that look alike; "" for others."""
    if char.isascii():
        return "LATIN" if char.isalpha() else ""
    if not char.isalpha():
        return ""
    first = unicodedata.name(char, "").partition(" ")[0]
    return first if first in _ALPHABETS else ""
