"""Earlier conversations are found by whom they belong to, and by admins who say so."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import Say, ScriptedModel
from echo_bot.testing.waiting import eventually

Says = Callable[[str], Callable[[FakeMessage], bool]]
TWO = {"channels.telegram.allow_from": ["1", "2"]}
SECOND: dict[str, Any] = {"sender_id": "2", "chat_id": "2"}
GROUP: dict[str, Any] = {"chat_id": "-7", "is_group": True, "mentioned": True}


async def search(bot: RunningBot, query: str, more: dict[str, Any] | None = None, **where: Any) -> str:
    """The answer to a direct search."""
    before = len(bot.channel.messages)
    args = {"query": query, **(more or {})}
    await bot.channel.say(f"/tool session_search {json.dumps(args, ensure_ascii=False)}", **where)
    await eventually(lambda: len(bot.channel.messages) > before, "the answer")
    return bot.channel.messages[before].body


def answering(*texts: str) -> ScriptedModel:
    return ScriptedModel([Say(text) for text in texts])


async def talk(bot: RunningBot, text: str, **where: Any) -> None:
    """Say something, and wait until its answer is a line of the transcript."""
    before = len(bot.channel.messages)
    await bot.channel.say(text, **where)
    await eventually(lambda: len(bot.channel.messages) > before, "the answer")
    await eventually(lambda: bot.parts.queues.total() == (0, 0), "the end of the turn")


async def test_words_of_people_and_of_the_bot_are_found_with_chat_time_and_speaker(tmp_path: Path) -> None:
    script = answering("The harbour opens at nine.")
    async with running_bot(tmp_path, model=script.model) as bot:
        await talk(bot, "When do the harbours open?")
        only = await search(bot, "harbour", {"role": "assistant"})
        assert "opens at nine" in only
        assert "When do" not in only
        only = await search(bot, "harbour opening", {"role": "user", "max_results": 5})
        assert "When do" in only
        assert "at nine" not in only
        found = await search(bot, "harbour opening")
        today = datetime.now(UTC).strftime("%Y-%m-%d")
        assert f"{today}" in found
        assert "telegram:1, telegram:1: When do the harbours open?" in found
        assert "telegram:1, assistant: The harbour opens at nine." in found


async def test_nobody_finds_what_another_person_or_their_bot_said(tmp_path: Path) -> None:
    script = answering("A walnut, noted.", "Nothing to add.")
    async with running_bot(tmp_path, TWO, model=script.model) as bot:
        await talk(bot, "my secret word is walnut")
        assert "Nothing like that" in await search(bot, "walnut", **SECOND)
        assert "Nothing like that" in await search(bot, "walnut", **GROUP)
        await talk(bot, "walnut in the group", **GROUP)
        assert "Nothing like that" in await search(bot, "walnut", **{**GROUP, "sender_id": "2"})
        assert "in the group" not in await search(bot, "walnut")


async def test_a_shared_group_finds_what_any_of_them_said_there(tmp_path: Path) -> None:
    config = {**TWO, "session.group_scope": "shared"}
    async with running_bot(tmp_path, config, model=answering("Fine.").model) as bot:
        await talk(bot, "the standup is at nine", **GROUP)
        assert "standup is at nine" in await search(bot, "standup", **{**GROUP, "sender_id": "2"})


async def test_only_an_admin_may_widen_the_search(tmp_path: Path) -> None:
    config = {**TWO, "permissions.admin_users": ["telegram:2"]}
    async with running_bot(tmp_path, config, model=answering("Noted.").model) as bot:
        await talk(bot, "my secret word is walnut")
        assert "walnut" in await search(bot, "walnut", {"scope": "all"}, **SECOND)
        refused = await search(bot, "walnut", {"scope": "all"})
        assert "only an admin" in refused


async def test_chinese_and_words_inside_it_are_found(tmp_path: Path) -> None:
    async with running_bot(tmp_path, model=answering("好的。", "好的。").model) as bot:
        await talk(bot, "明天下午三点去数据库会议室开会")
        await talk(bot, "部署GPT模型之前先备份")
        assert "会议室" in await search(bot, "数据库会议")
        assert "备份" in await search(bot, "备份")
        assert "部署" in await search(bot, "gpt")
        assert "Nothing like that" in await search(bot, "天气预报")


async def test_the_question_itself_is_no_answer(tmp_path: Path) -> None:
    async with running_bot(tmp_path) as bot:
        assert "Nothing like that" in await search(bot, "walnut")


async def test_what_retention_forgot_is_not_found(tmp_path: Path) -> None:
    async with running_bot(tmp_path, model=answering("Noted.").model) as bot:
        await talk(bot, "my secret word is walnut")
        await bot.store.retention.forget_before(datetime.now(UTC) + timedelta(hours=1))
        assert "Nothing like that" in await search(bot, "walnut")


async def test_an_edited_or_moved_message_is_found_as_it_stands_now(tmp_path: Path) -> None:
    config = {**TWO, "session.group_scope": "shared"}
    async with running_bot(tmp_path, config, model=answering("Fine.").model) as bot:
        await talk(bot, "the standup is at nine", **GROUP)
        await bot.channel.move_chat("-7", "-100")
        assert "telegram:-100" in await search(bot, "standup", **{**GROUP, "chat_id": "-100"})


async def test_bad_arguments_are_sentences(tmp_path: Path) -> None:
    async with running_bot(tmp_path) as bot:
        assert "not one of user, assistant" in await search(bot, "x", {"role": "boss"})
        assert "no word to look for" in await search(bot, "?!*\"'")
        assert "scope must be one of" in await search(bot, "x", {"scope": "every"})
