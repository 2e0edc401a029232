"""The manifest tells what the channel is without loading its SDK."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from channels.telegram import MANIFEST
from echo_bot.channel import ChannelSettings, ChannelState, LengthUnit


def test_the_manifest_loads_no_sdk() -> None:
    look = "import sys, channels.telegram; print({'telegram', 'httpx', 'pyromark'} & set(sys.modules))"
    told = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=60
    )
    assert told.stdout.strip() == "set()"


def test_build_makes_a_channel_that_is_not_connected() -> None:
    module, _, name = MANIFEST.build.partition(":")
    channel = getattr(import_module(module), name)(ChannelSettings("work", secrets={"token": "1:x"}))
    assert (channel.name, channel.account) == (MANIFEST.name, "work")
    assert channel.health().state is ChannelState.STOPPED
    assert (channel.capabilities.max_length, channel.capabilities.length_unit) == (4096, LengthUnit.UTF16)


@pytest.mark.parametrize(
    ("written", "fits"), [("42", True), ("-1001234567890", True), ("ada", False), ("@ada", False)]
)
def test_people_and_chats_in_whose_name_people_speak_are_told_from_names(written: str, fits: bool) -> None:
    assert MANIFEST.sender_ids is not None
    assert MANIFEST.sender_ids.fits(written) is fits
