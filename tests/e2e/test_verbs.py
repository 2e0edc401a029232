"""The verbs of the command beside a running bot: what they write counts in it within a second."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from echo_bot.testing.telegram import Conversation, TelegramEmulator
from echo_bot.testing.waiting import eventually

pytestmark = pytest.mark.e2e

StartBot = Callable[..., Awaitable[Any]]
Verb = Callable[..., Awaitable[Any]]


def config(telegram: TelegramEmulator, **more: object) -> dict[str, object]:
    return {
        "tools": {"exec": {"host": "local"}},
        "rate_limit": {"per_minute": 0},
        "permissions": {
            "admin_users": ["telegram:42", "cli:local"],
            "approval": {"wait_timeout_seconds": 300},
        },
        "channels": {
            "telegram": {"enabled": True, "allow_from": ["42"], "api_base": telegram.url},
            "web": {"enabled": False},
        },
        **more,
    }


def token(telegram: TelegramEmulator) -> dict[str, str]:
    return {"ECHO_BOT_CHANNELS__TELEGRAM__TOKEN": telegram.token}


async def told_times(person: Conversation, part: str, times: int) -> None:
    def is_told() -> bool:
        return sum(part in message.text for message in person.from_bot) == times

    await eventually(is_told, f"{part!r} to be told {times} times", 10)


async def open_request(verb: Verb) -> dict[str, Any]:
    (row,) = json.loads((await verb("approvals", "list", "--json")).out)
    assert isinstance(row, dict)
    return row


async def test_an_approval_given_on_the_command_line_runs_the_call_at_once(
    start_bot: StartBot, verb: Verb
) -> None:
    async with TelegramEmulator() as telegram:
        await start_bot(config(telegram), **token(telegram))
        ada = telegram.user(42, "Ada").chat()
        ada.say("/run echo made > made; echo done with it")
        card = await ada.wait_for_button("Approve once")
        row = await open_request(verb)
        assert (row["tool"], row["requester"]) == ("exec", "telegram:42")
        assert row["short_id"] in card.text
        assert row["short_id"] in (await verb("approvals", "list")).out
        unknown = await verb("approvals", "approve", row["short_id"], "forever")
        assert (unknown.code, "forever" in unknown.err) == (2, True)
        assert (await verb("approvals", "approve", "zzzzzz")).code == 1
        given = await verb("approvals", "approve", row["short_id"])
        assert (given.code, given.out) == (0, "Approved once.\n")
        # Far sooner than the bot would look by itself.
        await ada.wait_for_text("done with it", timeout=15)
        await ada.wait_for(
            lambda m: m.message_id == card.message_id and "cli:local" in m.text, "the closed card", 15
        )
        for reference in (row["id"], row["short_id"]):
            again = await verb("approvals", "deny", reference)
            assert (again.code, again.err) == (1, "Already approved by cli:local.\n")


async def test_a_denial_with_its_reason_reaches_the_chat(
    tmp_path: Path, start_bot: StartBot, verb: Verb
) -> None:
    async with TelegramEmulator() as telegram:
        await start_bot(config(telegram), **token(telegram))
        ada = telegram.user(42, "Ada").chat()
        ada.say("/run touch made")
        await ada.wait_for_button("Approve once")
        row = await open_request(verb)
        assert (await verb("approvals", "deny", row["short_id"], "not", "on", "Friday")).code == 0
        await ada.wait_for_text("not on Friday")
        assert not (tmp_path / "workspace" / "made").exists()
        again = await verb("approvals", "approve", row["short_id"])
        assert (again.code, again.err) == (1, "Already denied by cli:local.\n")
        sound = await verb("audit", "verify")
        assert (sound.code, sound.out.splitlines()[0].endswith(": sound")) == (0, True)


async def test_a_grant_spares_the_next_question_until_it_is_revoked(start_bot: StartBot, verb: Verb) -> None:
    async with TelegramEmulator() as telegram:
        await start_bot(config(telegram), **token(telegram))
        ada = telegram.user(42, "Ada").chat()
        ada.say("/run echo same call")
        await ada.wait_for_button("Approve once")
        row = await open_request(verb)
        assert (await verb("approvals", "approve", row["short_id"], "always")).code == 0
        await ada.wait_for_text("exit code 0")
        ada.say("/run echo same call")
        await told_times(ada, "exit code 0", 2)
        (grant,) = json.loads((await verb("grants", "list", "--json")).out)
        assert (grant["owner"], grant["scope"], grant["uses"]) == ("telegram:42", "always", 1)
        assert (await verb("grants", "revoke", grant["id"])).code == 0
        assert (await verb("grants", "revoke", grant["id"])).code == 1
        shown = len(ada.from_bot)
        ada.say("/run echo same call")
        await eventually(lambda: any(m.labels for m in ada.from_bot[shown:]), "a new question", 10)


async def test_a_paired_sender_is_let_in_at_once_and_an_approver_decides(
    start_bot: StartBot, verb: Verb
) -> None:
    async with TelegramEmulator() as telegram:
        await start_bot(config(telegram), **token(telegram))
        ada, bob = telegram.user(42, "Ada").chat(), telegram.user(7, "Bob").chat()
        bob.say("hello?")
        code = (await verb("pair", "--approver")).out.strip()
        bob.say(f"/pair {code}")
        await bob.wait_for_text("Paired.")
        assert not any("hello" in message.text for message in bob.from_bot)
        bob.say("/status")
        await bob.wait_for_text("Echo Bot")
        late = telegram.user(8, "Late").chat()
        await verb("pair")
        late.say(f"/pair {code}")
        await late.wait_for_text("wrong or has expired")
        ada.say("/run echo for bob to decide")
        await ada.wait_for_button("Approve once")
        row = await open_request(verb)
        bob.say(f"/approve {row['short_id']}")
        await ada.wait_for_text("exit code 0")


async def test_five_wrong_codes_lock_even_the_right_one_out(start_bot: StartBot, verb: Verb) -> None:
    async with TelegramEmulator() as telegram:
        await start_bot(config(telegram), **token(telegram))
        eve = telegram.user(9, "Eve").chat()
        code = (await verb("pair", "--admin")).out.strip()
        wrong = "wrong or has expired"
        for number in range(5):
            eve.say(f"/pair WRONG{number}AA")
            await told_times(eve, wrong, number + 1)
        eve.say(f"/pair {code}")
        await eve.wait_for_text("Too many wrong codes")
        assert json.loads((await verb("status", "--json")).out)["paired"] == 0


async def test_a_stored_token_starts_the_channel_with_the_key_alone(start_bot: StartBot, verb: Verb) -> None:
    key = (await verb("credentials", "key")).out.strip()
    keyed = {"ECHO_BOT_CREDENTIAL_KEY": key}
    async with TelegramEmulator() as telegram:
        stored = await verb("credentials", "set", "channels.telegram.token", stdin=telegram.token, **keyed)
        assert (stored.code, telegram.token in stored.out + stored.err) == (0, False)
        listed = await verb("credentials", "list")
        assert listed.out.split("\t")[0] == "channels.telegram.token"
        bot = await start_bot(config(telegram), **keyed)
        ada = telegram.user(42, "Ada").chat()
        ada.say("/status")
        await ada.wait_for_text("Echo Bot")
        assert await bot.stop() == 0
        new = (await verb("credentials", "key")).out.strip()
        assert (await verb("credentials", "rotate", stdin=new, **keyed)).code == 0
        refused = await verb("run", "--headless", **keyed)
        assert (refused.code, "was encrypted with key" in refused.err) == (2, True)
        await start_bot(config(telegram), ECHO_BOT_CREDENTIAL_KEY=new)
        ada.say("/tools")
        await ada.wait_for_text("Available:")
        assert (await verb("credentials", "delete", "channels.telegram.token")).code == 0
        assert (await verb("credentials", "delete", "channels.telegram.token")).code == 1


async def test_a_login_link_of_the_running_bot_opens_the_page_once(start_bot: StartBot, verb: Verb) -> None:
    assert (await verb("login")).code == 3
    bot = await start_bot({})
    base = bot.url.partition("/login/")[0]
    said = await verb("login")
    assert (said.code, said.out.startswith(f"{base}/login/")) == (0, True)
    link = said.out.strip()
    async with httpx.AsyncClient() as browser:
        assert "Continue" in (await browser.get(link)).text
        assert (await browser.post(link)).status_code == 303
        assert (await browser.get(base + "/")).status_code == 200
    async with httpx.AsyncClient() as second:
        spent = await second.post(link)
    assert (spent.status_code, "echo-bot login" in spent.text) == (410, True)


async def test_status_tells_of_the_running_bot_and_then_of_the_last_one(
    tmp_path: Path, start_bot: StartBot, verb: Verb
) -> None:
    async with TelegramEmulator() as telegram:
        bot = await start_bot(config(telegram), **token(telegram))
        ada = telegram.user(42, "Ada").chat()
        ada.say("/run echo wait for it")
        await ada.wait_for_button("Approve once")

        async def told() -> dict[str, Any]:
            said = await verb("status", "--json", **token(telegram))
            assert said.code == 0, said.err
            found = json.loads(said.out)
            assert isinstance(found, dict)
            return found

        found = await told()
        assert (found["running"], found["pid"], found["config_changed"]) == (True, bot.process.pid, False)
        while [(each["name"], each["state"]) for each in found["channels"]] != [("telegram", "connected")]:
            found = await told()
        assert [each["requester"] for each in found["pending_approvals"]] == ["telegram:42"]
        running = found["tools"]
        allowed = {"available", "filtered", "disabled", "not_ready", "reserved"}
        assert {each["state"] for each in running} <= allowed
        assert telegram.token not in json.dumps(found)
        with (tmp_path / "config.yaml").open("a") as file:
            file.write("\n# a comment\n")
        assert (await told())["config_changed"] is True
        assert await bot.stop() == 0
        stopped = await told()
        assert (stopped["running"], stopped["channels"], stopped["url"]) == (False, [], "")
        assert stopped["tools"] == running


async def test_a_row_changed_behind_the_bots_back_is_found(
    tmp_path: Path, start_bot: StartBot, verb: Verb
) -> None:
    bot = await start_bot({})
    assert (await verb("audit", "verify")).code == 0
    assert "started" in (await verb("audit", "tail")).out
    assert await bot.stop() == 0
    connection = sqlite3.connect(tmp_path / "state" / "echo-bot.db")
    with connection:
        connection.execute("UPDATE audit SET body_json = '{}' WHERE kind = 'started'")
    connection.close()
    said = await verb("audit", "verify")
    assert (said.code, "BROKEN" in said.out) == (1, True)


async def test_a_pause_of_the_command_line_holds_the_running_bot_until_it_resumes(
    start_bot: StartBot, verb: Verb
) -> None:
    async with TelegramEmulator() as telegram:
        await start_bot(config(telegram), **token(telegram))
        ada = telegram.user(42, "Ada").chat()
        ada.say("/whoami")
        await ada.wait_for_text("You are")
        assert (await verb("pause")).code == 0
        assert "Paused everywhere since" in (await verb("status")).out
        async with asyncio.timeout(20):
            while not any("Paused everywhere" in message.text for message in ada.from_bot):
                ada.say("/status")
                await asyncio.sleep(1)
        ada.say("/tool todo action=list")
        await ada.wait_for_text("Paused: I will read this")
        assert (await verb("resume")).code == 0
        await ada.wait_for_text("The list is empty")
        assert (await verb("resume")).code == 1


CONTROL = (
    *("approvals list", "grants list", "pair", "credentials list", "config check"),
    *("jobs list", "pause", "resume", "login"),
)


async def test_the_guard_keeps_the_bots_own_shell_from_its_control(start_bot: StartBot) -> None:
    async with TelegramEmulator() as telegram:
        await start_bot(config(telegram), **token(telegram))
        ada = telegram.user(42, "Ada").chat()
        for words in CONTROL:
            ada.say(f"/run echo-bot {words}")
            refusal = f"Uses the bot's own control command '{words.split()[0]}'"
            await ada.wait_for_text(refusal)
        assert not any(message.labels for message in ada.from_bot)


async def test_a_verb_that_the_bot_itself_started_refuses_even_when_a_person_approved(
    tmp_path: Path, start_bot: StartBot
) -> None:
    """A script hides the words from the guard; then the verb sees that the bot is among its parents."""
    lines = (f"{sys.executable} -m echo_bot {words} 2>&1 || echo {words} failed with $?" for words in CONTROL)
    (tmp_path / "workspace").mkdir(exist_ok=True)
    place = f"export ECHO_BOT_DATA_DIR={tmp_path}/state"
    (tmp_path / "workspace" / "job").write_text("\n".join((place, *lines)))
    async with TelegramEmulator() as telegram:
        await start_bot(config(telegram), **token(telegram), ECHO_BOT_TOOLS__EXEC__TIMEOUT_SECONDS="90")
        ada = telegram.user(42, "Ada").chat()
        ada.say("/run bash ./job")
        await ada.wait_for_button("Approve once")
        ada.press("Approve once")
        done = await ada.wait_for_text("login failed with 2", timeout=90)
        refused = "the bot itself cannot use this verb: a person has to, outside of the bot"
        assert done.text.count(refused) == len(CONTROL)
