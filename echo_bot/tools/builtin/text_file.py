"""A text file for editing: decoded, with what must be put back kept aside (byte order mark, line endings)."""

from __future__ import annotations

from dataclasses import dataclass

from echo_bot.files import Admitted, FileDoor, FileRefusal
from echo_bot.files.identity import MAX_HASHED_BYTES
from echo_bot.policy.guards.paths import shown

_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class TextFile:
    """`text` has plain newlines where all of the file's were CRLF; `data` and `identity` as read."""

    text: str
    data: bytes
    identity: str
    has_mark: bool
    is_crlf: bool

    def encoded(self, text: str) -> bytes | None:
        """A new text in this file's form; None when it is no valid Unicode."""
        if self.is_crlf:
            text = text.replace("\n", "\r\n")
        return encode((_MARK if self.has_mark else "") + text)


def encode(text: str) -> bytes | None:
    """UTF-8; None for lone surrogates."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return None


def decode(data: bytes, identity: str) -> TextFile | None:
    """None when it is not UTF-8 text."""
    if b"\0" in data:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    has_mark = text.startswith(_MARK)
    text = text.removeprefix(_MARK)
    plain = text.replace("\r\n", "\n")
    is_crlf = "\r\n" in text and "\r" not in plain and text.count("\n") == text.count("\r\n")
    return TextFile(plain if is_crlf else text, data, identity, has_mark, is_crlf)


def read_text(door: FileDoor, admitted: Admitted) -> TextFile | FileRefusal:
    """A file to be changed, as text; its bytes are few enough to be bound by their hash."""
    content = door.read(admitted, MAX_HASHED_BYTES)
    if isinstance(content, FileRefusal):
        return content
    text = decode(content.data, content.identity)
    return text or FileRefusal("failed", f"{shown(admitted.path.given)} is not UTF-8 text and is not edited.")
