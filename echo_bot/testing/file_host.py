"""Where the files lie that people on a fake channel send: a platform's file server on loopback."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from echo_bot.channel import FileLocation
from echo_bot.events import BlockType, ContentBlock
from echo_bot.testing.fake_channel import FakeChannel
from echo_bot.testing.site import Site, reply, serving


@dataclass
class FileHost:
    """`config` names it as the endpoint of the channel telegram, so that it may be on loopback."""

    site: Site
    contents: dict[str, bytes]
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def config(self) -> dict[str, object]:
        return {"channels.telegram.api_base": self._url("")}

    @property
    def fetches(self) -> int:
        return len(self.site.heads)

    def voice(self, channel: FakeChannel, data: bytes) -> ContentBlock:
        return self.put(channel, BlockType.VOICE, data, mime="audio/ogg")

    def image(self, channel: FakeChannel, data: bytes, name: str = "view.png") -> ContentBlock:
        return self.put(channel, BlockType.IMAGE, data, name, "image/png")

    def put(
        self, channel: FakeChannel, kind: BlockType, data: bytes, name: str = "", mime: str = ""
    ) -> ContentBlock:
        """A file for somebody to send on `channel`, which knows from now on where it is."""
        ref = f"/f{next(self._numbers)}"
        self.contents[ref] = data
        channel.files[ref] = FileLocation(self._url(ref))
        return ContentBlock(kind, ref=ref, name=name, mime=mime, size=len(data))

    def _url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.site.port}{path}"


@asynccontextmanager
async def serving_files() -> AsyncIterator[FileHost]:
    contents: dict[str, bytes] = {}
    async with serving(lambda head, body: reply(contents[head.split(" ", 2)[1]])) as site:
        yield FileHost(site, contents)
