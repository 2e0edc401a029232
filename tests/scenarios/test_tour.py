"""One conversation that uses every tool there is, on the real core and the real Telegram adapter.

Its transcript is docs/tour.md. `ECHO_BOT_WRITE_TOUR=1 pytest tests/scenarios/test_tour.py` writes it anew.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart, UserPromptPart
from ruamel.yaml import YAML

from channels.telegram.adapter import TelegramChannel
from echo_bot.channel import ChannelSettings
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.skills.catalog import PACKAGED
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.scripted_model import CallTool, Decide, Say, ScriptedModel
from echo_bot.testing.site import Site, guarded, json_reply, reply, serving
from echo_bot.testing.telegram import Conversation, Message, TelegramEmulator
from echo_bot.testing.waiting import eventually

DOCUMENT = Path(__file__).parents[2] / "docs" / "tour.md"
_PATIENCE = 30.0
SENDING = ("message", "notify", "image_generate", "text_to_speech", "spawn_task")
HOME = "/home/ada/lisbon"
"""Where the workspace is in the document."""

HEAD = """# A tour of the tools

A weekend in Lisbon, planned in Telegram: one conversation in which the assistant uses each of its tools.
This page is written by a test, which holds this conversation with the real bot and a model that follows a
script. Cards are shown as they came; **▸** marks the button that was pressed. Times, ids and folders were
replaced by the same ones everywhere.

`/run` and `/tool` do the same without a model.
"""


@dataclass(frozen=True, slots=True)
class Stop:
    """One tool of the tour: what is asked, the call, the closing answer, and the button that is pressed.

    `workers` are the goals of the workers that the call starts, each with what its worker answers. `shows`
    is in a message that comes by itself, after the answer.
    """

    ask: str
    tool: str
    args: Mapping[str, object]
    answer: str
    press: str = ""
    shows: str = ""
    workers: Mapping[str, str] = field(default_factory=dict)


TOUR = YAML(typ="safe").load(Path(__file__).parents[1] / "data" / "tour.yaml")
STOPS = tuple(Stop(**each) for each in TOUR["stops"])
WORKERS = {goal: answer for stop in STOPS for goal, answer in stop.workers.items()}

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
SOUND = b"\xff\xfb\x90\x64" + bytes(400)
PAGE = (
    "<html><head><title>Tram 28</title></head><body><article><h1>Tram 28</h1><p>The tram runs every ten "
    "minutes from early in the morning until late at night, on Sundays and holidays too. It begins at Martim "
    "Moniz and climbs through Graça and Alfama.</p></article></body></html>"
)

CONFIG: dict[str, object] = {
    "tools.exec.host": "local",
    "execution.network_policy": "allow",
    "tools.web.enabled": True,
    "tools.web.search_provider": "searxng",
    "tools.vision.model": "sees",
    "tools.image_gen.model": "draws",
    "tools.tts.model": "speaks",
    "knowledge.paths": ["notes"],
    "permissions.admin_users": ["telegram:42"],
    "channels.telegram.allow_from": ["42"],
    "channels.stream.enabled": False,
    "language": "en",
    "timezone": "UTC",
}


def answer_of(site: Site, head: str) -> bytes:
    """The world outside on one loopback port: a search, a page, and services that see, draw and speak."""
    request = head.split(" ", 2)[1]
    if request.startswith("/tram-28"):
        return reply(PAGE, "content-type: text/html; charset=utf-8")
    if request.endswith("/images/generations"):
        return json_reply({"data": [{"b64_json": base64.b64encode(PNG).decode()}]})
    if request.endswith("/audio/speech"):
        return reply(SOUND, "content-type: audio/mpeg")
    if request.endswith("/chat/completions"):
        return json_reply({"choices": [{"message": {"content": "Blue tiles with a ship."}}]})
    found = {
        "title": "Tram 28",
        "url": site.url("/tram-28", "trams.example"),
        "content": "Timetable and stops",
    }
    return json_reply({"results": [found]})


def results(messages: Sequence[ModelMessage]) -> list[str]:
    """What the tools returned, oldest first."""
    parts = [part for message in messages if isinstance(message, ModelRequest) for part in message.parts]
    return [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]


class TourModel(ScriptedModel):
    """Workers answer beside the script, whenever they are asked."""

    def _next(self, messages: list[ModelMessage]) -> Say | CallTool:
        newest = messages[-1].parts[-1] if isinstance(messages[-1], ModelRequest) else None
        goal = str(newest.content).partition("\n")[0] if isinstance(newest, UserPromptPart) else ""
        return Say(WORKERS[goal]) if goal in WORKERS else super()._next(messages)


def script(workspace: Path) -> ScriptedModel:
    steps: list[Decide | Say] = []
    for stop in STOPS:
        steps += [_call(stop, workspace), Say(stop.answer)]
    return TourModel(steps)


def _call(stop: Stop, workspace: Path) -> Decide:
    def choose(messages: Sequence[ModelMessage]) -> CallTool:
        newest = "\n".join(reversed(results(messages)))
        kept, found = (re.search(p, newest) for p in (r"read_spill path=(\S+)", r"(http://\S+/tram-28)"))
        names = {"workspace": str(workspace), "kept": kept and kept[1], "found": found and found[1]}
        args = re.sub(r"<(\w+)>", lambda name: names[name[1]] or "", json.dumps(stop.args))
        return CallTool(stop.tool, json.loads(args))

    return Decide(choose)


def called(messages: Sequence[ModelMessage]) -> object:
    """The arguments of the newest call."""
    parts = [part for message in messages for part in message.parts if part.part_kind == "tool-call"]
    args = parts[-1].args
    return json.loads(args) if isinstance(args, str) else dict(args or {})


class Guide:
    """Holds the conversation and writes down what each side saw."""

    def __init__(self, chat: Conversation, model: ScriptedModel, bot: RunningBot) -> None:
        self.chat, self.model, self.bot = chat, model, bot
        self.lines = [HEAD]

    async def visit(self, stop: Stop) -> None:
        before = len(self.chat.from_bot)
        self.chat.say(stop.ask)
        self._write(f"## {stop.tool}", f"**You:** {stop.ask}")
        card = await self._decide(stop) if stop.press else None
        await self.chat.wait_for_text(stop.answer, timeout=_PATIENCE)
        if stop.shows:
            await self.chat.wait_for_text(stop.shows, timeout=_PATIENCE)
        if stop.tool == "spawn_task":
            for answer in stop.workers.values():
                await self.chat.wait_for_text(answer, timeout=_PATIENCE)
        args = json.dumps(called(self.model.seen[-1]), ensure_ascii=False, indent=2)
        self._write(f"The assistant calls `{stop.tool}`:", f"```json\n{self._cleaned(args)}\n```")
        if card is not None:
            self._write(card)
        result = results(self.model.seen[-1])[-1]
        self._write("It gets back:", f"```text\n{self._cleaned(_cut(result))}\n```")
        for message in self._sent_by_tools(before, stop):
            self._write(f"**Echo Bot:** {self._cleaned(_shown(message))}")
        self._write(f"**Assistant:** {stop.answer}")

    async def _decide(self, stop: Stop) -> str:
        message = await self.chat.wait_for_button(stop.press, timeout=_PATIENCE)
        buttons = [label for row in message.labels for label in row]
        shown = " ".join(f"**▸ {each}**" if each == stop.press else f"[{each}]" for each in buttons)
        quoted = "\n".join(f"> {line}".rstrip() for line in self._cleaned(message.text).splitlines())
        self.chat.press(stop.press, message)
        await eventually(lambda: message.labels == [], "the card closed")
        return f"{quoted}\n>\n> {shown}"

    def _sent_by_tools(self, before: int, stop: Stop) -> list[Message]:
        if stop.shows:
            return [message for message in self.chat.from_bot[before:] if stop.shows in message.text]
        if stop.tool not in SENDING:
            return []
        sent = (message for message in self.chat.from_bot[before:] if message.text != stop.answer)
        return [message for message in sent if "Approved once by" not in message.text]

    def _cleaned(self, text: str) -> str:
        """Without what differs from run to run."""
        text = text.replace(str(self.bot.workspace), HOME)
        text = text.replace(str(PACKAGED), "/opt/echo-bot/skills")
        for pattern, shown in (
            (r"\b(\w+)-[0-9a-f]{12}\.txt", r"\1-0a1b2c3d4e5f.txt"),
            (r"\d\d\d\d-\d\d-\d\d", "2026-05-04"),
            (r"trams\.example:\d+", "trams.example"),
            (r"\b(image|speech)-[0-9a-f]{16}", r"\1-0a1b2c3d"),
            (r"\b[0-9a-f]{32,}\b", "0a1b2c3d…"),
            (r"python3\.\d+", "python3"),
            (r"\d\d:\d\d(:\d\d)?( UTC)?", "14:05"),
            (r"\bId: \w{6}\b", "Id: k7m2qx"),
            (r"\b([wt])[0-9a-f]{8}\b", r"\g<1>0a1b2c3d"),
            (r"\bWorker [0-9a-f]{8}\b", "Worker 0a1b2c3d"),
            (r"\([0-9a-f]{8}\)", "(0a1b2c3d)"),
            (r"(?m)[ \t]+$", ""),
        ):
            text = re.sub(pattern, shown, text)
        return text

    def _write(self, *paragraphs: str) -> None:
        self.lines.extend(paragraphs)

    @property
    def transcript(self) -> str:
        return "\n\n".join(line.strip() for line in self.lines) + "\n"


def _cut(text: str, most: int = 18) -> str:
    lines = [line if len(line) <= 160 else f"{line[:160]} …" for line in text.splitlines()]
    if len(lines) <= most:
        return "\n".join(lines)
    notice = [line for line in lines[5:-4] if line.startswith("[…")]
    return "\n".join((*lines[:5], "…", *notice, *(["…"] if notice else []), *lines[-4:]))


def _shown(message: Message) -> str:
    files = [each.get("file_name", kind) for kind, each in message.media.items() if isinstance(each, dict)]
    kinds = [kind for kind, each in message.media.items() if isinstance(each, list)]
    return " ".join([message.text, *(f"*({name})*" for name in (*files, *kinds))]).strip()


async def test_the_tour_is_what_the_document_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("echo_bot.app.network_tools.GuardedClients", lambda rules: guarded(rules=rules))
    async with (
        TelegramEmulator() as telegram,
        serving(lambda head, body: answer_of(outside, head)) as outside,
    ):
        model = script(tmp_path / "workspace")
        settings = ChannelSettings(account="", api_base=telegram.url, secrets={"token": telegram.token})
        keys = CONFIG | {"channels.telegram.api_base": telegram.url}
        keys["tools.web.search_api_base"] = outside.base.removesuffix("/v1")
        keys |= {f"tools.{tool}.api_base": outside.base for tool in ("vision", "image_gen", "tts")}
        async with running_bot(
            tmp_path, keys, model=model.model, channels=[TelegramChannel(settings)]
        ) as bot:
            for name, content in TOUR["files"].items():
                (bot.workspace / name).parent.mkdir(exist_ok=True, parents=True)
                (bot.workspace / name).write_text(content)
            (bot.workspace / "tiles.png").write_bytes(PNG)
            guide = Guide(telegram.user(42, "Ada", "ada").chat(), model, bot)
            for stop in STOPS:
                await guide.visit(stop)
            there = {name for name in bot.parts.overview.available_tools() if name in CATALOGUE}
    if os.environ.get("ECHO_BOT_WRITE_TOUR"):
        DOCUMENT.write_text(guide.transcript, encoding="utf-8")
    assert {stop.tool for stop in STOPS} == there, "the tour leaves a tool out"
    assert guide.transcript == DOCUMENT.read_text(encoding="utf-8")
