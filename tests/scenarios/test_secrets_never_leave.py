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
from echo_bot.testing.api_bot import api_bot
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import CallTool, Fail, Say, ScriptedModel
from echo_bot.testing.site import guarded, json_reply, reply, serving

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


CALLS: dict[str, tuple[str, dict[str, object]]] = {
    "read_file of a file that holds it": ("read_file", {"path": "leak.txt"}),
    "list_dir of a folder named by it": ("list_dir", {"path": SECRET}),
    "search_files for it": ("search_files", {"pattern": "op3rator"}),
    "write_file with it": ("write_file", {"path": "b.txt", "content": SECRET}),
    "edit_file with it": ("edit_file", {"path": "leak.txt", "old_string": "before", "new_string": SECRET}),
    "patch of a line that holds it": ("patch", {"patch": f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{SECRET}\n+y\n"}),
    "todo with it": ("todo", {"action": "add", "items": [SECRET]}),
    "message with it": ("message", {"text": f"it is {SECRET}"}),
    "notify with it": ("notify", {"message": f"it is {SECRET}"}),
    "message to a target named by it": ("message", {"text": "x", "target": SECRET}),
    "exec that prints it at length": ("exec", {"command": "for n in $(seq 900); do cat leak.txt; done"}),
    "exec that fails with it": ("exec", {"command": "cat leak.txt >&2; exit 3"}),
    "execute_code that prints it": (
        "execute_code",
        {"language": "python", "code": "print(open('leak.txt').read())"},
    ),
    "process that prints it": ("process", {"action": "start", "command": "cat leak.txt"}),
    "memory of it": ("memory", {"action": "add", "content": f"the door opens with {SECRET}"}),
    "session_search for it": ("session_search", {"query": SECRET}),
    "knowledge_index of a file that holds it": ("knowledge_index", {"action": "rebuild"}),
    "knowledge_search for it": ("knowledge_search", {"query": "before after"}),
    "web_search for it, found": ("web_search", {"query": SECRET}),
    "web_fetch of a page that holds it": ("web_fetch", {"url": "http://site.example:{port}/page"}),
    "web_fetch with it in the address": ("web_fetch", {"url": "http://site.example:{port}/?key=" + SECRET}),
    "vision_analyze that reads it": ("vision_analyze", {"image": "a.png", "prompt": SECRET}),
    "image_generate that is refused with it": ("image_generate", {"prompt": SECRET}),
    "text_to_speech that is refused with it": ("text_to_speech", {"text": SECRET}),
    "skill_view of a skill that holds it": ("skill_view", {"name": "leaky"}),
    "skill_run that prints it": ("skill_run", {"name": "leaky", "script": "tell.py", "args": [SECRET]}),
    "skill_manage with it": ("skill_manage", {"action": "disable", "name": SECRET}),
    "skill_install from a place named by it": ("skill_install", {"source": "local", "location": SECRET}),
    "an unknown parameter with it": ("read_file", {"path": "a", SECRET: 1}),
    "an unknown tool named by it": (SECRET.replace(" ", "_"), {}),
}
"""A call for each tool, with the secret in what goes in or in what comes back."""


def outside(head: str, body: bytes) -> bytes:
    """Pages and services that all repeat the secret; the two that make files refuse with it."""
    if "/v1/images" in head or "/v1/audio" in head:
        return json_reply({"error": {"message": f"bad key {SECRET}"}}, status="401 No")
    if "/v1/chat" in head:
        return json_reply({"choices": [{"message": {"content": f"I read {SECRET} there."}}]})
    if "format=json" in head:
        found = {"title": SECRET, "url": "http://site.example/", "content": f"it is {SECRET}"}
        return json_reply({"results": [found]})
    return reply(f"<html><body><p>The page says {SECRET} to everybody.</p></body></html>", HTML)


HTML = "content-type: text/html; charset=utf-8"


def furnish(folder: Path) -> dict[str, object]:
    """What the calls find on the disk, and where it is configured."""
    workspace, skill = folder / "workspace", folder / "skills" / "leaky"
    (workspace / "library").mkdir(parents=True)
    (workspace / "leak.txt").write_text(f"before {SECRET} after\n")
    (workspace / "library" / "leak.md").write_text(f"# Doors\n\nbefore {SECRET} after\n")
    (workspace / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(60))
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text(f"---\nname: leaky\ndescription: Tells.\n---\nSay {SECRET}.\n")
    (skill / "scripts" / "tell.py").write_text(f"import sys\nprint('it is', {SECRET!r}, sys.argv[1:])\n")
    return {
        "knowledge.paths": ["library"],
        "skills.paths": [str(folder / "skills")],
        "permissions.approval.mode": "off",
        "execution.network_policy": "allow",
        "tools.web.enabled": True,
        "tools.web.search_provider": "searxng",
    }


def in_spill(state: Path) -> str:
    """Every spilled result as it lies on the disk, with its name."""
    files = (path for path in (state / "spill").rglob("*") if path.is_file())
    return "".join(f"{path.name}\n{path.read_text()}" for path in files)


@pytest.mark.parametrize(("tool", "args"), CALLS.values(), ids=CALLS)
async def test_every_tool_with_the_secret_in_its_arguments_and_results(
    tmp_path: Path,
    knowing: Config,
    stream: io.StringIO,
    is_open: Is,
    monkeypatch: pytest.MonkeyPatch,
    tool: str,
    args: dict[str, object],
) -> None:
    monkeypatch.setattr("echo_bot.app.network_tools.GuardedClients", lambda rules: guarded(rules=rules))
    async with serving(outside) as site:
        services = {f"tools.{name}.api_base": site.base for name in ("vision", "image_gen", "tts")}
        places = {"tools.vision.model": "sees", "tools.web.search_api_base": site.base.removesuffix("/v1")}
        known = json.loads(json.dumps(args).replace("{port}", str(site.port)))
        script = ScriptedModel([CallTool(tool, known), Say("That was it.")])
        config = knowing | furnish(tmp_path) | services | places
        async with running_bot(tmp_path, config, model=script.model) as bot:
            configure_logs("DEBUG", "json", SecretMask([SECRET]).mask, stream)
            await bot.channel.say("go")
            ended = [lambda m: m.text is not None and "That was it." in m.text.text, is_open]
            seen = await bot.channel.wait_for(lambda message: any(each(message) for each in ended))
            if is_open(seen):
                await bot.channel.press("Approve once")
                await bot.channel.wait_for(ended[0])
            shown = await everything_shown(bot)
            memories = [each.content for each in await bot.store.memories.list("person:telegram:1")]
    returned = str(script.seen[-1][-1])
    assert MASK in returned or tool not in SHOWS, "the tool did not get to see it"
    for where, text in shown.items():
        assert_clean(text, where)
    assert_clean(returned, "the result that the model got")
    assert_clean(stream.getvalue(), "the log")
    assert_clean(in_spill(tmp_path / "state"), "the spill")
    assert_clean(str(memories), "the memory")


SHOWS = frozenset(
    {"read_file", "exec", "execute_code", "web_search", "vision_analyze", "skill_view", "skill_run"}
)
"""Tools whose results above hold the secret for certain, so that its mask must be seen."""


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
async def test_the_http_api_shows_none(tmp_path: Path, knowing: Config, form: str) -> None:
    async with api_bot(tmp_path, knowing | {"permissions.approval.auto_approve": ["*"]}) as api:
        (api.bot.workspace / "leak.txt").write_text(form)
        for text in ("/tool read_file path=leak.txt", f"/tool todo action=add items={form}", f"/tool {form}"):
            answer = await api.ops.post("/messages", json={"text": text})
            assert answer.status_code in (200, 202), answer.text
            assert_clean(answer.text, "the answer")
        for path in (
            "/status",
            "/tools",
            "/approvals",
            "/grants",
            "/audit",
            "/messages/none",
            f"/{quote(form)}",
        ):
            assert_clean((await api.ops.get(path)).text, path)


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
