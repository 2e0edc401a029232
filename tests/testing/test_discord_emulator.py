"""The Discord emulator: how an author of a channel uses it, and that it enforces Discord's limits."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from echo_bot.testing.discord import Conversation, DiscordEmulator, visible
from echo_bot.testing.waiting import eventually

BUTTON = {"type": 1, "components": [{"type": 2, "style": 3, "label": "Go", "custom_id": "token"}]}
EVERYTHING = (1 << 0) | (1 << 9) | (1 << 12) | (1 << 15)


class Client:
    """A bot's side of the wire, without any SDK."""

    def __init__(self, discord: DiscordEmulator, http: httpx.AsyncClient) -> None:
        self.discord, self.http = discord, http

    async def call(self, method: str, path: str, body: object = None, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bot {self.discord.token}"}
        return await self.http.request(
            method, f"{self.discord.api_base}{path}", json=body, headers=headers, **more
        )

    async def refusal(self, method: str, path: str, body: object = None) -> tuple[int, int]:
        response = await self.call(method, path, body)
        return response.status_code, response.json()["code"]

    async def gateway(self, intents: int = EVERYTHING, token: str = "") -> ClientConnection:
        socket = await connect(f"{self.discord.gateway_url}?v=10&encoding=json", proxy=None)
        hello = json.loads(await socket.recv())
        assert hello["op"] == 10
        identify = {"token": token or self.discord.token, "intents": intents, "properties": {}}
        await socket.send(json.dumps({"op": 2, "d": identify}))
        return socket


@pytest.fixture
async def discord() -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator() as emulator:
        yield emulator


@pytest.fixture
async def bot(discord: DiscordEmulator) -> AsyncIterator[Client]:
    async with httpx.AsyncClient(trust_env=False, verify=False, timeout=10) as http:
        yield Client(discord, http)


@pytest.fixture
def chat(discord: DiscordEmulator) -> Conversation:
    return discord.user("Ada").dm()


async def next_event(socket: ClientConnection, name: str) -> dict[str, Any]:
    while True:
        frame = json.loads(await asyncio.wait_for(socket.recv(), 20))
        if frame["t"] == name:
            return dict(frame["d"])


async def test_an_example_for_authors_a_card_a_press_and_its_answer(
    discord: DiscordEmulator, bot: Client, chat: Conversation
) -> None:
    socket = await bot.gateway()
    await next_event(socket, "READY")
    chat.say("/run ls")
    said = await next_event(socket, "MESSAGE_CREATE")
    assert (said["content"], said["channel_id"]) == ("/run ls", chat.id)
    card = {"content": "Run `ls`?", "components": [BUTTON]}
    await bot.call("POST", f"/channels/{chat.id}/messages", card)
    assert (await chat.wait_for_button("Go")).text == "Run ls?"
    press = chat.press("Go")
    pressed = await next_event(socket, "INTERACTION_CREATE")
    assert pressed["data"]["custom_id"] == "token"
    answer = {"type": 4, "data": {"content": "Done", "flags": 64}}
    await bot.call("POST", f"/interactions/{pressed['id']}/{pressed['token']}/callback", answer)
    assert await press.answer() == "Done"
    assert press.answers[0].private
    await socket.close()


async def test_answers_are_exactly_json_and_a_wrong_token_is_refused(
    discord: DiscordEmulator, bot: Client
) -> None:
    response = await bot.call("GET", "/users/@me")
    assert response.headers["content-type"] == "application/json"
    wrong = await bot.http.get(f"{discord.api_base}/users/@me", headers={"Authorization": "Bot no"})
    assert (wrong.status_code, wrong.json()["code"]) == (401, 0)
    assert (await bot.http.get(f"{discord.api_base}/users/@me")).status_code == 401


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ({"content": "x" * 2001}, (400, 50035)),
        ({"content": ""}, (400, 50035)),
        ({"content": "x", "nonce": "n" * 26}, (400, 50035)),
        ({"content": "x", "components": [BUTTON] * 6}, (400, 50035)),
        ({"content": "x", "components": [{"type": 1, "components": BUTTON["components"] * 6}]}, (400, 50035)),  # type: ignore[operator]
    ],
    ids=["too long", "empty", "a long nonce", "six rows", "six buttons in a row"],
)
async def test_a_message_outside_the_limits_is_refused(
    bot: Client, chat: Conversation, body: object, refused: tuple[int, int]
) -> None:
    assert await bot.refusal("POST", f"/channels/{chat.id}/messages", body) == refused


async def test_a_nonce_is_enforced_where_that_is_asked_for(bot: Client, chat: Conversation) -> None:
    path = f"/channels/{chat.id}/messages"
    first = await bot.call("POST", path, {"content": "a", "nonce": "n1", "enforce_nonce": True})
    again = await bot.call("POST", path, {"content": "b", "nonce": "n1", "enforce_nonce": True})
    assert again.json()["id"] == first.json()["id"]
    await bot.call("POST", path, {"content": "c", "nonce": "n1"})
    assert [shown.text for shown in chat.from_bot] == ["a", "c"]


async def test_files_have_a_limit_and_links_that_expire(
    discord: DiscordEmulator, bot: Client, chat: Conversation
) -> None:
    path = f"/channels/{chat.id}/messages"
    small = await bot.http.post(
        f"{discord.api_base}{path}",
        data={"payload_json": json.dumps({"content": "here"})},
        files={"files[0]": ("a.txt", b"one\r\ntwo\x00", "text/plain")},
        headers={"Authorization": f"Bot {discord.token}"},
    )
    url = small.json()["attachments"][0]["url"]
    assert (await bot.http.get(url)).content == b"one\r\ntwo\x00"
    discord.skew(2 * 86400)
    assert (await bot.http.get(url)).status_code == 404
    large = await bot.http.post(
        f"{discord.api_base}{path}",
        files={"files[0]": ("a.bin", bytes(10 * 2**20 + 1))},
        headers={"Authorization": f"Bot {discord.token}"},
    )
    assert (large.status_code, large.json()["code"]) == (413, 40005)


async def test_an_interaction_waits_three_seconds_and_is_answered_once(
    discord: DiscordEmulator, bot: Client, chat: Conversation
) -> None:
    await bot.call("POST", f"/channels/{chat.id}/messages", {"content": "?", "components": [BUTTON]})
    press = chat.press("Go")
    discord.skew(-60)  # However long a busy machine takes.
    path = f"/interactions/{press.record.id}/{press.record.token}/callback"
    assert (await bot.call("POST", path, {"type": 6})).status_code == 200
    assert await bot.refusal("POST", path, {"type": 6}) == (400, 40060)
    at_the_end, over = chat.press("Go"), chat.press("Go")
    over.expire()
    discord.skew(3.1)
    for late in (at_the_end, over):
        path = f"/interactions/{late.record.id}/{late.record.token}/callback"
        assert await bot.refusal("POST", path, {"type": 6}) == (404, 10062)
        assert not late.acknowledged


@pytest.mark.parametrize(
    "command",
    [
        {"name": "UPPER", "description": "d"},
        {"name": "ok", "description": ""},
        {"name": "ok", "description": "d" * 101},
        {"name": "ok", "description": "d", "options": [{"type": 3, "name": "o", "description": "d"}] * 26},
        {
            "name": "ok",
            "description": "d",
            "options": [
                {"type": 3, "name": "a", "description": "d"},
                {"type": 3, "name": "b", "description": "d", "required": True},
            ],
        },
    ],
    ids=["capitals", "no description", "a long one", "26 options", "required last"],
)
async def test_commands_outside_the_limits_are_refused(
    discord: DiscordEmulator, bot: Client, command: object
) -> None:
    path = f"/applications/{discord.world.backend.application_id}/commands"
    assert await bot.refusal("PUT", path, [command]) == (400, 50035)
    assert discord.registered_commands == []


async def test_commands_are_used_as_they_were_registered(
    discord: DiscordEmulator, bot: Client, chat: Conversation
) -> None:
    options = [{"type": 3, "name": "what", "description": "d", "required": True}]
    path = f"/applications/{discord.world.backend.application_id}/commands"
    await bot.call("PUT", path, [{"name": "run", "description": "d", "options": options}])
    assert chat.slash("run", what="ls").record.command_name == "run"
    with pytest.raises(Exception, match="requires option"):
        chat.slash("run")
    with pytest.raises(AssertionError, match="no command /walk"):
        chat.slash("walk")


@pytest.mark.parametrize(
    ("change", "code"),
    [({"token": "wrong"}, 4004), ({"intents": EVERYTHING}, 4014)],
    ids=["a wrong token", "an intent that is not granted"],
)
async def test_the_gateway_closes_on_whom_it_does_not_let_in(
    discord: DiscordEmulator, bot: Client, change: dict[str, Any], code: int
) -> None:
    discord.message_content_granted = code != 4014
    socket = await bot.gateway(**change)
    with pytest.raises(ConnectionClosed) as closed:
        await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == code


async def test_without_the_intent_the_words_are_hidden_but_for_direct_chats_and_mentions(
    discord: DiscordEmulator, bot: Client, chat: Conversation
) -> None:
    room = discord.user("Bob").chat(discord.guild().channel("general"))
    socket = await bot.gateway(EVERYTHING & ~(1 << 15))
    await next_event(socket, "GUILD_CREATE")
    room.say("hidden")
    assert (await next_event(socket, "MESSAGE_CREATE"))["content"] == ""
    room.mention("seen")
    assert "seen" in (await next_event(socket, "MESSAGE_CREATE"))["content"]
    chat.say("direct")
    assert (await next_event(socket, "MESSAGE_CREATE"))["content"] == "direct"
    await socket.close()


async def test_a_session_is_resumed_with_what_was_missed_and_forgotten_ones_are_not(
    discord: DiscordEmulator, bot: Client, chat: Conversation
) -> None:
    socket = await bot.gateway()
    ready = await next_event(socket, "READY")
    discord.cut()
    await eventually(lambda: discord.connections == 0, "the end of the line")
    chat.say("missed")
    resume = {"op": 6, "d": {"token": discord.token, "session_id": ready["session_id"], "seq": 1}}
    again = await connect(ready["resume_gateway_url"], proxy=None)
    await again.send(json.dumps(resume))
    assert (await next_event(again, "MESSAGE_CREATE"))["content"] == "missed"
    await next_event(again, "RESUMED")
    discord.forget_sessions()
    third = await connect(discord.gateway_url, proxy=None)
    await third.recv()
    await third.send(json.dumps(resume))
    assert json.loads(await third.recv()) == {"op": 9, "t": None, "s": None, "d": False}
    await again.close()
    await third.close()


async def test_faults_are_met_as_often_as_asked_and_recorded(
    discord: DiscordEmulator, bot: Client, chat: Conversation
) -> None:
    path = f"/channels/{chat.id}/messages"
    discord.fail("POST", "/channels/*/messages", 429, retry_after=1.5)
    limited = await bot.call("POST", path, {"content": "x"})
    assert (limited.status_code, limited.json()["retry_after"]) == (429, 1.5)
    assert limited.headers["via"]
    discord.drop("POST", "/channels/*/messages", after=True)
    with pytest.raises(httpx.TransportError):
        await bot.call("POST", path, {"content": "done though"})
    release = discord.hold("POST", "/channels/*/messages")
    waiting = asyncio.create_task(bot.call("POST", path, {"content": "late"}))
    await eventually(lambda: len(discord.called("POST", "/channels/*/messages")) == 3, "the third call")
    assert not waiting.done()
    release.set()
    assert (await waiting).status_code == 200
    assert [shown.text for shown in chat.from_bot] == ["done though", "late"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("**a** *b* __c__ ~~d~~ ||e||", "a b c d e"),
        ("snake_case_name and 2 * 3", "snake_case_name and 2 * 3"),
        ("```sh\nls *\n```", "ls *"),
        ("`a *b*` \\*c\\*", "a *b* *c*"),
        ("# Title\n> quoted\n-# small", "Title\nquoted\nsmall"),
        ("[docs](https://example.com)", "docs"),
        ("https://example.com/a_b_c", "https://example.com/a_b_c"),
    ],
)
def test_a_person_reads_words_not_marks(content: str, words: str) -> None:
    assert visible(content) == words


def test_without_its_package_it_says_how_to_get_it() -> None:
    hidden = "import sys; sys.modules['simcord'] = None; import echo_bot.testing.discord"
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False)
    assert "needs simcord 3.2.1. In a checkout: pip install" in done.stderr
