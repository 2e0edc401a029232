"""With `language: zh` what Discord itself shows is Chinese: cards, windows, commands, notes on a press."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from echo_bot.testing.discord import Conversation, DiscordEmulator, Person, Shown
from echo_bot.testing.waiting import eventually
from echo_bot.text.language import choose

Opening = Callable[..., AbstractAsyncContextManager[Any]]

_HAN = re.compile("[\u4e00-\u9fff]")
_ENGLISH = re.compile(r"[A-Za-z']{2,}(?:[ ,;:.]+[A-Za-z']{2,}){2,}")
_VALUES = re.compile(r"```.*?```|`[^`]*`|key=value", re.DOTALL)


@pytest.fixture(autouse=True)
def ends_in_english() -> Iterator[None]:
    yield
    choose("en")


def is_chinese(text: str) -> bool:
    return bool(_HAN.search(text)) and not _ENGLISH.search(_VALUES.sub("", text))


def without_buttons(chat: Conversation, card: Shown) -> Shown | None:
    now = (one for one in chat.from_bot if one.message.id == card.message.id)
    return next((one for one in now if not one.labels), None)


async def test_a_card_its_windows_and_its_end(opened: Opening, chat: Conversation) -> None:
    async with opened(language="zh"):
        chat.say("/run touch made")
        card = await chat.wait_for_button("批准一次")
        for words in (card.text, *card.labels):
            assert is_chinese(words), words
        for label in ("拒绝并说明理由", "修改"):
            asked = chat.press(label)
            window = await asked.modal()
            assert 1 <= len(window["title"]) <= 45
            assert 1 <= len(asked.input["label"]) <= 45
            for words in (window["title"], asked.input["label"], asked.input["placeholder"]):
                assert is_chinese(words), words
        assert await chat.press("拒绝").answer() == "已拒绝。"
        closed = await eventually(lambda: without_buttons(chat, card), "its end")
        assert is_chinese(closed.text), closed.text


async def test_commands_and_what_they_say(opened: Opening, discord: DiscordEmulator, ada: Person) -> None:
    room = ada.chat(discord.guild().channel("general"))
    async with opened(language="zh"):
        await eventually(lambda: discord.registered_commands, "the commands")
        for command in discord.registered_commands:
            described = [command["description"], *(each["description"] for each in command["options"])]
            for words in described:
                assert is_chinese(words) or words.startswith("key=value"), words
        started = room.slash("run", command="ls")
        assert is_chinese(await started.answer())
        await room.wait_for_text("Ada 请求：/run ls")
        stranger = discord.user("Bob").chat(room.place)
        assert is_chinese(await stranger.slash("status").answer())
