"""Approvals, grants and audit by HTTP: seen whole, decided by the rules for everybody, and written down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx

from echo_bot.testing.api_bot import ApiBot
from echo_bot.testing.waiting import eventually

StartApi = Callable[..., AbstractAsyncContextManager[ApiBot]]

COMMAND = "/run echo it ran"


async def asked(api: ApiBot, text: str = COMMAND, *, by: httpx.AsyncClient | None = None) -> dict[str, Any]:
    """An open approval of the ordinary token's holder, as the admin sees it."""
    known = {each["id"] for each in (await api.ops.get("/approvals")).json()}
    await (by or api.ci).post("/messages", json={"text": text, "wait_seconds": 0, "id": "asked"})
    for _ in range(2000):
        fresh = [each for each in (await api.ops.get("/approvals")).json() if each["id"] not in known]
        if fresh and fresh[0]["deadline"]:
            return dict(fresh[0])
        await asyncio.sleep(0.01)
    raise AssertionError("no approval was opened")


async def outcome(api: ApiBot) -> str:
    for _ in range(2000):
        answer = await api.ci.get("/messages/asked")
        if answer.status_code == 200:
            return str(answer.json()["reply"][-1]["text"])
        await asyncio.sleep(0.01)
    raise AssertionError("the turn did not end")


async def test_a_call_is_shown_whole_and_without_secrets(api: ApiBot) -> None:
    key = "sk-ant-api03-" + "x" * 80
    approval = await asked(
        api, f"/run curl -H 'x-api-key: {key}' https://example.org && echo {'long ' * 2000}"
    )
    shown = (await api.ops.get(f"/approvals/{approval['id']}")).json()
    assert shown["text"].count("long ") >= 2000
    assert any(block["kind"] == "code" and "curl" in block["text"] for block in shown["blocks"])
    assert key not in str(shown)
    assert shown["arguments"] is None
    assert (await api.ops.get(f"/approvals/{approval['short_id']}")).json() == shown


async def test_the_holder_of_an_ordinary_token_sees_their_own_requests_alone(api: ApiBot) -> None:
    mine = await asked(api)
    theirs = await asked(api, by=api.ops)
    assert [each["id"] for each in (await api.ci.get("/approvals")).json()] == [mine["id"]]
    assert (await api.ci.get(f"/approvals/{mine['id']}")).status_code == 200
    assert (await api.ci.get(f"/approvals/{theirs['id']}")).status_code == 404


async def test_an_approval_runs_the_call_and_names_who_approved(api: ApiBot) -> None:
    approval = await asked(api)
    decided = (await api.ops.post(f"/approvals/{approval['id']}/approve", json={})).json()
    assert (decided["message"], decided["approval"]["status"]) == ("Approved once.", "approved")
    assert "it ran" in await outcome(api)
    rows = (await api.ops.get("/audit", params={"limit": 50})).json()
    (decision,) = [row["fields"] for row in rows if row["kind"] == "decision"]
    assert (decision["by"], decision["choice"]) == ("api:ops", "once")


async def test_a_denial_gives_its_reason(api: ApiBot) -> None:
    approval = await asked(api)
    await api.ops.post(f"/approvals/{approval['id']}/deny", json={"reason": "not on a Friday"})
    assert "not on a Friday" in await outcome(api)


async def test_a_call_is_edited_and_judged_anew(api: ApiBot) -> None:
    approval = await asked(api)
    shown = (await api.ops.get(f"/approvals/{approval['id']}")).json()
    assert shown["arguments"] == {"command": "echo it ran"}
    path = f"/approvals/{approval['id']}/edit"
    for wrong in ({"command": 7}, {"command": "echo", "cwd": "/"}, {}):
        assert (await api.ops.post(path, json={"arguments": wrong})).status_code == 422
    edited = await api.ops.post(path, json={"arguments": {"command": "echo another"}})
    assert edited.status_code == 200
    changed = await asked_again(api, approval["id"])
    await api.ops.post(f"/approvals/{changed}/approve", json={})
    assert "another" in await outcome(api)


async def asked_again(api: ApiBot, old: str) -> str:
    for _ in range(2000):
        found = [each["id"] for each in (await api.ops.get("/approvals")).json() if each["id"] != old]
        if found:
            return str(found[0])
        await asyncio.sleep(0.01)
    raise AssertionError("the edited call was not asked for")


async def test_a_second_decision_hears_who_was_first(api: ApiBot) -> None:
    approval = await asked(api)
    path = f"/approvals/{approval['id']}"
    first, second = await asyncio.gather(
        api.ops.post(f"{path}/approve", json={}), api.ops.post(f"{path}/deny", json={})
    )
    assert sorted([first.status_code, second.status_code]) == [200, 409]
    late = await api.ops.post(f"{path}/approve", json={})
    assert (late.status_code, late.json()["error"]["code"]) == (409, "conflict")
    assert "by api:ops" in late.json()["error"]["message"]


async def test_a_word_that_is_no_scope_decides_nothing(api: ApiBot) -> None:
    approval = await asked(api)
    for scope in ("onc", "", "forever", "deny", "edit"):
        answer = await api.ops.post(f"/approvals/{approval['id']}/approve", json={"scope": scope})
        assert answer.status_code == 422, scope
    assert [each["status"] for each in (await api.ops.get("/approvals")).json()] == ["pending"]


async def test_an_admin_token_decides_only_where_the_approvers_name_it(start_api: StartApi) -> None:
    async with start_api({"permissions.approval.approvers": ["telegram:1"]}) as api:
        approval = await asked(api)
        assert not approval["may_decide"]
        answer = await api.ops.post(f"/approvals/{approval['id']}/approve", json={})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")


async def test_four_eyes_hold_for_tokens(start_api: StartApi) -> None:
    people: dict[str, object] = {
        "permissions.approval.requester_may_approve": {"exec": False},
        "permissions.admin_users": ["telegram:1"],
    }
    async with start_api(people) as api:
        theirs = await asked(api)
        assert theirs["may_decide"]
        own = await asked(api, by=api.ops)
        assert not own["may_decide"]
        assert (await api.ops.post(f"/approvals/{own['id']}/approve", json={})).status_code == 403


async def test_a_remembered_approval_belongs_to_who_asked_and_can_be_revoked(api: ApiBot) -> None:
    approval = await asked(api)
    await api.ops.post(f"/approvals/{approval['id']}/approve", json={"scope": "always"})
    await outcome(api)
    (grant,) = (await api.ci.get("/grants")).json()
    assert (grant["owner"], grant["created_by"], grant["scope"]) == ("api:ci", "api:ops", "always")
    assert (await api.ops.get("/grants")).json() == [grant]
    again = await api.ci.post("/messages", json={"text": COMMAND})
    assert again.status_code == 200
    assert (await api.ops.delete(f"/grants/{grant['id']}")).json() == {"id": grant["id"]}
    assert (await api.ops.delete(f"/grants/{grant['id']}")).status_code == 404
    assert (await api.ci.get("/grants")).json() == []
    rows = (await api.ops.get("/audit", params={"limit": 1})).json()
    assert (rows[0]["kind"], rows[0]["fields"]["by"]) == ("grant_revoked", "api:ops")


async def test_the_audit_is_verified(api: ApiBot) -> None:
    approval = await asked(api)
    await api.ops.post(f"/approvals/{approval['id']}/approve", json={})
    await outcome(api)
    report = (await api.ops.get("/audit/verify")).json()
    assert (report["sound"], report["problems"]) == (True, [])
    assert report["newest"]["row"] == report["rows"]


async def test_a_card_for_an_ordinary_tokens_call_goes_to_the_admins_chats(api: ApiBot) -> None:
    await asked(api)
    lines = (await api.ops.get("/sessions/transcript")).json()
    assert [line["role"] for line in lines] == ["card"]
    assert "echo it ran" in lines[0]["text"]
    mine = (await api.ci.get("/sessions/transcript")).json()
    assert mine[-1]["text"].startswith("Waiting for approval of exec (")
    assert not any(line["role"] == "card" for line in mine)


async def test_a_person_in_a_chat_decides_what_a_token_asked_for(start_api: StartApi) -> None:
    async with start_api({"permissions.admin_users": ["telegram:1"]}) as api:
        await api.ci.post("/messages", json={"text": COMMAND, "wait_seconds": 0, "id": "asked"})
        card = await api.bot.channel.wait_for_button("Approve once")
        assert "api:ci" in card.body
        await api.bot.channel.press("Approve once")
        assert "it ran" in await outcome(api)


async def test_tools_say_what_takes_them_away(start_api: StartApi) -> None:
    async with start_api({"tools.deny": ["write_file"]}) as api:
        rows = {row["name"]: row for row in (await api.ci.get("/tools")).json()}
    assert rows["exec"]["state"] == "available"
    assert (rows["write_file"]["state"], rows["write_file"]["reason"]) == ("filtered", "tools.deny")


async def test_the_channel_of_the_tokens_is_connected(api: ApiBot) -> None:
    await eventually(lambda: ("api", "") in api.bot.parts.channels.running(), "the api channel")
