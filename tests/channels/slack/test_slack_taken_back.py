"""A message that whoever wrote it deletes before the bot gets to it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path

from channels.slack.adapter import SlackChannel
from channels.slack.line import Rhythm
from echo_bot.channel import ChannelSettings
from echo_bot.events import Address
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel
from echo_bot.testing.slack import Conversation
from echo_bot.testing.waiting import eventually


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


async def test_a_deletion_is_told_also_of_a_message_that_has_replies(
    channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    alone, answered = dm.say("alone"), dm.say("answered")
    dm.thread(answered).say("a reply")
    for message in (alone, answered):
        dm.delete(message)
    await eventually(lambda: len(port.gone) == 2, "both deletions")
    chat = Address("slack", dm.chat.id)
    assert sorted(port.gone, key=str) == [(chat, alone.ts), (chat, answered.ts)]
    assert all("deleted" not in event.text for event in port.seen)
