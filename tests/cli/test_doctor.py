"""`echo-bot doctor`: where all is sound there is nothing to mend, and every fault is named with its cure."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot.audit import Audit
from echo_bot.bus.process import ProcessId
from echo_bot.bus.sqlite import SqliteBus
from echo_bot.cli.doctor.channels import is_private
from echo_bot.config.key_variable import KEY_VARIABLE
from echo_bot.credentials import Key, Vault
from echo_bot.storage.peek import RUNTIME
from echo_bot.storage.store import SqlStore
from echo_bot.testing.command_line import CommandLine
from echo_bot.testing.telegram import TelegramEmulator

KEY = Key(bytes(range(32)))
TOKEN = "123456:a-bot-token-of-this-test"
Row = dict[str, str]


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line with the channels that are really installed, and a free port."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in (KEY_VARIABLE, "ECHO_AGENT_CREDENTIAL_KEY", "ECHO_BOT_CONFIG", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    line = CommandLine(tmp_path)
    line.environ |= {"ECHO_BOT_GATEWAY__PORT": "0", "ECHO_BOT_TOOLS__EXEC__HOST": "local"}
    return line


@pytest.fixture
def configured(clinic: CommandLine, tmp_path: Path) -> Callable[[str], Path]:
    def write(content: str) -> Path:
        file = tmp_path / "bot.yaml"
        file.write_text(content)
        file.chmod(0o600)
        clinic.environ["ECHO_BOT_CONFIG"] = str(file)
        return file

    return write


def rows(clinic: CommandLine, *options: str) -> list[Row]:
    answer = clinic("doctor", "--json", *options)
    told = json.loads(answer.out)
    found: list[Row] = told["findings"]
    mends = any(each["severity"] in ("weak", "broken") for each in found)
    assert (answer.code, told["ok"]) == (int(mends), not mends)
    return found


def to_mend(clinic: CommandLine, *options: str) -> list[tuple[str, str, str, str]]:
    return [
        (each["area"], each["severity"], each["what"], each["fix"])
        for each in rows(clinic, *options)
        if each["severity"] in ("weak", "broken")
    ]


def only(clinic: CommandLine, *options: str) -> tuple[str, str, str, str]:
    (found,) = to_mend(clinic, *options)
    return found


def keep(clinic: CommandLine, name: str = "models", field: str = "api_key") -> None:
    async def store(opened: SqlStore) -> None:
        await Vault(opened.sealed, KEY, lambda: datetime.now(UTC)).set(name, field, "a stored value")

    clinic.with_store(store)


def run_bot(clinic: CommandLine, **account: object) -> None:
    """Leave what a running bot leaves; the process is this one."""

    async def leave(store: SqlStore) -> None:
        me = ProcessId.current()
        facts = {"process": str(me), "pid": me.pid, "config": "", "config_digest": "", **account}
        await store.values.put(RUNTIME, "health", json.dumps(facts))
        bus = SqliteBus(store.path, lambda: datetime.now(UTC))
        await bus.open()
        await bus.lease("bot", str(me), 15)
        await bus.close()

    clinic.with_store(leave)


def test_where_nothing_ran_yet_there_is_nothing_to_mend_and_nothing_is_made(clinic: CommandLine) -> None:
    answer = clinic("doctor")
    assert answer.code == 0
    assert "no credential is stored, so no key is needed" in answer.out
    assert to_mend(clinic) == []
    assert not clinic.data_dir.exists()


def test_after_a_run_the_database_the_files_and_the_audit_are_sound(clinic: CommandLine) -> None:
    async def write(store: SqlStore) -> None:
        await Audit(store.audit, "w", None, lambda: datetime.now(UTC), mask=str).record(
            "decided", tool="exec"
        )

    clinic.with_store(write)
    found = {row["area"]: row["what"] for row in rows(clinic)}
    assert "is sound" in found["database"]
    assert "readable by its owner alone" in found["files"]
    assert found["audit"].startswith("nothing was changed")


def test_every_error_of_the_configuration_is_told(
    clinic: CommandLine, configured: Callable[[str], Path]
) -> None:
    file = configured("tools: {profil: full}\nworkspace: /\n")
    found = to_mend(clinic)
    assert [each[:2] for each in found] == [("configuration", "broken")] * 2
    assert any(f"{file}:1: tools.profil: " in each[2] for each in found)


def test_a_readable_credential_without_a_key_is_told_with_the_ways_out(
    clinic: CommandLine, configured: Callable[[str], Path]
) -> None:
    file = configured(f"channels: {{telegram: {{token: '{TOKEN}'}}}}\n")
    found = to_mend(clinic)
    assert any(severity == "broken" and "credentials key" in what for _, severity, what, _ in found)
    (readable,) = (each for each in found if "stands readable" in each[2])
    assert "doctor --move-credentials" in readable[3]
    assert TOKEN not in str(found)
    file.chmod(0o644)
    assert any(fix == f"chmod 600 {file}" for *_, fix in to_mend(clinic))


def test_a_credential_that_cannot_be_stored_goes_to_the_environment(
    clinic: CommandLine, configured: Callable[[str], Path]
) -> None:
    clinic.environ[KEY_VARIABLE] = KEY.reveal()
    configured("channels: {telegram: {proxy: 'http://me:hunter2hunter2@127.0.0.1:3128'}}\n")
    assert "ECHO_BOT_CHANNELS__TELEGRAM__PROXY" in only(clinic)[3]
    said = clinic("doctor", "--move-credentials").out
    assert said.splitlines()[0].startswith("left channels.telegram.proxy: it cannot be stored")


def test_credentials_are_moved_and_everything_else_stays(
    clinic: CommandLine, configured: Callable[[str], Path]
) -> None:
    clinic.environ[KEY_VARIABLE] = KEY.reveal()
    file = configured(
        "# mine\nlanguage: en  # for me\nchannels:\n  telegram:\n    # from @BotFather\n"
        f"    token: '{TOKEN}'\n    allow_from: ['7']  # Bo\n"
        "models: {api_key: sk-of-this-test, default: ''}\n"
    )
    answer = clinic("doctor", "--move-credentials")
    assert f"moved channels.telegram.token from {file}" in answer.out
    assert "moved models.api_key" in answer.out
    assert "ok     the credential key is set; stored values: 2" in answer.out
    assert TOKEN not in answer.out + answer.err
    text = file.read_text()
    assert TOKEN not in text
    assert "sk-of-this-test" not in text
    for line in ("# mine", "language: en  # for me", "    # from @BotFather", "    allow_from: ['7']  # Bo"):
        assert line in text.splitlines()
    assert file.stat().st_mode & 0o777 == 0o600

    async def read(store: SqlStore) -> tuple[str | None, str | None]:
        vault = Vault(store.sealed, KEY, lambda: pytest.fail("nothing is written"))
        return await vault.get("channel:telegram", "token"), await vault.get("models", "api_key")

    assert clinic.with_store(read) == (TOKEN, "sk-of-this-test")
    assert to_mend(clinic) == []
    assert "no credential stands in" in clinic("doctor", "--move-credentials").out


def test_nothing_is_moved_without_a_key(clinic: CommandLine, configured: Callable[[str], Path]) -> None:
    file = configured(f"channels: {{telegram: {{token: '{TOKEN}'}}}}\n")
    before = file.read_text()
    answer = clinic("doctor", "--move-credentials")
    assert answer.code == 2
    assert "nothing was moved" in answer.err
    assert file.read_text() == before


def test_a_value_that_stands_elsewhere_in_the_file_is_told(
    clinic: CommandLine, configured: Callable[[str], Path]
) -> None:
    clinic.environ[KEY_VARIABLE] = KEY.reveal()
    configured(f"# old: {TOKEN}\nchannels:\n  telegram:\n    token: '{TOKEN}'\n")
    said = clinic("doctor", "--move-credentials").out
    assert "still stands in" in said
    assert "line 1" in said


def test_stored_values_without_their_key_are_told(clinic: CommandLine) -> None:
    keep(clinic)
    area, severity, what, _ = only(clinic)
    assert (area, severity) == ("configuration", "broken")
    assert "the key that opens them is not set" in what


def test_a_missing_sandbox_is_told(
    clinic: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clinic.environ["ECHO_BOT_TOOLS__EXEC__HOST"] = "sandbox"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert any("apt install bubblewrap" in what + fix for _, _, what, fix in to_mend(clinic))


def test_state_that_others_may_read_is_told(clinic: CommandLine) -> None:
    async def nothing(store: SqlStore) -> None:
        return None

    clinic.with_store(nothing)
    (clinic.data_dir / "notes.txt").write_text("x")
    (clinic.data_dir / "notes.txt").chmod(0o644)
    _, _, what, fix = only(clinic)
    assert str(clinic.data_dir / "notes.txt") in what
    assert fix == f"chmod -R go= {clinic.data_dir}"


def test_a_damaged_database_is_told_and_left(clinic: CommandLine) -> None:
    clinic.data_dir.mkdir(mode=0o700)
    clinic.database.write_bytes(b"not a database at all")
    clinic.database.chmod(0o600)
    assert only(clinic)[:2] == ("database", "broken")
    assert clinic.database.read_bytes() == b"not a database at all"


def test_pages_that_are_damaged_are_told(clinic: CommandLine) -> None:
    async def fill(store: SqlStore) -> None:
        for number in range(200):
            await store.values.put("test", str(number), "x" * 2000)

    clinic.with_store(fill)
    content = bytearray(clinic.database.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = os.urandom(4096)
    clinic.database.write_bytes(content)
    assert any(each[:2] == ("database", "broken") for each in to_mend(clinic))


def test_a_changed_row_of_the_audit_is_told(clinic: CommandLine) -> None:
    async def change(store: SqlStore) -> None:
        audit = Audit(store.audit, "w", None, lambda: datetime.now(UTC), mask=str)
        for number in range(3):
            await audit.record("decided", tool=f"t{number}")

    clinic.with_store(change)
    with sqlite3.connect(clinic.database) as connection:
        connection.execute("UPDATE audit SET kind = 'forged' WHERE seq = 2")
    connection.close()
    area, severity, _, fix = only(clinic)
    assert (area, severity) == ("audit", "broken")
    assert "audit verify" in fix


def test_a_clock_that_went_back_is_told(clinic: CommandLine) -> None:
    async def write(store: SqlStore) -> None:
        ahead = datetime.now(UTC) + timedelta(days=1)
        await Audit(store.audit, "w", None, lambda: ahead, mask=str).record("decided", tool="exec")

    clinic.with_store(write)
    assert only(clinic)[0] == "clock"


def test_a_port_that_is_taken_is_told(clinic: CommandLine) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        clinic.environ["ECHO_BOT_GATEWAY__PORT"] = str(port)
        area, _, what, _ = only(clinic)
        assert (area, f"127.0.0.1:{port} cannot be had" in what) == ("gateway", True)


def test_the_running_bots_channels_are_told_of(clinic: CommandLine) -> None:
    channels = [
        {"name": "telegram", "state": "failed", "error": "the token is wrong"},
        {"name": "slack", "state": "retrying", "error": "no network"},
        {"name": "web", "state": "connected", "error": ""},
    ]
    run_bot(clinic, channels=channels, url="http://127.0.0.1:8765")
    found = [(severity, what) for area, severity, what, _ in to_mend(clinic) if area == "channels"]
    assert found == [
        ("broken", "telegram is failed: the token is wrong"),
        ("weak", "slack is retrying: no network"),
    ]


def test_a_running_bot_that_told_nothing_of_itself_for_long_is_told_of(clinic: CommandLine) -> None:
    run_bot(clinic, at=(datetime.now(UTC) - timedelta(minutes=5)).isoformat(), channels=[])
    area, severity, what, fix = only(clinic)
    assert (area, severity) == ("channels", "broken")
    assert what.startswith("the running bot has told nothing of itself for 30")
    assert f"restart process {os.getpid()}" in fix


def test_a_channel_that_hears_nobody_is_told(clinic: CommandLine, configured: Callable[[str], Path]) -> None:
    clinic.environ |= {"ECHO_BOT_CHANNELS__TELEGRAM__TOKEN": TOKEN}
    configured("channels: {telegram: {enabled: true}}\n")
    _, _, what, fix = only(clinic)
    assert what == "telegram is on, and nobody may chat"
    assert " pair`" in fix


@pytest.mark.parametrize(
    ("url", "severity"),
    [("https://192.168.1.7/telegram", "weak"), ("https://bot.example.com/telegram", "note")],
    ids=["a private address cannot be called", "a public one has to arrive"],
)
def test_webhook_addresses(
    clinic: CommandLine, configured: Callable[[str], Path], url: str, severity: str
) -> None:
    clinic.environ |= {
        "ECHO_BOT_CHANNELS__TELEGRAM__TOKEN": TOKEN,
        "ECHO_BOT_CHANNELS__TELEGRAM__WEBHOOK_SECRET": "a-secret-of-this-test-1234567890",
    }
    configured(f"channels: {{telegram: {{enabled: true, allow_from: ['7'], webhook_url: '{url}'}}}}\n")
    (found,) = (row for row in rows(clinic) if url in row["what"])
    assert found["severity"] == severity


@pytest.mark.parametrize(
    ("host", "private"),
    [
        ("10.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("box", True),
        ("8.8.8.8", False),
        ("a.example", False),
    ],
)
def test_addresses_that_nobody_outside_reaches(host: str, private: bool) -> None:
    assert is_private(host) is private


def test_with_a_model_its_tools_are_ready(clinic: CommandLine, configured: Callable[[str], Path]) -> None:
    configured("models:\n  default: openai:gpt-5\n")
    assert not [row for row in rows(clinic) if "vision_analyze" in str(row) or "delegate_task" in str(row)]


def test_an_unready_tool_weighs_more_where_it_was_switched_on(
    clinic: CommandLine, configured: Callable[[str], Path], tmp_path: Path
) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "from echo_bot.tools import Tool, ToolResult\n\nclass Own(Tool):\n    name = 'tide'\n\n"
        "    def readiness_detail(self):\n        return False, 'no key: set tide.key'\n\n"
        "    async def execute(self, params, ctx=None):\n        return ToolResult(True)\n"
    )
    configured(f"tools: {{paths: [{file}]}}\n")
    assert only(clinic) == ("tools", "weak", "not ready: tide", "no key: set tide.key")


async def test_online_asks_the_platforms(clinic: CommandLine, configured: Callable[[str], Path]) -> None:
    import asyncio

    async with TelegramEmulator() as telegram:
        configured(
            f"channels: {{telegram: {{enabled: true, allow_from: ['7'], api_base: '{telegram.url}'}}}}\n"
        )
        clinic.environ["ECHO_BOT_CHANNELS__TELEGRAM__TOKEN"] = telegram.token
        found = await asyncio.to_thread(rows, clinic)
        assert telegram.calls == []
        found = await asyncio.to_thread(rows, clinic, "--online")
        assert any("Telegram knows this bot as @" in row["what"] for row in found)
        clinic.environ["ECHO_BOT_CHANNELS__TELEGRAM__TOKEN"] = TOKEN
        found = await asyncio.to_thread(rows, clinic, "--online")
        (refused,) = (row for row in found if row["severity"] == "broken")
        assert TOKEN not in str(refused)
