"""message and notify: text and files to this chat, an alias, another account, a person; true receipts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from echo_bot.errors import RetryAfter, TargetGone
from echo_bot.events import Address
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FULL_CAPABILITIES, FakeChannel, FakeMessage

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]


@pytest.fixture
def open_targets(local: Config) -> Config:
    return local | {
        "delivery.targets": {"team": "slack/work:C1", "paper": "webhook:w1"},
        "delivery.allowed_targets": ["team", "discord:42", "paper", "slack/gone:C9"],
    }


def others() -> dict[str, FakeChannel]:
    plain = replace(FULL_CAPABILITIES, files=False, buttons=False, edits=False)
    discord = FakeChannel("discord")
    discord.direct_chats["42"] = "dm-of-42"
    return {
        "discord": discord,
        "slack": FakeChannel("slack"),
        "slack/work": FakeChannel("slack", "work"),
        "webhook": FakeChannel("webhook", capabilities=plain),
    }


async def ask(bot: RunningBot, words: str, receipt: str, says: Says) -> None:
    before = len(bot.channel.messages)
    await bot.channel.say(f"/tool {words}")
    await bot.channel.wait_for(
        lambda message: says(receipt)(message) and bot.channel.messages.index(message) >= before, receipt
    )


@pytest.mark.parametrize(
    ("target", "where", "chat"),
    [
        ("here", "telegram", "100"),
        ("owner", "telegram", "1"),
        ("team", "slack/work", "C1"),
        ("slack/work:C1", "slack/work", "C1"),
        ("discord:42", "discord", "dm-of-42"),
    ],
)
@pytest.mark.parametrize(
    ("tool", "field", "shown"), [("message", "text", "hi"), ("notify", "message", "🔔 hi")]
)
async def test_text_and_file_reach_every_kind_of_target(
    tmp_path: Path,
    open_targets: Config,
    says: Says,
    target: str,
    where: str,
    chat: str,
    tool: str,
    field: str,
    shown: str,
) -> None:
    channels = others()
    async with running_bot(tmp_path, open_targets, more_channels=list(channels.values())) as bot:
        (bot.workspace / "plan.txt").write_text("the plan")
        words = f"/tool {tool} target={target} {field}=hi files='[\"plan.txt\"]'"
        await bot.channel.say(words, chat_id="100", is_group=True)
        await bot.channel.wait_for(says("delivered to"))
        channel = bot.channel if where == "telegram" else channels[where]
        mine = [m for m in channel.messages if not says("delivered to")(m)]
        assert [(message.ref.address.chat_id, message.body) for message in mine] == [
            (chat, shown),
            (chat, "plan.txt"),
        ]
        file = mine[1].file
        assert file is not None
        assert Path(file.path).read_text() == "the plan"
        others_sent = [m for other in channels.values() if other is not channel for m in other.messages]
        assert others_sent == []


async def test_what_was_sent_to_a_person_is_in_the_transcript_of_the_chat_it_stands_in(
    tmp_path: Path, open_targets: Config, says: Says
) -> None:
    async with running_bot(tmp_path, open_targets, more_channels=list(others().values())) as bot:
        await ask(bot, "message target=discord:42 text=hello", "delivered to discord:42", says)
        lines = await bot.parts.inbox.transcript(Address("discord", "dm-of-42"), 5)
        assert [line.text for line in lines] == ["hello"]


async def test_a_receipt_tells_what_did_not_arrive(tmp_path: Path, open_targets: Config, says: Says) -> None:
    channels = others()
    async with running_bot(tmp_path, open_targets, more_channels=list(channels.values())) as bot:
        (bot.workspace / "plan.txt").write_text("the plan")
        channels["discord"].fail("send_text", TargetGone("they blocked the bot"))
        await ask(bot, "message target=discord:42 text=a", "not delivered to discord:42: they blocked", says)
        channels["discord"].fail("send_text", RetryAfter(0.01))
        await ask(bot, "message target=discord:42 text=b", "delivered to discord:42", says)
        await ask(bot, "message target=slack/gone:C9 text=c", "slack/gone is not running", says)
        await ask(bot, "message target=paper text=d files='[\"plan.txt\"]'", "webhook takes no files", says)
        await ask(bot, "message target=team text=e files='[\"none.txt\"]'", "none.txt", says)
        await ask(bot, "message target=crew text=f", "is not a known target", says)
        assert [m.body for m in channels["discord"].messages] == ["b"]
        assert channels["slack/work"].messages == channels["webhook"].messages == []


async def test_a_chat_that_is_not_allowed_is_asked_about_first(
    tmp_path: Path, open_targets: Config, is_open: Is
) -> None:
    channels = others()
    async with running_bot(tmp_path, open_targets, more_channels=list(channels.values())) as bot:
        await bot.channel.say("/tool message target=slack:C1 text=hi")
        card = await bot.channel.wait_for(is_open)
        assert "slack:C1" in card.body
        assert channels["slack"].messages == []
        await bot.channel.press("Approve once")
        await channels["slack"].wait_for_text("hi")
