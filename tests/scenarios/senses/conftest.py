"""Where people's files lie, and a transcription service, both on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from echo_bot.testing.file_host import FileHost, serving_files
from echo_bot.testing.transcriber import Transcriber


@pytest.fixture
async def host() -> AsyncIterator[FileHost]:
    async with serving_files() as running:
        yield running


@pytest.fixture
async def transcriber() -> AsyncIterator[Transcriber]:
    async with Transcriber().serving() as running:
        yield running
