"""One choke point: chats, cards, logs, audit, failures and tool results all pass the same mask."""

from __future__ import annotations

import base64
import io
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import structlog
from pydantic_ai.exceptions import ModelHTTPError

from echo_bot.app.logs import configure_logs
from echo_bot.events import Address
from echo_bot.policy.guards.secrets import MASK, SecretMask
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import CallTool, Fail, Say, ScriptedModel

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

SECRET = "op3rator/s+value=of the start"
FORMS = {
    "as it is": SECRET,
    "percent-encoded": quote(SECRET, safe=""),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64 inside a longer text": base64.b64encode(f"user:{SECRET}!".encode()).decode(),
    "JSON": json.dumps({"a": SECRET})[7:-2],
}
PIECES = (
    SECRET,
    quote(SECRET, safe=""),
    *(base64.b64encode(b"\0" * i + SECRET.encode()).decode()[i + 2 : -4] for i in range(3)),
)
"""What must be found nowhere: the value, and what of its encodings stays the same wherever it stands."""


@pytest.fixture
def knowing(local: Config) -> Config:
    return local | {"models.api_key": SECRET, "credentials.require_encryption": False}


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Where the log lines of a test go; every logger is put back afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    levels = {each: each.level for each in _loggers()}
    yield io.StringIO()
    root.handlers[:] = handlers
    root.setLevel(level)
    for each in _loggers():
        each.setLevel(levels.get(each, logging.NOTSET))
    structlog.reset_defaults()


def _loggers() -> list[logging.Logger]:
    known = logging.Logger.manager.loggerDict.values()
    return [each for each in known if isinstance(each, logging.Logger)]


def assert_clean(text: str, where: str) -> None:
    for piece in PIECES:
        assert piece not in text, f"{where} shows the secret"


async def everything_shown(bot: RunningBot) -> dict[str, str]:
    shown = [version for message in bot.channel.messages for version in message.versions]
    return {
        "the chat": str(shown),
        "the outbox": str(await bot.store.outbox.list("sent", 50)),
        "the transcript": str(await bot.store.sessions.transcript(Address("telegram", "1"), 50)),
        "the audit": str(await bot.store.audit.tail(200)),
    }


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
async def test_a_command_its_card_its_output_and_its_audit(
    tmp_path: Path, knowing: Config, is_open: Is, says: Says, form: str
) -> None:
    async with running_bot(tmp_path, knowing) as bot:
        (bot.workspace / "leak.txt").write_text(form)
        await bot.channel.say(f"/run cat leak.txt; echo 'and {form}'")
        card = await bot.channel.wait_for(is_open)
        assert MASK in card.body
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("and "))
        for where, text in (await everything_shown(bot)).items():
            assert_clean(text, where)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
async def test_a_tool_result_and_an_answer_of_the_model(
    tmp_path: Path, knowing: Config, says: Says, form: str
) -> None:
    script = ScriptedModel([CallTool("read_file", {"path": "leak.txt"}), Say(f"It says {form} there.")])
    async with running_bot(tmp_path, knowing, model=script.model) as bot:
        (bot.workspace / "leak.txt").write_text(f"before {form} after\n")
        await bot.channel.say(f"is it {form}?")
        await bot.channel.wait_for(says("It says"))
        assert_clean(str(script.seen), "the model's input")
        for where, text in (await everything_shown(bot)).items():
            assert_clean(text, where)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
async def test_a_failure_in_the_chat_and_in_the_log(
    tmp_path: Path, knowing: Config, says: Says, stream: io.StringIO, form: str
) -> None:
    failing = Fail(ModelHTTPError(401, "m", {"error": f"bad key {form}"}))
    script = ScriptedModel([failing, Say("Now it works.")])
    async with running_bot(tmp_path, knowing, model=script.model) as bot:
        configure_logs("INFO", "json", SecretMask([SECRET]).mask, stream)
        await bot.channel.say("hello")
        await bot.channel.wait_for(lambda message: message.text is not None)
        await bot.channel.say("again")
        await bot.channel.wait_for(says("Now it works."))
        try:
            raise ValueError(f"told {form}")
        except ValueError:
            logging.getLogger("a.library").exception("could not use %s", form)
            structlog.get_logger().warning("event", url=f"https://u:{form}@h.example/", nested={"a": [form]})
        assert "could not use" in stream.getvalue()
        assert_clean(stream.getvalue(), "the log")
        for where, text in (await everything_shown(bot)).items():
            assert_clean(text, where)
