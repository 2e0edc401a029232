"""A response body, read under three limits while it streams: declared, received and decoded bytes."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol

import httpx

from echo_bot.net.refusal import refuse

ACCEPT_ENCODING = "gzip, deflate"


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """`max_bytes` of what is declared, received and decoded; `total_seconds` for all hops together."""

    max_bytes: int = 10 * 1024 * 1024
    total_seconds: float = 30.0
    max_redirects: int = 8


class Decoder(Protocol):
    """Undoes a content encoding a piece at a time."""

    def decode(self, data: bytes, most: int) -> bytes:
        """What `data` decodes to, at most `most` bytes. Raises ValueError for data that do not fit."""
        ...


DecoderFor = Callable[[str], Decoder | None]
"""The decoder of a content encoding; None for one that is not supported."""


def decoder_for(encoding: str) -> Decoder | None:
    if encoding in ("", "identity"):
        return _Identity()
    if encoding in ("gzip", "x-gzip"):
        return _Inflate(zlib.MAX_WBITS | 16)
    return _Inflate(zlib.MAX_WBITS) if encoding == "deflate" else None


class _Identity:
    def decode(self, data: bytes, most: int) -> bytes:
        return data[:most]


class _Inflate:
    """gzip or deflate; a deflate body without its zlib header, as some servers send, is understood too."""

    def __init__(self, window: int) -> None:
        self._stream = zlib.decompressobj(window)
        self._may_be_raw = window == zlib.MAX_WBITS

    def decode(self, data: bytes, most: int) -> bytes:
        try:
            decoded = self._stream.decompress(data, most)
        except zlib.error as error:
            if not self._may_be_raw:
                raise ValueError(str(error)) from error
            self._may_be_raw = False
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
            return self.decode(data, most)
        self._may_be_raw = False
        return decoded


async def read_body(
    response: httpx.Response,
    limits: FetchLimits,
    check_time: Callable[[], None],
    decoders: DecoderFor,
) -> bytes:
    """The decoded body. Raises NetRefused as soon as a limit is passed; `check_time` runs for every piece."""
    _check_declared(response, limits.max_bytes)
    encoding = response.headers.get("content-encoding", "").strip().lower()
    decoder = decoders(encoding)
    if decoder is None:
        raise refuse(
            "bad_encoding", f"The server sent an encoding that was not asked for: {encoding[:40]!r}."
        )
    received = 0
    body = bytearray()
    async for piece in _raw(response):
        check_time()
        received += len(piece)
        if received > limits.max_bytes:
            raise _too_large(limits.max_bytes)
        try:
            body += decoder.decode(piece, limits.max_bytes - len(body) + 1)
        except ValueError as error:
            raise refuse("bad_encoding", f"The server's {encoding} data are damaged: {error}.") from error
        if len(body) > limits.max_bytes:
            raise _too_large(limits.max_bytes)
    check_time()
    return bytes(body)


async def _raw(response: httpx.Response) -> AsyncIterator[bytes]:
    assert isinstance(response.stream, httpx.AsyncByteStream)
    async for piece in response.stream:
        yield piece


def _check_declared(response: httpx.Response, max_bytes: int) -> None:
    declared = {
        part.strip() for value in response.headers.get_list("content-length") for part in value.split(",")
    }
    if not declared:
        return
    if len(declared) > 1 or not all(part.isascii() and part.isdigit() for part in declared):
        raise refuse("bad_length", "The server declared a length that is no single number.")
    length = declared.pop().lstrip("0")
    if len(length) > 18 or int(length or "0") > max_bytes:
        raise _too_large(max_bytes)


def _too_large(max_bytes: int) -> Exception:
    return refuse("too_large", f"The response is larger than the limit of {max_bytes} bytes.")
