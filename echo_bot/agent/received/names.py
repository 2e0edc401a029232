"""Names of received files and of their folders: what a sender wrote becomes a plain, harmless name."""

from __future__ import annotations

import hashlib
import mimetypes
import re
import unicodedata
from collections.abc import Iterator

from echo_bot.events import ContentBlock, SessionKey

FOLDER = "incoming"
_MAX_BYTES = 150
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_SEPARATORS = re.compile(r'[/\\:*?"<>|]')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_MIME = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}", re.ASCII)


def clean_name(block: ContentBlock) -> str:
    """One component, at most 150 bytes: no separators, unseen characters, hidden or reserved names."""
    name = unicodedata.normalize("NFC", block.name)
    name = "".join(char for char in name if unicodedata.category(char) not in _UNSEEN)
    name = " ".join(_SEPARATORS.sub("_", name).split()).lstrip(".-~ ").rstrip(". ")
    if not name.strip("_. "):
        name = block.type.value + (mimetypes.guess_extension(clean_mime(block.mime)) or "")
    if _RESERVED.fullmatch(name):
        name = f"_{name}"
    return _shortened(name)


def clean_mime(mime: str) -> str:
    return mime.lower() if _MIME.fullmatch(mime) else ""


def candidates(name: str) -> Iterator[str]:
    """The name, then `name-2`, `name-3` … before its ending."""
    yield name
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem, dot, ending = name, "", ""
    for number in range(2, 1000):
        yield f"{stem}-{number}{dot}{ending}"


def session_folder(key: SessionKey) -> str:
    """A folder of its own for each session: readable, and told apart by a hash where names would meet."""
    plain = re.sub(r"[^A-Za-z0-9_.@+-]+", "-", key)[:60].strip(".-")
    return f"{plain}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"


def _shortened(name: str) -> str:
    if len(name.encode()) <= _MAX_BYTES:
        return name
    stem, dot, ending = name.rpartition(".")
    if not stem or len(ending.encode()) > 20:
        stem, dot, ending = name, "", ""
    room = _MAX_BYTES - len((dot + ending).encode())
    return stem.encode()[:room].decode(errors="ignore").rstrip() + dot + ending
