"""The example of docs/channels/webhook.md, run as it stands there."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

from channels.webhook.adapter import WebhookChannel
from echo_bot.channel import ChannelSettings
from echo_bot.testing.bot import running_bot

TEXT = (Path(__file__).parents[3] / "docs" / "channels" / "webhook.md").read_text(encoding="utf-8")
SECRET = "a-secret-of-the-tests"


async def test_the_python_example_is_signed_and_answered(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    channel = WebhookChannel(ChannelSettings(account="", secrets={"secret": SECRET}))
    config = {"channels.webhook.allow_from": ["ci"]}
    async with running_bot(tmp_path, config, channels=[channel]) as bot:
        program = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            example,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, "ECHO_BOT_URL": bot.url, "ECHO_BOT_SECRET": SECRET},
        )
        printed = (await asyncio.wait_for(program.communicate(), 30))[0].decode()
    assert (program.returncode, printed) == (0, "You are `webhook:ci`. This chat is `webhook:builds`.\n")
