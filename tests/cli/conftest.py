from __future__ import annotations

from pathlib import Path

import pytest

import echo_bot.cli.plugins
from echo_bot.channel import ChannelManifest
from echo_bot.testing.command_line import CommandLine

TELEGRAM = ChannelManifest("telegram", "Telegram", "nowhere:build", secrets=("token", "webhook_secret"))


@pytest.fixture
def command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setattr(echo_bot.cli.plugins, "installed_channels", lambda: (TELEGRAM,))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("ECHO_BOT_CONFIG", raising=False)
    return CommandLine(tmp_path)
