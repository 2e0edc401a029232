"""The Telegram emulator: how an author of a channel uses it, and that it enforces Telegram's limits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest

from echo_bot.testing.telegram import QueryAnswer, TelegramEmulator
from echo_bot.testing.telegram.errors import ApiError
from echo_bot.testing.telegram.markup import parse
from echo_bot.testing.waiting import eventually

Call = dict[str, object]


class Client:
    """A bot's side of the wire: JSON unless a form is asked for."""

    def __init__(self, emulator: TelegramEmulator, http: httpx.AsyncClient) -> None:
        self.emulator, self.http = emulator, http

    async def post(self, method: str, **values: object) -> httpx.Response:
        return await self.http.post(f"{self.emulator.url}/bot{self.emulator.token}/{method}", json=values)

    async def result(self, method: str, **values: object) -> object:
        answer = (await self.post(method, **values)).json()
        assert answer["ok"], answer
        return answer["result"]

    async def refusal(self, method: str, **values: object) -> tuple[int, str]:
        response = await self.post(method, **values)
        answer = response.json()
        assert not answer["ok"], answer
        assert answer["error_code"] == response.status_code
        return response.status_code, answer["description"]


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator(query_seconds=5) as emulator:
        emulator.user(42, "Ada", "ada").chat()
        yield emulator


@pytest.fixture
async def bot(telegram: TelegramEmulator) -> AsyncIterator[Client]:
    async with httpx.AsyncClient(trust_env=False, verify=False, timeout=10) as http:
        yield Client(telegram, http)


async def test_an_example_for_authors_a_question_a_press_and_its_answer(
    telegram: TelegramEmulator, bot: Client
) -> None:
    ada = telegram.user(42, "Ada").chat()
    ada.say("/run ls")
    updates = await bot.result("getUpdates", timeout=5)
    assert isinstance(updates, list)
    assert updates[0]["message"]["entities"] == [{"type": "bot_command", "offset": 0, "length": 4}]

    keyboard = {"inline_keyboard": [[{"text": "Approve", "callback_data": "yes"}]]}
    await bot.result("sendMessage", chat_id=42, text="Run it?", reply_markup=keyboard)
    card = await ada.wait_for_button("Approve")
    press = ada.press("Approve")
    updates = await bot.result("getUpdates", offset=updates[0]["update_id"] + 1, timeout=5)
    assert isinstance(updates, list)
    query = updates[0]["callback_query"]
    assert (query["data"], query["message"]["message_id"]) == ("yes", card.message_id)

    await bot.result("answerCallbackQuery", callback_query_id=query["id"], text="Approved")
    assert await press.answer() == QueryAnswer("Approved", False)
    await bot.result("editMessageText", chat_id=42, message_id=card.message_id, text="Approved by Ada")
    assert (card.text, card.labels) == ("Approved by Ada", [])


def keyboard(data: object) -> Call:
    return {"inline_keyboard": [[{"text": "A", "callback_data": data}]]}


BOLD = {"type": "bold", "offset": 0, "length": 1}


@pytest.mark.parametrize(
    ("method", "values", "expected"),
    [
        pytest.param("sendMessage", {"chat_id": 7, "text": "x"}, "chat not found", id="an unknown chat"),
        pytest.param("sendMessage", {"chat_id": 42, "text": ""}, "message text is empty", id="no text"),
        pytest.param(
            "sendMessage", {"chat_id": 42, "text": " \n"}, "text must be non-empty", id="blank text"
        ),
        pytest.param("sendMessage", {"text": "x" * 4097}, "message is too long", id="4097 characters"),
        pytest.param("sendMessage", {"text": "🙂" * 2049}, "message is too long", id="4098 UTF-16 units"),
        pytest.param("sendMessage", {"reply_markup": keyboard("")}, "BUTTON_DATA_INVALID", id="empty data"),
        pytest.param(
            "sendMessage", {"reply_markup": keyboard("ü" * 33)}, "BUTTON_DATA_INVALID", id="66 bytes"
        ),
        pytest.param(
            "sendMessage",
            {"entities": [BOLD | {"offset": 1}]},
            "can't parse entities",
            id="an entity outside",
        ),
        pytest.param(
            "sendMessage",
            {"text": "🙂", "entities": [BOLD]},
            "can't parse entities",
            id="half a surrogate pair",
        ),
        pytest.param(
            "sendMessage",
            {"entities": [BOLD | {"type": "text_link"}]},
            "can't parse MessageEntity",
            id="a link without an address",
        ),
        pytest.param(
            "sendMessage",
            {"text": "a.b", "parse_mode": "MarkdownV2"},
            "can't parse entities",
            id="a bare dot",
        ),
        pytest.param(
            "sendMessage", {"text": "<b>x", "parse_mode": "HTML"}, "can't parse entities", id="an open tag"
        ),
        pytest.param(
            "sendMessage", {"message_thread_id": 9}, "message thread not found", id="an unknown thread"
        ),
        pytest.param(
            "sendMessage",
            {"reply_parameters": {"message_id": 999}},
            "message to be replied not found",
            id="a reply to nothing",
        ),
        pytest.param(
            "editMessageText", {"message_id": 999}, "message to edit not found", id="no such message"
        ),
        pytest.param(
            "deleteMessage", {"message_id": 999}, "message to delete not found", id="nothing to delete"
        ),
        pytest.param(
            "answerCallbackQuery", {"callback_query_id": "1"}, "query is too old", id="no such query"
        ),
        pytest.param("getFile", {"file_id": "x"}, "invalid file_id", id="no such file"),
        pytest.param("sendDocument", {"document": "x"}, "there is no document", id="no such document"),
        pytest.param(
            "setMyCommands",
            {"commands": [{"command": "Help", "description": "x"}]},
            "BOT_COMMAND_INVALID",
            id="a capital in a command",
        ),
        pytest.param(
            "sendMessage", {"chat_id": "@name"}, "chat_id must be an Integer", id="a name for an id"
        ),
    ],
)
async def test_what_telegram_refuses(bot: Client, method: str, values: Call, expected: str) -> None:
    status, description = await bot.refusal(method, **({"chat_id": 42, "text": "x"} | values))
    assert status == 400
    assert description.startswith(f"Bad Request: {expected}")


async def test_the_largest_values_pass(bot: Client) -> None:
    await bot.result("sendMessage", chat_id=42, text="x" * 4096)
    await bot.result("sendMessage", chat_id=42, text="🙂" * 2048, reply_markup=keyboard("ü" * 32))


async def test_one_answer_for_a_query_and_only_while_it_is_young(
    telegram: TelegramEmulator, bot: Client
) -> None:
    now = 1000.0
    telegram.world.clock = lambda: now
    await bot.result("sendMessage", chat_id=42, text="?", reply_markup=keyboard("y"))
    ada = telegram.user(42).chat()
    first, second = ada.press("A").query, ada.press("A").query
    await bot.result("answerCallbackQuery", callback_query_id=first.id)
    assert "query is too old" in (await bot.refusal("answerCallbackQuery", callback_query_id=first.id))[1]
    now += 6
    assert "query is too old" in (await bot.refusal("answerCallbackQuery", callback_query_id=second.id))[1]


async def test_an_edit_must_change_something_and_the_bot_s_own_message(
    telegram: TelegramEmulator, bot: Client
) -> None:
    sent = await bot.result("sendMessage", chat_id=42, text="x", reply_markup=keyboard("y"))
    assert isinstance(sent, dict)
    same = {"chat_id": 42, "message_id": sent["message_id"]}
    refused = await bot.refusal("editMessageText", **same, text="x", reply_markup=keyboard("y"))
    assert refused[1].startswith("Bad Request: message is not modified")
    await bot.result("editMessageReplyMarkup", **same)
    assert telegram.messages[-1].labels == []
    theirs = telegram.user(42).chat().say("mine")
    refused = await bot.refusal("editMessageText", chat_id=42, message_id=theirs.message_id, text="z")
    assert refused == (400, "Bad Request: message can't be edited")


async def test_updates_come_until_they_are_confirmed(telegram: TelegramEmulator, bot: Client) -> None:
    ada = telegram.user(42).chat()
    for text in ("one", "two", "three"):
        ada.say(text)

    async def texts(**values: object) -> list[str]:
        updates = await bot.result("getUpdates", **values)
        assert isinstance(updates, list)
        return [update["message"]["text"] for update in updates]

    assert await texts() == ["one", "two", "three"]
    assert await texts(limit=2) == ["one", "two"]
    assert await texts(offset=1001) == ["two", "three"]
    assert await texts() == ["two", "three"]
    assert await texts(offset=-1) == ["three"]
    assert await texts(allowed_updates=["callback_query"]) == []
    assert await texts(offset=1003) == []


async def test_a_long_poll_ends_with_the_update_or_the_time(telegram: TelegramEmulator, bot: Client) -> None:
    poll = asyncio.create_task(bot.result("getUpdates", timeout=10))
    await eventually(lambda: telegram.called("getUpdates"), "the poll")
    telegram.user(42).chat().say("now")
    updates = await asyncio.wait_for(poll, 20)
    assert isinstance(updates, list)
    assert await bot.result("getUpdates", offset=updates[0]["update_id"] + 1, timeout=1) == []


async def test_a_second_poller_ends_the_first_and_a_webhook_ends_both(
    telegram: TelegramEmulator, bot: Client
) -> None:
    first = asyncio.create_task(bot.refusal("getUpdates", timeout=10))
    await eventually(lambda: telegram.called("getUpdates"), "the poll")
    assert await bot.result("getUpdates") == []
    assert (await asyncio.wait_for(first, 20))[0] == 409
    await bot.result("setWebhook", url="https://example.org/hook")
    assert (await bot.refusal("getUpdates"))[1].startswith(
        "Conflict: can't use getUpdates method while webhook"
    )
    await bot.result("deleteWebhook")
    assert await bot.result("getUpdates") == []


async def test_tokens_and_methods_that_are_not(telegram: TelegramEmulator, bot: Client) -> None:
    async def status(path: str) -> int:
        return (await bot.http.post(telegram.url + path)).status_code

    encoded = telegram.token.replace(":", "%3A")
    assert await status(f"/bot{encoded}/getMe") == 200
    assert await status(f"/bot{telegram.token}/GETME") == 200
    assert await status("/bot1:wrong/getMe") == 401
    assert await status("/botnonsense/getMe") == 404
    assert await status(f"/bot{telegram.token}/unknownMethod") == 404
    assert await status("/") == 404


async def test_forms_queries_and_files(telegram: TelegramEmulator, bot: Client) -> None:
    base = f"{telegram.url}/bot{telegram.token}"
    markup = json.dumps(keyboard("y"))
    await bot.http.post(
        f"{base}/sendMessage", data={"chat_id": "42", "text": "a&b=c", "reply_markup": markup}
    )
    await bot.http.get(f"{base}/sendMessage", params={"chat_id": "42", "text": "q"})
    content = b"\x00\r\n--x\r\n" * 50
    answer = await bot.http.post(
        f"{base}/sendDocument", data={"chat_id": "42", "caption": "c"}, files={"document": ("f.bin", content)}
    )
    form, query, document = telegram.messages
    assert (form.text, form.labels, query.text, document.text) == ("a&b=c", [["A"]], "q", "c")
    found = await bot.result("getFile", file_id=answer.json()["result"]["document"]["file_id"])
    assert isinstance(found, dict)
    path = f"/file/bot{telegram.token}/{found['file_path']}"
    assert (await bot.http.get(telegram.url + path)).content == content
    assert (await bot.http.get(telegram.url + path + "x")).status_code == 404


async def test_faults_on_demand(telegram: TelegramEmulator, bot: Client) -> None:
    telegram.fail("sendMessage", 429, retry_after=7)
    answer = (await bot.post("sendMessage", chat_id=42, text="x")).json()
    assert (answer["error_code"], answer["parameters"]) == (429, {"retry_after": 7})
    telegram.drop("sendMessage", after=True)
    with pytest.raises(httpx.TransportError):
        await bot.post("sendMessage", chat_id=42, text="arrived")
    assert [message.text for message in telegram.messages] == ["arrived"]
    telegram.fail("*", 503, times=5)
    telegram.heal()
    await bot.result("getMe")


async def test_a_blocked_bot_is_forbidden_and_reactions_need_a_message(
    telegram: TelegramEmulator, bot: Client
) -> None:
    message = telegram.user(42).chat().say("hi")
    reaction = [{"type": "emoji", "emoji": "👍"}]
    await bot.result("setMessageReaction", chat_id=42, message_id=message.message_id, reaction=reaction)
    assert message.reactions == ("👍",)
    assert (await bot.refusal("setMessageReaction", chat_id=42, message_id=999))[0] == 400
    telegram.user(42).block_bot()
    refused = await bot.refusal("sendMessage", chat_id=42, text="x")
    assert refused == (403, "Forbidden: bot was blocked by the user")


@pytest.mark.parametrize(
    ("mode", "source", "text", "kinds"),
    [
        pytest.param("MarkdownV2", r"*b* _i_ `a.b` 1\.", "b i a.b 1.", ["bold", "italic", "code"], id="v2"),
        pytest.param("MarkdownV2", "[x](http://y)", "x", ["text_link"], id="a link in v2"),
        pytest.param("HTML", "<b>b &lt;</b> <a href='x'>y</a>", "b < y", ["bold", "text_link"], id="html"),
        pytest.param("", "*b*", "*b*", [], id="no mode"),
    ],
)
def test_parse_modes(mode: str, source: str, text: str, kinds: list[str]) -> None:
    found, entities = parse(source, mode)
    assert (found, [entity["type"] for entity in entities]) == (text, kinds)


@pytest.mark.parametrize(
    ("mode", "source"),
    [
        ("MarkdownV2", "*open"),
        ("MarkdownV2", "a-b"),
        ("MarkdownV2", "[x](y"),
        ("HTML", "<div>x</div>"),
        ("HTML", "x</b>"),
        ("Wiki", "x"),
    ],
)
def test_parse_errors(mode: str, source: str) -> None:
    with pytest.raises(ApiError):
        parse(source, mode)
