"""With `language: zh` what Slack itself shows is Chinese: cards, windows, App Home, notes on a press."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from channels.slack.adapter import SlackChannel
from channels.slack.commands import SHORTCUT_ANYWHERE
from channels.slack.line import Rhythm
from echo_bot.channel import ChannelSettings
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.slack import Conversation, Person, SlackEmulator, View
from echo_bot.testing.waiting import eventually
from echo_bot.text.language import choose

_HAN = re.compile("[\u4e00-\u9fff]")
_ENGLISH = re.compile(r"[A-Za-z']{2,}(?:[ ,;:.]+[A-Za-z']{2,}){2,}")


@pytest.fixture
async def bot(tmp_path: Path, settings: ChannelSettings, quick: Rhythm) -> AsyncIterator[RunningBot]:
    config: dict[str, object] = {
        "language": "zh",
        "tools.exec.host": "local",
        "permissions.admin_users": ["slack:U1"],
        "channels.slack.allow_from": ["U1"],
        "channels.slack.api_base": settings.api_base,
    }
    async with running_bot(tmp_path, config, channels=[SlackChannel(settings, quick)]) as running:
        yield running
    choose("en")


def is_chinese(text: str) -> bool:
    return bool(_HAN.search(text)) and not _ENGLISH.search(text)


def faces_of(view: View) -> list[str]:
    """Every word of ours in a window."""
    shown = view.shown
    buttons = [shown[key]["text"] for key in ("submit", "close") if key in shown]
    return [*buttons, *(block["label"]["text"] for block in view.inputs)]


async def test_a_card_its_windows_its_home_and_its_end(
    bot: RunningBot, ada: Person, dm: Conversation
) -> None:
    dm.say("/run touch made")
    card = await dm.wait_for_button("批准一次")
    assert [words for words in (card.words, card.text, *card.labels) if not is_chinese(words)] == []
    ada.open_home()
    assert is_chinese((await ada.home("touch made")).words)
    for label in ("拒绝并说明理由", "修改"):
        window = await dm.press(label).modal()
        assert [words for words in faces_of(window) if not is_chinese(words)] == []
        assert _HAN.search(window.shown["title"]["text"])
    assert await dm.press("拒绝").answer() == "已拒绝。"
    await eventually(lambda: card.labels == [], "the end of the card")
    assert is_chinese(card.words)
    assert is_chinese((await ada.home("没有")).words)


async def test_what_else_is_said(
    bot: RunningBot, slack: SlackEmulator, ada: Person, dm: Conversation
) -> None:
    stranger = slack.user("U6", "Mallory")
    ada.shortcut(SHORTCUT_ANYWHERE)
    window = await ada.open_modal()
    assert [words for words in faces_of(window) if not is_chinese(words)] == []
    stranger.shortcut(SHORTCUT_ANYWHERE)
    stranger.open_home()
    dm.say("/run ls")
    await dm.wait_for_button("修改")
    slack.fail("views.open", "expired_trigger_id")
    said = [
        (await stranger.open_modal()).words,
        (await stranger.home("认识")).words,
        await dm.press("修改").answer(),
        (await stranger.command("status").reply())["text"],
        (await ada.command("ls?", slack.channel_without_bot("C7")).reply())["text"],
    ]
    assert [words for words in said if not is_chinese(words)] == []
