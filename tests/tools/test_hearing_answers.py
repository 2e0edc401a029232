"""What a transcription service says it used, and how long a recording is where it says nothing."""

from __future__ import annotations

import pytest

from echo_bot.tools.media.hearing import Heard, heard
from echo_bot.tools.media.lengths import estimated_seconds

RECORDING = bytes(4_000)
"""Two seconds by its size."""

ANSWERS: dict[str, tuple[dict[str, object], Heard | None]] = {
    "seconds, as whisper-1 is billed": (
        {"text": "hi", "usage": {"type": "duration", "seconds": 9}},
        Heard("hi", 9.0),
    ),
    "tokens, as later models of OpenAI are billed": (
        {"text": "hi", "usage": {"type": "tokens", "input_tokens": 14, "output_tokens": 45}},
        Heard("hi", 2.0, 14, 45),
    ),
    "a duration alone": ({"text": "hi", "duration": 3.5}, Heard("hi", 3.5)),
    "nothing": ({"text": "hi"}, Heard("hi", 2.0)),
    "silence counts as well": ({"text": "", "usage": {"seconds": 1}}, Heard("", 1.0)),
    "seconds below zero": ({"text": "hi", "usage": {"seconds": -9}}, Heard("hi", 2.0)),
    "no seconds at all": ({"text": "hi", "usage": {"seconds": 0}}, Heard("hi", 2.0)),
    "seconds that are no number": ({"text": "hi", "usage": {"seconds": "9"}}, Heard("hi", 2.0)),
    "seconds without end": ({"text": "hi", "usage": {"seconds": float("inf")}}, Heard("hi", 2.0)),
    "tokens that are a yes": ({"text": "hi", "usage": {"input_tokens": True}}, Heard("hi", 2.0)),
    "more tokens than can be": ({"text": "", "usage": {"input_tokens": 10**30}}, Heard("", 2.0, 10**9)),
    "usage that is a list": ({"text": "hi", "usage": [9]}, Heard("hi", 2.0)),
    "no words": ({"usage": {"seconds": 9}}, None),
}


@pytest.mark.parametrize(("answer", "found"), ANSWERS.values(), ids=ANSWERS.keys())
def test_what_an_answer_says(answer: dict[str, object], found: Heard | None) -> None:
    assert heard(answer, RECORDING) == found


def opus(seconds: float, size: int) -> bytes:
    """So many bytes of Opus in Ogg that say to last so long."""
    first = b"OggS" + bytes(24) + b"OpusHead" + bytes(20)
    last = b"OggS\x00\x04" + int(seconds * 48_000).to_bytes(8, "little") + bytes(14)
    return first + bytes(size - len(first) - len(last)) + last


LENGTHS: dict[str, tuple[bytes, float]] = {
    "Opus says how long it is": (opus(10, 30_000), 10.0),
    "Opus that says less than its size bears": (opus(0.1, 40_000), 5.0),
    "Opus that says more than its size bears": (opus(10**9, 7_500), 10.0),
    "another kind is taken by its size": (b"ID3" + bytes(19_997), 10.0),
    "Ogg that is no Opus as well": (b"OggS" + bytes(19_996), 10.0),
    "nothing": (b"", 0.0),
}


@pytest.mark.parametrize(("recording", "seconds"), LENGTHS.values(), ids=LENGTHS.keys())
def test_how_long_a_recording_is(recording: bytes, seconds: float) -> None:
    assert estimated_seconds(recording) == seconds
