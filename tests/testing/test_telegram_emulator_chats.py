"""The emulator's chats: albums, topics, upgrades, reactions, commands, files and what is marked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from echo_bot.testing.telegram import TelegramEmulator, detected_entities, media
from echo_bot.testing.telegram.rules import MAX_DOWNLOAD_BYTES


class Client:
    def __init__(self, telegram: TelegramEmulator, http: httpx.AsyncClient) -> None:
        self._base, self._http = f"{telegram.url}/bot{telegram.token}", http

    async def call(self, method: str, **values: object) -> object:
        """The result, or the description of a refusal."""
        answer = (await self._http.post(f"{self._base}/{method}", json=values)).json()
        return answer["result"] if answer["ok"] else answer["description"]


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        emulator.user(42, "Ada").chat()
        yield emulator


@pytest.fixture
async def bot(telegram: TelegramEmulator) -> AsyncIterator[Client]:
    async with httpx.AsyncClient(trust_env=False, verify=False) as http:
        yield Client(telegram, http)


def updates_of(telegram: TelegramEmulator) -> list[dict[str, object]]:
    return [update.payload for update in telegram.world.updates.history]


async def test_an_album_is_several_messages_with_one_group_id(telegram: TelegramEmulator) -> None:
    telegram.user(42).chat().send_album([media.photo(b"one"), media.video("v.mp4", b"two")], "both")
    first, second = updates_of(telegram)
    assert first["media_group_id"] == second["media_group_id"]
    assert (first["caption"], "caption" in second) == ("both", False)
    assert ("photo" in first, "video" in second) == (True, True)


async def test_a_closed_topic_takes_nothing_and_a_deleted_one_is_not_found(
    telegram: TelegramEmulator, bot: Client
) -> None:
    forum = telegram.group(-1002, forum=True)
    telegram.user(42).chat(forum, thread_id=7)
    there = {"chat_id": -1002, "message_thread_id": 7, "text": "x"}
    telegram.close_topic(forum, 7)
    assert await bot.call("sendMessage", **there) == "Bad Request: TOPIC_CLOSED"
    telegram.delete_topic(forum, 7)
    assert await bot.call("sendMessage", **there) == "Bad Request: message thread not found"


async def test_an_upgraded_group_tells_its_new_id_everywhere(telegram: TelegramEmulator, bot: Client) -> None:
    telegram.upgrade(telegram.group(-5, "Team"), -1005)
    old, new = updates_of(telegram)
    assert (old["migrate_to_chat_id"], new["migrate_from_chat_id"]) == (-1005, -5)
    told = await bot.call("sendMessage", chat_id=-5, text="x")
    assert told == "Bad Request: group chat was upgraded to a supergroup chat"


@pytest.mark.parametrize(
    ("emoji", "expected"),
    [
        (["👀"], True),
        ([], True),
        (["🧻"], "Bad Request: REACTION_INVALID"),
        (["👀", "👍"], "Bad Request: REACTIONS_TOO_MANY"),
    ],
)
async def test_which_reactions_a_bot_may_set(
    telegram: TelegramEmulator, bot: Client, emoji: list[str], expected: object
) -> None:
    message = telegram.user(42).chat().say("hi")
    reaction = [{"type": "emoji", "emoji": each} for each in emoji]
    where = {"chat_id": 42, "message_id": message.message_id}
    assert await bot.call("setMessageReaction", **where, reaction=reaction) == expected


async def test_commands_belong_to_a_scope(telegram: TelegramEmulator, bot: Client) -> None:
    one, two = ([{"command": name, "description": name}] for name in ("one", "two"))
    await bot.call("setMyCommands", commands=one)
    await bot.call("setMyCommands", commands=two, scope={"type": "chat", "chat_id": 42})
    assert telegram.world.commands == {"default": one, "chat:42": two}
    assert await bot.call("getMyCommands") == one
    assert await bot.call("getMyCommands", scope={"type": "all_group_chats"}) == []
    await bot.call("deleteMyCommands")
    assert await bot.call("getMyCommands") == []


async def test_large_files_are_for_servers_in_local_mode(
    telegram: TelegramEmulator, bot: Client, tmp_path: Path
) -> None:
    large = media.document("large", b"x" * (MAX_DOWNLOAD_BYTES + 1))
    telegram.user(42).chat().send(large)
    file_id = next(iter(telegram.world.files))
    assert await bot.call("getFile", file_id=file_id) == "Bad Request: file is too big"
    telegram.world.local_folder = tmp_path
    found = await bot.call("getFile", file_id=file_id)
    assert isinstance(found, dict)
    assert Path(found["file_path"]).read_bytes() == large.content


async def test_answers_may_be_slow(telegram: TelegramEmulator, bot: Client) -> None:
    telegram.slow("getMe", 0.05)
    before = time.monotonic()
    await bot.call("getMe")
    assert time.monotonic() - before >= 0.05
    telegram.slow("getMe", 600)
    telegram.heal()
    await asyncio.wait_for(bot.call("getMe"), 20)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("🙂 @someone", [("mention", 3, 8)]),
        ("/run@bot x", [("bot_command", 0, 8)]),
        ("a #tag $USD", [("hashtag", 2, 4), ("cashtag", 7, 4)]),
        ("https://a.example/b?c=@d", [("url", 0, 24)]),
        ("see example.com now", [("url", 4, 11)]),
        ("ada@example.org", [("email", 0, 15)]),
        ("a/b 10:30 #1", []),
    ],
)
def test_what_telegram_marks_by_itself(text: str, expected: list[tuple[str, int, int]]) -> None:
    found = [(each["type"], each["offset"], each["length"]) for each in detected_entities(text)]
    assert found == expected


def test_nothing_is_marked_inside_code() -> None:
    code = {"type": "code", "offset": 0, "length": 8}
    assert detected_entities("@someone @another", [code])[1:] == [
        {"type": "mention", "offset": 9, "length": 8}
    ]
