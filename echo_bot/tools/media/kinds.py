"""Kinds of images and recordings by their first bytes; a name or a declared type proves nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MediaKind:
    extension: str
    mime: str


PNG = MediaKind("png", "image/png")
JPEG = MediaKind("jpg", "image/jpeg")
GIF = MediaKind("gif", "image/gif")
WEBP = MediaKind("webp", "image/webp")
MP3 = MediaKind("mp3", "audio/mpeg")
WAV = MediaKind("wav", "audio/wav")
OGG = MediaKind("ogg", "audio/ogg")
FLAC = MediaKind("flac", "audio/flac")
AAC = MediaKind("aac", "audio/aac")
MP4 = MediaKind("m4a", "audio/mp4")
WEBM = MediaKind("webm", "audio/webm")

IMAGES = (PNG, JPEG, GIF, WEBP)
RECORDINGS = (MP3, WAV, OGG, FLAC, AAC)


def image_kind(data: bytes) -> MediaKind | None:
    """One of `IMAGES`; None for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return PNG
    if data.startswith(b"\xff\xd8\xff"):
        return JPEG
    if data.startswith((b"GIF87a", b"GIF89a")):
        return GIF
    return WEBP if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None


def recording_kind(data: bytes) -> MediaKind | None:
    """One of `RECORDINGS`; None for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WAVE":
        return WAV
    if data.startswith(b"OggS"):
        return OGG
    if data.startswith(b"fLaC"):
        return FLAC
    if data.startswith(b"ID3"):
        return MP3
    return _frame_kind(data)


def voice_kind(data: bytes) -> MediaKind | None:
    """One of `RECORDINGS`, or of the containers that voice messages come in as well."""
    if data[4:8] == b"ftyp":
        return MP4
    return WEBM if data.startswith(b"\x1a\x45\xdf\xa3") else recording_kind(data)


def _frame_kind(data: bytes) -> MediaKind | None:
    """MPEG audio without a tag begins with a frame: eleven set bits; layer 0 is AAC."""
    if len(data) < 4 or data[0] != 0xFF or data[1] & 0xE0 != 0xE0:
        return None
    version, layer = data[1] >> 3 & 3, data[1] >> 1 & 3
    if layer == 0:
        return AAC if data[1] & 0xF6 == 0xF0 else None
    return None if version == 1 or data[2] >> 4 == 0xF or data[2] >> 2 & 3 == 3 else MP3
