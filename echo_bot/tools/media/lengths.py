"""How long a recording is, by its bytes: what it says of itself counts as far as its size bears it."""

from __future__ import annotations

_OPUS_SAMPLES = 48_000
_OGG_PAGE = b"OggS"
_END_OF_PAGE = slice(6, 14)
"""Where a page's header says how many samples were before its end."""

_LEAST_BYTES, _USUAL_BYTES, _MOST_BYTES = 750, 2_000, 8_000
"""Of a second of speech: the least that Opus takes, what is assumed of other kinds, and the most of Opus."""


def estimated_seconds(recording: bytes) -> float:
    """Of Opus in Ogg, which platforms send, nearly exact; of anything else rather too long."""
    size = len(recording)
    if not recording.startswith(_OGG_PAGE) or b"OpusHead" not in recording[:100]:
        return size / _USUAL_BYTES
    last = recording[recording.rfind(_OGG_PAGE) :]
    told = int.from_bytes(last[_END_OF_PAGE], "little") / _OPUS_SAMPLES
    return min(max(told, size / _MOST_BYTES), size / _LEAST_BYTES)
