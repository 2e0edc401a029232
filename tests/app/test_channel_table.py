"""docs/channels.md says what the adapters say of themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from echo_bot.app.channel_table import ROWS, channel_table, own_channels, with_table
from echo_bot.channel import ChannelManifest
from echo_bot.errors import StartError

DOCUMENT = Path(__file__).parents[2] / "docs" / "channels.md"


def test_the_table_in_the_document_is_the_one_the_adapters_give() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    assert with_table(document, channel_table(own_channels())) == document


def test_every_channel_has_a_cell_in_every_row() -> None:
    channels = own_channels()
    assert {"telegram", "web", "cli"} <= {channel.name for channel in channels}
    lines = channel_table(channels).splitlines()
    assert len(lines) == len(ROWS) + 2
    assert {line.count("|") for line in lines} == {len(channels) + 2}


def test_a_channel_that_says_nothing_of_itself_is_named() -> None:
    with pytest.raises(StartError, match="mute does not say"):
        channel_table([ChannelManifest("mute", "Mute", "echo_bot.testing.waiting:build")])


def test_a_document_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="no marks"):
        with_table("# Channels", "| |")
