"""A message that whoever wrote it deletes before the bot gets to it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path

from channels.slack.adapter import SlackChannel
from channels.slack.line import Rhythm
from echo_bot.channel import ChannelSettings
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel
from echo_bot.testing.slack import Conversation


async def test_a_message_that_is_deleted_before_its_turn_begins_is_never_run(
    tmp_path: Path, settings: ChannelSettings, quick: Rhythm, dm: Conversation
) -> None:
    model = ScriptedModel([CallTool("exec", {"command": "echo wait"}), Say("done"), Say("third done")])
    config = {
        "tools.exec.host": "local",
        "permissions.admin_users": ["slack:U1"],
        "channels.slack.allow_from": ["U1"],
        "channels.slack.api_base": settings.api_base,
    }

    def start() -> AbstractAsyncContextManager[RunningBot]:
        channels = [SlackChannel(settings, quick)]
        return running_bot(tmp_path, config, channels=channels, model=model.model)

    async with start():
        first = dm.say("first")
        await dm.wait_for_button("Approve once")
        second = dm.say("take me back")
        await dm.deliveries[-1].acknowledged()
        dm.delete(second)
        dm.delete(first)
        await dm.deliveries[-1].acknowledged()
    async with start():
        dm.press("Approve once")
        await dm.wait_for_text("done")
        dm.say("third")
        await dm.wait_for_text("third done")
    assert ["take me back" in str(seen) for seen in model.seen] == [False, False, False]
