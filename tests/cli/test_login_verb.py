from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest

from echo_bot.bus.process import ProcessId
from echo_bot.bus.sqlite import SqliteBus
from echo_bot.gateway.login import LoginDesk
from echo_bot.storage.peek import RUNTIME
from echo_bot.storage.store import SqlStore
from echo_bot.testing.command_line import CommandLine

ME = ProcessId.current()
ELSEWHERE = replace(ME, started="1")


def now() -> datetime:
    return datetime.now(UTC)


def start_bot(
    command_line: CommandLine, *, url: str, process: ProcessId = ME, has_account: bool = True
) -> None:
    async def leave(store: SqlStore) -> None:
        if has_account:
            account = json.dumps({"process": str(process), "url": url})
            await store.values.put(RUNTIME, "health", account)
        bus = SqliteBus(store.path, now)
        await bus.open()
        await bus.lease("bot", str(process), 15)
        await bus.close()

    command_line.with_store(leave)


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test process plays the bot, and the verb runs in it: let it count as somebody else's."""
    monkeypatch.setattr("echo_bot.cli.guarded.descends_from", lambda bot: False)


@pytest.mark.usefixtures("person")
def test_a_fresh_link_logs_in_once(command_line: CommandLine) -> None:
    start_bot(command_line, url="http://127.0.0.1:8765")
    first, second = command_line("login"), command_line("login")
    assert (first.code, first.err) == (0, "")
    assert first.out != second.out
    link = urlsplit(first.out.strip())
    assert (link.netloc, link.path.rpartition("/")[0]) == ("127.0.0.1:8765", "/login")
    secret = link.path.rpartition("/")[2]

    async def spend(store: SqlStore) -> tuple[bool, bool]:
        desk = LoginDesk(store.logins, now)
        return await desk.exchange(secret) is not None, await desk.exchange(secret) is not None

    assert command_line.with_store(spend) == (True, False)
    assert secret.encode() not in command_line.database.read_bytes()


@pytest.mark.usefixtures("person")
def test_the_link_is_audited_without_its_secret(command_line: CommandLine) -> None:
    start_bot(command_line, url="http://127.0.0.1:8765")
    secret = command_line("login").out.strip().rpartition("/")[2]
    audit = command_line("audit", "tail").out
    assert "login_link identity=web:local" in audit
    assert secret not in audit


def test_without_a_bot_nothing_is_made(command_line: CommandLine) -> None:
    answer = command_line("login")
    assert (answer.code, answer.out) == (3, "")
    assert f"no bot runs on {command_line.data_dir}: start one with `echo-bot run`" in answer.err
    assert not command_line.data_dir.exists()


def test_a_bot_that_was_killed_is_not_reachable(command_line: CommandLine) -> None:
    start_bot(command_line, url="http://127.0.0.1:8765", process=ELSEWHERE)
    assert command_line("login").code == 3


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize(
    ("has_account", "says"),
    [(True, "serves no page"), (False, "just starting")],
    ids=["no page", "no account yet"],
)
def test_a_bot_without_a_page_is_not_reachable(
    command_line: CommandLine, has_account: bool, says: str
) -> None:
    start_bot(command_line, url="", has_account=has_account)
    answer = command_line("login")
    assert (answer.code, answer.out) == (3, "")
    assert says in answer.err


def test_what_the_bot_started_may_not_log_in(command_line: CommandLine) -> None:
    parent = replace(ME, pid=os.getppid(), started="")
    start_bot(command_line, url="http://127.0.0.1:8765", process=parent)
    answer = command_line("login")
    assert (answer.code, answer.out) == (2, "")
    assert "a person has to" in answer.err
