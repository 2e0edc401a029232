"""Bad input: one clear line and exit code 2, or that part alone fails and the rest runs; nothing is lost."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from echo_bot.testing.model_server import ModelServer
from echo_bot.testing.scripted_model import CallTool, Fail, Say
from echo_bot.testing.telegram import TelegramEmulator

pytestmark = pytest.mark.e2e

StartBot = Callable[..., Awaitable[Any]]
Verb = Callable[..., Awaitable[Any]]


def telegram_section(telegram: TelegramEmulator) -> dict[str, object]:
    return {"enabled": True, "allow_from": ["42"], "api_base": telegram.url}


REFUSED = {
    "a list that is not closed": ("tools:\n  deny: [exec\n", ":3: not valid YAML"),
    "an unknown key": ("language: en\ntools:\n  profil: full\n", ":3: tools.profil: there is no such key"),
    "the nearest name is told": ("tools:\n  profil: full\n", "did you mean profile"),
    "an unknown profile": ("tools:\n  profile: codng\n", ":2: tools.profile: "),
    "a wrong type": ("agent:\n  max_iterations: many\n", ":2: agent.max_iterations: must be a whole"),
    "everybody an admin": (
        'permissions:\n  admin_users: ["*"]\n',
        ':2: permissions.admin_users: "*" would name',
    ),
    "the whole file system": ("workspace: /\n", ":1: workspace: the whole file system"),
    "a later feature": (
        "observability:\n  otel_endpoint: http://h\n",
        ":2: observability.otel_endpoint: is not available",
    ),
    "an inspection of nothing": ("inspection:\n  enabled: true\n", "inspection.file: name the text"),
    "a system prompt that is not there": (
        "models:\n  system_prompt_file: nope.md\n",
        "nope.md: models.system_prompt_file: the file cannot be read",
    ),
    "a credential and no key": (
        "models:\n  api_key: sk-0123456789\n",
        'export ECHO_BOT_CREDENTIAL_KEY="$(',
    ),
}


@pytest.mark.parametrize(("text", "says"), REFUSED.values(), ids=REFUSED)
async def test_a_start_is_refused_in_one_line_for(tmp_path: Path, verb: Verb, text: str, says: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    # The variable would win over the key that is tried here.
    variables = {"ECHO_BOT_WORKSPACE": "/"} if text.startswith("workspace") else {}
    said = await verb("run", "--headless", **variables)
    assert (said.code, said.out) == (2, "")
    (line,) = said.err.splitlines()
    assert says in line or (variables and "the whole file system" in line)
    assert "sk-0123456789" not in line
    assert file.read_text() == text


async def test_a_named_file_that_is_not_there_is_refused(tmp_path: Path, verb: Verb) -> None:
    said = await verb("run", "--headless", "-c", str(tmp_path / "none.yaml"))
    expected = f"echo-bot: {tmp_path}/none.yaml: cannot be read: No such file or directory\n"
    assert (said.code, said.out, said.err) == (2, "", expected)


async def test_a_data_folder_that_cannot_be_made_is_refused(tmp_path: Path, verb: Verb) -> None:
    (tmp_path / "file").write_text("mine")
    said = await verb("run", "--headless", ECHO_BOT_DATA_DIR=str(tmp_path / "file" / "state"))
    assert (said.code, said.out) == (2, "")
    (line,) = said.err.splitlines()
    assert "set data_dir to another" in line
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_data_folder_that_may_not_be_written_is_refused(tmp_path: Path, verb: Verb) -> None:
    (tmp_path / "state").mkdir(mode=0o500)
    said = await verb("run", "--headless")
    assert (said.code, len(said.err.splitlines())) == (2, 1)
    assert "set data_dir to another" in said.err


def newer(path: Path) -> None:
    """A database as a later version leaves it."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


def damaged(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[200:6000] = b"\xff" * 5800
    path.write_bytes(bytes(content))


def foreign(path: Path) -> None:
    path.write_text("not a database")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [(newer, "update Echo Bot"), (damaged, "left as it is"), (foreign, "left as it is")],
    ids=["a newer schema", "damaged pages", "no database at all"],
)
async def test_a_database_that_cannot_be_used_stays_as_it_is(
    tmp_path: Path, start_bot: StartBot, verb: Verb, spoil: Callable[[Path], None], says: str
) -> None:
    bot = await start_bot({})
    assert await bot.stop() == 0
    database = tmp_path / "state" / "echo-bot.db"
    spoil(database)
    before = database.read_bytes()
    for words in (("run", "--headless"), ("status",), ("pair",)):
        said = await verb(*words)
        assert (said.code, said.out) == (2, ""), words
        (line,) = said.err.splitlines()
        assert says in line, words
    assert database.read_bytes() == before


async def test_a_second_bot_on_the_same_folder_is_refused_and_the_first_runs_on(
    start_bot: StartBot, verb: Verb
) -> None:
    bot = await start_bot({})
    said = await verb("run", "--headless")
    assert (said.code, said.out) == (2, "")
    assert f"already runs on this data folder (process {bot.process.pid})" in said.err
    assert json.loads((await verb("status", "--json")).out)["pid"] == bot.process.pid


async def channels(verb: Verb) -> dict[str, dict[str, str]]:
    found = json.loads((await verb("status", "--json")).out)
    return {each["name"]: each for each in found["channels"]}


async def test_a_wrong_telegram_token_stops_that_channel_alone(start_bot: StartBot, verb: Verb) -> None:
    async with TelegramEmulator() as telegram:
        wrong = "123456:AAwrong-wrong-wrong-wrong-wrong-wron"
        config = {"channels": {"telegram": {"enabled": True, "api_base": telegram.url}}}
        bot = await start_bot(config, ECHO_BOT_CHANNELS__TELEGRAM__TOKEN=wrong)
        assert bot.url
        while (found := await channels(verb))["telegram"]["state"] != "failed":
            pass
        assert "token" in found["telegram"]["error"]
        assert found["web"]["state"] == "connected"
        assert wrong not in bot.log + json.dumps(found)


async def test_no_telegram_token_at_all_is_named_too(start_bot: StartBot, verb: Verb) -> None:
    bot = await start_bot({"channels": {"telegram": {"enabled": True}}})
    assert bot.url
    while (found := await channels(verb))["telegram"]["state"] != "failed":
        pass
    assert "token" in found["telegram"]["error"]


async def test_a_taken_port_leaves_telegram_running_and_alone_refuses(
    start_bot: StartBot, verb: Verb
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = {"ECHO_BOT_GATEWAY__PORT": str(taken.getsockname()[1])}
        said = await verb("run", "--headless", **port)
        assert (said.code, said.out) == (2, "")
        assert "is taken by another program" in said.err.splitlines()[-1]
        async with TelegramEmulator() as telegram:
            config = {"channels": {"telegram": telegram_section(telegram)}}
            bot = await start_bot(config, ECHO_BOT_CHANNELS__TELEGRAM__TOKEN=telegram.token, **port)
            assert bot.url == ""
            ada = telegram.user(42, "Ada").chat()
            ada.say("/tools")
            await ada.wait_for_text("Available:")
            page = (await channels(verb))["web"]
            assert (page["state"], "is taken" in page["error"]) == ("failed", True)
            assert (await verb("login")).code == 3


async def test_a_model_that_fails_is_told_in_the_chat_and_the_bot_goes_on(start_bot: StartBot) -> None:
    requests_of_one_try = 3
    failures = [Fail(RuntimeError("out of order"))] * requests_of_one_try
    server = ModelServer([*failures, CallTool("no_such_tool", {"x": 1}), Say("Back.")])
    async with TelegramEmulator() as telegram, server.serving():
        config = {
            "models": {"default": "openai:scripted", "base_url": server.base_url},
            "channels": {"telegram": telegram_section(telegram), "web": {"enabled": False}},
        }
        await start_bot(config, ECHO_BOT_CHANNELS__TELEGRAM__TOKEN=telegram.token)
        ada = telegram.user(42, "Ada").chat()
        ada.say("hello")
        failed = await ada.wait_for_text("model", timeout=60)
        assert "Traceback" not in failed.text
        ada.say("/tool list_dir path=.")
        await ada.wait_for_text("empty")
        ada.say("hello again")
        await ada.wait_for_text("Back.", timeout=60)
        assert "no_such_tool" in str(server.requests[-1]["messages"])


async def test_a_model_that_cannot_be_reached_is_told_too(start_bot: StartBot) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        closed = listener.getsockname()[1]
    async with TelegramEmulator() as telegram:
        config = {
            "models": {"default": "openai:scripted", "base_url": f"http://127.0.0.1:{closed}/v1"},
            "channels": {"telegram": telegram_section(telegram), "web": {"enabled": False}},
        }
        await start_bot(config, ECHO_BOT_CHANNELS__TELEGRAM__TOKEN=telegram.token)
        ada = telegram.user(42, "Ada").chat()
        ada.say("hello")
        failed = await ada.wait_for_text("model", timeout=60)
        assert "Traceback" not in failed.text


async def test_a_model_whose_package_is_missing_is_a_warning_that_names_the_extra(
    tmp_path: Path, start_bot: StartBot, verb: Verb
) -> None:
    broken = tmp_path / "without_extra"
    broken.mkdir()
    (broken / "anthropic.py").write_text("raise ImportError('No module named anthropic')\n")
    path = os.pathsep.join([str(broken), *filter(None, [os.environ.get("PYTHONPATH")])])
    await start_bot(
        {"models": {"default": "anthropic:claude"}}, PYTHONPATH=path, ECHO_BOT_MODELS__API_KEY="k"
    )
    found = json.loads((await verb("status", "--json")).out)
    assert found["model"] == ""
    (warning,) = [each for each in found["warnings"] if "anthropic" in each]
    assert "echo-bot[anthropic]" in warning


OWN = """
from echo_bot.tools import Tool, ToolResult

class Own(Tool):
    name = "{name}"
    risk_level = "read_only"
    parameters = {{"type": "object"}}

    async def execute(self, params, ctx=None):
        {body}
"""


async def test_own_tools_that_are_broken_stop_nothing_else(
    tmp_path: Path, start_bot: StartBot, verb: Verb
) -> None:
    files = {
        "raises_at_import.py": "import a_package_that_nobody_has\n",
        "taken.py": OWN.format(name="read_file", body="return ToolResult(success=True)"),
        "raises_at_call.py": OWN.format(name="weather", body="raise KeyError('sky')"),
        "good.py": OWN.format(name="tide", body="return ToolResult(success=True, output='high')"),
    }
    paths = []
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        paths.append(str(tmp_path / name))
    async with TelegramEmulator() as telegram:
        config = {
            "tools": {"paths": [*paths, str(tmp_path / "missing.py")]},
            "channels": {
                "telegram": telegram_section(telegram),
                "web": {"enabled": False},
            },
        }
        await start_bot(config, ECHO_BOT_CHANNELS__TELEGRAM__TOKEN=telegram.token)
        ada = telegram.user(42, "Ada").chat()
        ada.say("/tool weather")
        await ada.wait_for_text("KeyError")
        ada.say("/tool tide")
        await ada.wait_for_text("high")
        found = json.loads((await verb("status", "--json")).out)
        states = {each["name"]: each["state"] for each in found["tools"]}
        assert (states["weather"], states["tide"], states["read_file"]) == ("available",) * 3
        for name, why in (
            ("raises_at_import.py", "a_package_that_nobody_has"),
            ("taken.py", "cannot be named 'read_file'"),
            ("missing.py", "not a Python file"),
        ):
            assert any(name in each and why in each for each in found["warnings"]), name


async def test_a_credential_in_the_file_with_a_key_starts_with_a_line_that_says_how_to_move_it(
    start_bot: StartBot, verb: Verb
) -> None:
    key = (await verb("credentials", "key")).out.strip()
    await start_bot({"models": {"api_key": "sk-0123456789"}}, ECHO_AGENT_CREDENTIAL_KEY=key)
    warnings = json.loads((await verb("status", "--json")).out)["warnings"]
    (warning,) = (each for each in warnings if "models.api_key" in each)
    assert " doctor --move-credentials`" in warning


async def test_stored_credentials_without_their_key_refuse(start_bot: StartBot, verb: Verb) -> None:
    key = (await verb("credentials", "key")).out.strip()
    stored = await verb("credentials", "set", "models.api_key", stdin="k", ECHO_BOT_CREDENTIAL_KEY=key)
    assert stored.code == 0
    for variables in ({}, {"ECHO_BOT_CREDENTIAL_KEY": "my pass phrase"}):
        said = await verb("run", "--headless", **variables)
        assert (said.code, said.out) == (2, "")
        assert " credentials key" in said.err.splitlines()[-1]
        assert "pass phrase" not in said.err
