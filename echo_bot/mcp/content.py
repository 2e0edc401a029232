"""A call's result as text and files: what a server sends, bounded, and nothing of it trusted."""

from __future__ import annotations

import base64
import binascii
import json
import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_CHARS = 2_000_000
MOST_FILES = 8
MOST_FILE_BYTES = 12 * 1024 * 1024
_EXTENSION = re.compile(r"\.[a-z0-9]{1,8}")


@dataclass(frozen=True, slots=True)
class SentFile:
    """`extension` begins with a dot and comes from the kind that the server named."""

    data: bytes
    extension: str
    kind: str


@dataclass(frozen=True, slots=True)
class Content:
    """`is_error`: the server says that the tool failed, and the text says how."""

    text: str
    files: tuple[SentFile, ...]
    is_error: bool


def content_of(result: Mapping[str, Any]) -> Content:
    """Of a `CallToolResult` as on the wire; what is strange in it is left out and said."""
    parts: list[str] = []
    files: list[SentFile] = []
    blocks = result.get("content")
    for block in blocks if isinstance(blocks, list) else ():
        part = _part(block, files) if isinstance(block, dict) else "(something that is no content)"
        if part:
            parts.append(part)
    structured = result.get("structuredContent")
    if structured is not None and not _is_said(structured, parts):
        parts.append(json.dumps(structured, ensure_ascii=False))
    text = "\n".join(parts)
    if len(text) > MOST_CHARS:
        text = f"{text[:MOST_CHARS]}\n(cut: it sent {len(text):,} characters)"
    return Content(text, tuple(files), bool(result.get("isError")))


def _part(block: Mapping[str, Any], files: list[SentFile]) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            return _file(data, str(block.get("mimeType", "")), files, str(kind))
        case {"type": "resource", "resource": {"text": str(text)} as resource}:
            return f"{resource.get('uri', 'a resource')}:\n{text}"
        case {"type": "resource", "resource": {"blob": str(data)} as resource}:
            return _file(
                data, str(resource.get("mimeType", "")), files, str(resource.get("uri", "a resource"))
            )
        case {"type": "resource_link", "uri": str(uri)}:
            return f"link to {block.get('title') or block.get('name') or 'a resource'}: {uri}"
        case _:
            return f"(content of the kind {str(block.get('type'))[:40]!r}, which is not understood)"


def _file(data: str, kind: str, files: list[SentFile], what: str) -> str:
    """ "" when it becomes a file: its path is said where it is kept."""
    if len(files) >= MOST_FILES:
        return f"({what}: left out, it sent more than {MOST_FILES} files)"
    if len(data) > MOST_FILE_BYTES * 4 // 3 + 4:
        return f"({what}: left out, it is larger than {MOST_FILE_BYTES:,} bytes)"
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return f"({what}: left out, it is not Base64)"
    files.append(SentFile(content, _extension(kind), kind or "application/octet-stream"))
    return ""


def _extension(kind: str) -> str:
    guessed = mimetypes.guess_extension(kind.partition(";")[0].strip().lower()) or ""
    return guessed if _EXTENSION.fullmatch(guessed) else ".bin"


def _is_said(structured: object, parts: list[str]) -> bool:
    """Servers send structured content as text too, for those who do not know it."""
    for part in parts:
        try:
            if json.loads(part) == structured:
                return True
        except (ValueError, RecursionError):
            continue
    return False
