"""Messages by HTTP: the answer in the response, later, or as a stream; and what a body cannot claim."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx

from echo_bot.events import Address
from echo_bot.gateway.api.channel import ApiChannel
from echo_bot.testing.api_bot import ApiBot
from echo_bot.testing.scripted_model import CallTool, Say
from echo_bot.testing.waiting import eventually

StartApi = Callable[..., AbstractAsyncContextManager[ApiBot]]

RAN = "```\nexit code 0\nit ran\n```"
ASK = CallTool("clarify", {"question": "Which colour?"})


async def post(holder: httpx.AsyncClient, text: str, **more: object) -> httpx.Response:
    return await holder.post("/messages", json={"text": text, **more})


async def waiting_approval(api: ApiBot) -> str:
    """The id of the open approval, once there is one that the admin may decide."""
    for _ in range(2000):
        found = (await api.ops.get("/approvals")).json()
        if found:
            return str(found[0]["id"])
        await asyncio.sleep(0.01)
    raise AssertionError("no approval was opened")


async def finished(holder: httpx.AsyncClient, message_id: str) -> dict[str, Any]:
    """The message once its turn has ended."""
    for _ in range(2000):
        answer = await holder.get(f"/messages/{message_id}")
        if answer.status_code == 200:
            return dict(answer.json())
        assert answer.status_code == 202
        await asyncio.sleep(0.01)
    raise AssertionError(f"{message_id} did not end")


def texts(message: dict[str, Any]) -> list[str]:
    return [part["text"] for part in message["reply"]]


async def events(response: httpx.Response) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """The server-sent events as they come."""
    name = ""
    async for line in response.aiter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


async def test_the_answer_comes_in_the_response(start_api: StartApi) -> None:
    async with start_api(None, Say("Four.")) as api:
        answer = await post(api.ci, "What is two and two?")
        assert answer.status_code == 200
        message = answer.json()
        assert (message["state"], texts(message), message["approvals"]) == ("done", ["Four."], [])
        assert (await api.ci.get(f"/messages/{message['id']}")).json() == message


async def test_everything_that_a_turn_says_is_its_answer(start_api: StartApi) -> None:
    note = CallTool("message", {"text": "Half way."})
    async with start_api(None, note, Say("Done.")) as api:
        assert texts((await post(api.ci, "go")).json()) == ["Half way.", "Done."]


async def test_a_command_is_answered_at_once(api: ApiBot) -> None:
    message = (await post(api.ci, "/whoami")).json()
    assert texts(message) == ["You are `api:ci`. This chat is `api:ci`."]
    assert texts((await post(api.ops, "/whoami")).json())[0].startswith("You are `api:ops`, an admin.")


async def test_who_does_not_wait_asks_again_by_the_id(api: ApiBot) -> None:
    answer = await post(api.ci, "/run echo it ran", wait_seconds=0, id="build-1")
    assert (answer.status_code, answer.json()["id"]) == (202, "build-1")
    await api.ops.post(f"/approvals/{await waiting_approval(api)}/approve", json={})
    message = await finished(api.ci, "build-1")
    assert (message["state"], texts(message)) == ("done", [RAN])


async def test_the_wait_ends_with_its_time_and_says_who_is_waited_for(api: ApiBot) -> None:
    await post(api.ci, "/run echo it ran", wait_seconds=0, id="build-1")
    await waiting_approval(api)
    answer = await post(api.ci, "/run echo it ran", wait_seconds=0.3, id="build-1")
    message = answer.json()
    assert (answer.status_code, message["state"]) == (202, "waiting")
    (approval,) = message["approvals"]
    assert (approval["tool"], approval["requester"], approval["may_decide"]) == ("exec", "api:ci", False)


async def test_the_wait_goes_on_while_somebody_else_decides(api: ApiBot) -> None:
    waits = asyncio.create_task(post(api.ci, "/run echo it ran"))
    await api.ops.post(f"/approvals/{await waiting_approval(api)}/approve", json={})
    answer = await waits
    assert (answer.status_code, texts(answer.json())) == (200, [RAN])


async def test_the_wait_ends_where_the_caller_has_to_decide(api: ApiBot) -> None:
    answer = await post(api.ops, "/run echo it ran", id="mine")
    assert answer.status_code == 202
    (approval,) = answer.json()["approvals"]
    assert approval["may_decide"]
    decided = await post(api.ops, f"/approve {approval['short_id']}")
    assert texts(decided.json()) == ["Approved once."]
    assert texts(await finished(api.ops, "mine")) == [RAN]


async def test_a_message_with_an_id_is_taken_once_and_answered_twice(start_api: StartApi) -> None:
    async with start_api(None, Say("first"), Say("second")) as api:
        once, again = await post(api.ci, "go", id="a"), await post(api.ci, "go", id="a")
        assert (once.status_code, once.json()) == (again.status_code, again.json())
        assert texts((await post(api.ci, "go", id="b")).json()) == ["second"]


async def test_the_id_of_a_command_cannot_be_used_again(api: ApiBot) -> None:
    assert (await post(api.ci, "/help", id="a")).status_code == 200
    assert (await post(api.ci, "/help", id="a")).status_code == 409


async def test_two_tokens_may_use_the_same_id(start_api: StartApi) -> None:
    async with start_api(None, Say("to one"), Say("to the other")) as api:
        assert texts((await post(api.ci, "go", id="a")).json()) == ["to one"]
        assert texts((await post(api.ops, "go", id="a")).json()) == ["to the other"]


async def test_a_message_of_somebody_else_is_not_there(start_api: StartApi) -> None:
    async with start_api(None, Say("private")) as api:
        await post(api.ops, "go", id="theirs")
        answer = await api.ci.get("/messages/theirs")
        assert answer.status_code == 404
        assert "private" not in answer.text


CLAIMS: tuple[dict[str, object], ...] = (
    {"sender_id": "cli:local"},
    {"sender": "ops"},
    {"chat_id": "ops"},
    {"channel": "cli"},
    {"session_key": "cli:local"},
    {"session_key_override": "cli:local"},
    {"memory_scope": "cli:local"},
    {"unattended": False},
    {"cron_authorized": True},
    {"is_control": True},
    {"metadata": {"_cron_authorized": True}},
    {"thread": "../cli"},
    {"thread": "a:b"},
)


async def test_a_body_claims_nothing(api: ApiBot) -> None:
    for claim in CLAIMS:
        answer = await post(api.ci, "/run echo no", **claim)
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid"), claim
    assert (await api.ops.get("/sessions")).json() == []


async def test_an_ordinary_token_decides_nothing_by_a_chat_command(api: ApiBot) -> None:
    await post(api.ci, "/run echo it ran", wait_seconds=0)
    approval = await waiting_approval(api)
    answer = await post(api.ci, f"/approve {approval[-6:]}")
    assert texts(answer.json()) == ["You may not decide this."]
    assert (await api.ops.get("/approvals")).json() != []


async def test_a_token_is_not_paired(api: ApiBot) -> None:
    assert (await post(api.ci, "/pair ABCD2345")).status_code == 403


async def test_a_question_is_answered_by_the_next_message(start_api: StartApi) -> None:
    async with start_api(None, ASK, Say("Red it is.")) as api:
        asked = await post(api.ci, "paint", thread="art")
        (question,) = asked.json()["approvals"]
        assert (asked.status_code, question["kind"], question["summary"]) == (
            202,
            "question",
            "Which colour?",
        )
        answered = await post(api.ci, "red", thread="art")
        assert (answered.status_code, texts(answered.json())) == (200, ["Red it is."])


async def test_a_question_is_answered_by_its_id_and_only_by_who_was_asked(start_api: StartApi) -> None:
    async with start_api(None, ASK, Say("Red it is.")) as api:
        asked = (await post(api.ci, "paint")).json()
        path = f"/approvals/{asked['approvals'][0]['id']}/answer"
        assert (await api.ops.post(path, json={"text": "blue"})).status_code == 404
        assert (await api.ci.post(path, json={"text": "red"})).status_code == 200
        assert texts(await finished(api.ci, asked["id"])) == ["Red it is."]


async def test_threads_are_conversations_of_their_own(start_api: StartApi) -> None:
    async with start_api(None, Say("one"), Say("two")) as api:
        await post(api.ci, "first", thread="a")
        await post(api.ci, "second", thread="b")
        chats = (await api.ci.get("/sessions")).json()
        assert [(chat["chat"], chat["thread"]) for chat in chats] == [("ci", "b"), ("ci", "a")]
        lines = (await api.ci.get("/sessions/transcript", params={"thread": "a"})).json()
        assert [(line["role"], line["text"]) for line in lines] == [("user", "first"), ("bot", "one")]


async def test_an_ordinary_token_reads_its_own_chats_alone(start_api: StartApi) -> None:
    async with start_api(None, Say("secret plan")) as api:
        await post(api.ops, "go")
        assert (await api.ci.get("/sessions")).json() == []
        for where in ({"chat": "ops"}, {"channel": "telegram", "chat": "ci"}, {"account": "x"}):
            answer = await api.ci.get("/sessions/transcript", params=where)
            assert answer.status_code == 404
        lines = (await api.ops.get("/sessions/transcript", params={"chat": "ops"})).json()
        assert [line["text"] for line in lines] == ["go", "secret plan"]
        (chat,) = (await api.ops.get("/sessions")).json()
        assert (chat["channel"], chat["chat"]) == ("api", "ops")


async def test_a_stream_tells_everything_as_it_comes(api: ApiBot) -> None:
    seen: list[tuple[str, dict[str, Any]]] = []
    async with api.ops.stream("POST", "/messages/stream", json={"text": "/run echo it ran"}) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        async for name, data in events(response):
            seen.append((name, data))
            if name == "approval":
                await api.ops.post(f"/approvals/{data['id']}/approve", json={"scope": "once"})
    assert [name for name, _ in seen if name != "said"] == ["accepted", "approval", "end"]
    assert texts(seen[-1][1]) == [RAN]
    card = next(data["text"] for name, data in seen if name == "said")
    assert "echo it ran" in card
    assert "/approve" in card


async def test_a_stream_shows_drafts_that_grow(start_api: StartApi) -> None:
    words = "A sentence that is long enough to be written in several pieces by the model."
    async with start_api(None, Say(words)) as api:
        async with api.ci.stream("POST", "/messages/stream", json={"text": "go"}) as response:
            seen = [each async for each in events(response)]
        drafts = [data for name, data in seen if name == "said" and data["is_draft"]]
        assert all(words.startswith(draft["text"].removesuffix(" …")) for draft in drafts)
        assert texts(seen[-1][1]) == [words]


async def test_a_refused_stream_is_no_stream(start_api: StartApi) -> None:
    async with start_api({"rate_limit.per_minute": 1, "rate_limit.burst": 1}) as api:
        for status in (200, 429):
            answer = await api.ci.post("/messages/stream", json={"text": "/help"})
            assert answer.status_code == status


async def test_nobody_listens_after_a_caller_has_gone(api: ApiBot) -> None:
    channel = api.bot.parts.book.get(Address("api", "ops"))
    assert isinstance(channel, ApiChannel)
    async with api.ops.stream("POST", "/messages/stream", json={"text": "/run echo x"}) as response:
        async for name, _ in events(response):
            if name == "approval":
                assert channel.listeners
                break
    await eventually(lambda: not channel.listeners, "the end of listening")


async def test_a_message_goes_on_after_a_restart(start_api: StartApi) -> None:
    async with start_api() as api:
        await post(api.ci, "/run echo it ran", id="long", wait_seconds=0)
        approval = await waiting_approval(api)
    async with start_api() as api:
        assert (await api.ci.get("/messages/long")).status_code == 202
        decided = await api.ops.post(f"/approvals/{approval}/approve", json={})
        assert decided.status_code == 200
        assert texts(await finished(api.ci, "long")) == [RAN]


async def test_open_streams_do_not_hold_up_the_end(start_api: StartApi) -> None:
    async with start_api() as api:
        stream = api.ops.stream("POST", "/messages/stream", json={"text": "/run echo x"})
        response = await stream.__aenter__()
        async for name, _ in events(response):
            if name == "approval":
                break
        started = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - started < 5
