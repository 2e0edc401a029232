"""Images and recordings are known by their first bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.tools.media.kinds import IMAGES, RECORDINGS, image_kind, recording_kind, voice_kind

IMAGE_STARTS = {
    "png": b"\x89PNG\r\n\x1a\n....",
    "jpg": b"\xff\xd8\xff\xe0....",
    "gif": b"GIF89a....",
    "webp": b"RIFF\x10\0\0\0WEBPVP8 ",
}
RECORDING_STARTS = {
    "mp3": b"\xff\xfb\x90\x64",
    "wav": b"RIFF\x10\0\0\0WAVEfmt ",
    "ogg": b"OggS\0\2",
    "flac": b"fLaC\0\0",
    "aac": b"\xff\xf1\x50\x80",
}


@pytest.mark.parametrize(("extension", "start"), IMAGE_STARTS.items())
def test_images(extension: str, start: bytes) -> None:
    kind = image_kind(start)
    assert kind is not None
    assert kind.extension == extension
    assert recording_kind(start) is None


@pytest.mark.parametrize(("extension", "start"), [*RECORDING_STARTS.items(), ("mp3", b"ID3\4\0")])
def test_recordings(extension: str, start: bytes) -> None:
    kind = recording_kind(start)
    assert kind is not None
    assert kind.extension == extension
    assert image_kind(start) is None


VOICE_STARTS = {
    **RECORDING_STARTS,
    "m4a": b"\0\0\0\x1cftypM4A ",
    "webm": b"\x1a\x45\xdf\xa3\x9f\x42",
}


@pytest.mark.parametrize(("extension", "start"), VOICE_STARTS.items())
def test_voice_messages(extension: str, start: bytes) -> None:
    kind = voice_kind(start)
    assert kind is not None
    assert kind.extension == extension
    assert image_kind(start) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"<html>",
        b"MZ\x90",
        b"%PDF-1.7",
        b"{}",
        b"\xff\xff\xff\xff",
    ],
)
def test_anything_else_is_neither(data: bytes) -> None:
    assert (image_kind(data), recording_kind(data), voice_kind(data)) == (None, None, None)


@given(st.binary(max_size=40))
def test_any_bytes_have_at_most_one_kind(data: bytes) -> None:
    image, recording = image_kind(data), recording_kind(data)
    assert image is None or image in IMAGES
    assert recording is None or recording in RECORDINGS
    assert image is None or recording is None
