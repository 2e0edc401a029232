"""One conversation that uses every tool there is, on the real core and the real Telegram adapter.

Its transcript is docs/tour.md. `ECHO_BOT_WRITE_TOUR=1 pytest tests/scenarios/test_tour.py` writes it anew.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart

from channels.telegram.adapter import TelegramChannel
from echo_bot.channel import ChannelSettings
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.skills.catalog import PACKAGED
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.scripted_model import CallTool, Decide, Say, ScriptedModel
from echo_bot.testing.telegram import Conversation, Message, TelegramEmulator
from echo_bot.testing.waiting import eventually

DOCUMENT = Path(__file__).parents[2] / "docs" / "tour.md"
_PATIENCE = 30.0
HEAD = """# A tour of the tools

A weekend in Lisbon, planned in Telegram: one conversation in which the assistant uses each of its tools.
This page is written by a test, which holds this conversation with the real bot and a model that follows a
script. Cards are shown as they came; **▸** marks the button that was pressed.

`/run` and `/tool` do the same without a model.
"""

Args = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Stop:
    """One tool of the tour: what is asked, the call, the button that is pressed, and the closing answer."""

    ask: str
    tool: str
    args: Args | Callable[[Sequence[ModelMessage]], Args]
    answer: str
    press: str = ""
    config: Args = field(default_factory=dict)


def spilled(messages: Sequence[ModelMessage]) -> Args:
    """The name that the newest cut result was kept under."""
    kept = [found[1] for text in results(messages) if (found := re.search(r"read_spill path=(\S+)", text))]
    return {"path": kept[-1], "pattern": "^tram 28"}


STOPS: tuple[Stop, ...] = (
    Stop("What have we got so far?", "list_dir", {"path": "."}, "A budget and one page of notes."),
    Stop("Read me the notes.", "read_file", {"path": "notes/lisbon.md"}, "Three ideas, none of them booked."),
    Stop(
        "Where did I write about trams?",
        "search_files",
        {"pattern": "tram"},
        "In the notes, in line 3.",
    ),
    Stop(
        "Start a packing list.",
        "write_file",
        {"path": "packing.md", "content": "# Packing\n\n- passport\n- umbrella\n"},
        "It begins with passport and umbrella.",
    ),
    Stop(
        "No umbrella. A sun hat!",
        "edit_file",
        {"path": "packing.md", "old_string": "umbrella", "new_string": "sun hat"},
        "A sun hat it is.",
    ),
    Stop(
        "Add the camera to the list, and its film to the budget.",
        "patch",
        {
            "patch": "*** Begin Patch\n*** Update File: packing.md\n@@\n - sun hat\n+- camera\n"
            "*** Update File: budget.csv\n@@\n tram,18\n+film,24\n*** End Patch\n"
        },
        "Both files are changed.",
    ),
    Stop(
        "What is still to be done?",
        "todo",
        {"action": "set", "items": ["book the train", "find a room", "water the plants"]},
        "Three things are on the list.",
    ),
    Stop(
        "Book the train.",
        "clarify",
        {"question": "Which train do you want?", "options": ["Friday evening", "Saturday morning"]},
        "Then Friday evening.",
        press="Friday evening",
    ),
    Stop(
        "What does it all cost?",
        "exec",
        {"command": "awk -F, 'NR > 1 { sum += $2 } END { print sum }' budget.csv"},
        "362 euros.",
        press="Approve once",
    ),
    Stop(
        "And for each of the two of us?",
        "execute_code",
        {"language": "python", "code": "print(362 / 2)"},
        "181 euros each.",
        press="Approve once",
    ),
    Stop(
        "Wake me when it is time, in ten minutes.",
        "process",
        {"action": "start", "command": "sleep 600 && echo time to leave"},
        "It waits in the background.",
        press="Approve once",
    ),
    Stop(
        "Show me the whole timetable.",
        "exec",
        {"command": "for n in $(seq 1 900); do echo \"tram 28 leaves at stop $n\"; done"},
        "It is long: the beginning and the end are above, the rest is kept.",
        press="Approve once",
    ),
    Stop("Only the lines of tram 28.", "read_spill", spilled, "There they are."),
    Stop(
        "By the way, no meat for me. Remember that.",
        "memory",
        {"action": "add", "content": "Ada eats no meat.", "target": "user"},
        "Noted.",
    ),
    Stop(
        "What did I say about the umbrella?",
        "session_search",
        {"query": "umbrella", "role": "user"},
        "That you want a sun hat instead.",
    ),
    Stop("Which skills do you have?", "skills_list", {}, "Three come with me."),
    Stop(
        "How do you look at tables?",
        "skill_view",
        {"name": "csv-summary"},
        "With a script that counts and adds up.",
    ),
    Stop(
        "Then look at the budget with it.",
        "skill_run",
        {"name": "csv-summary", "script": "summarize.py", "args": ["budget.csv"]},
        "Four lines; the room is the largest.",
        press="Approve once",
    ),
    Stop(
        "Keep how I pack as a skill.",
        "skill_manage",
        {
            "action": "create",
            "name": "packing",
            "content": "---\nname: packing\ndescription: How Ada packs.\n---\nOne bag and a hat.\n",
        },
        "It is kept as packing.",
        press="Approve once",
    ),
    Stop(
        "Send me the packing list as a file.",
        "message",
        {"text": "Here it is.", "files": ["packing.md"]},
        "Sent.",
    ),
    Stop(
        "And tell me when all is set.",
        "notify",
        {"message": "Lisbon is planned."},
        "You will hear of it.",
    ),
)  # fmt: skip

FILES = {
    "notes/lisbon.md": "# Lisbon\n\n- ride tram 28 to Graça\n- the tile museum\n- grilled sardines\n",
    "budget.csv": "what,euros\ntrain,120\nroom,200\ntram,18\n",
}

CONFIG: dict[str, object] = {
    "tools.exec.host": "local",
    "permissions.admin_users": ["telegram:42"],
    "channels.telegram.allow_from": ["42"],
    "channels.stream.enabled": False,
    "language": "en",
    "timezone": "UTC",
}


def results(messages: Sequence[ModelMessage]) -> list[str]:
    """What the tools returned, oldest first."""
    parts = [part for message in messages if isinstance(message, ModelRequest) for part in message.parts]
    return [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]


def script() -> ScriptedModel:
    steps: list[CallTool | Decide | Say] = []
    for stop in STOPS:
        steps += [_call(stop), Say(stop.answer)]
    return ScriptedModel(steps)


def _call(stop: Stop) -> CallTool | Decide:
    args = stop.args
    if callable(args):
        choose = args
        return Decide(lambda messages: CallTool(stop.tool, choose(messages)))
    return CallTool(stop.tool, args)


def called(messages: Sequence[ModelMessage]) -> Args:
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
        args = json.dumps(called(self.model.seen[-1]), ensure_ascii=False, indent=2)
        self._write(f"The assistant calls `{stop.tool}`:", f"```json\n{self._cleaned(args)}\n```")
        if card is not None:
            self._write(card)
        result = results(self.model.seen[-1])[-1]
        self._write("It gets back:", f"```text\n{self._cleaned(_cut(result))}\n```")
        for message in self._sent_by_tools(before, stop):
            self._write(f"**Echo Bot:** {_shown(message)}")
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
        if stop.tool not in ("message", "notify", "image_generate", "text_to_speech"):
            return []
        return [message for message in self.chat.from_bot[before:] if message.text != stop.answer]

    def _cleaned(self, text: str) -> str:
        """Without what differs from run to run."""
        text = text.replace(str(self.bot.workspace), "/home/ada/lisbon")
        text = text.replace(str(PACKAGED), "/opt/echo-bot/skills")
        for pattern, shown in (
            (r"\b(\w+)-[0-9a-f]{12}\.txt", r"\1-0a1b2c3d4e5f.txt"),
            (r"\d\d\d\d-\d\d-\d\d", "2026-05-04"),
            (r"\d\d:\d\d(:\d\d)?( UTC)?", "14:05"),
            (r"\bId: \w{6}\b", "Id: k7m2qx"),
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
    document = message.media.get("document")
    name = document.get("file_name") if isinstance(document, dict) else ""
    return f"{message.text} *({name})*" if name else message.text


async def test_the_tour_is_what_the_document_says(tmp_path: Path) -> None:
    model = script()
    async with TelegramEmulator() as telegram:
        settings = ChannelSettings(account="", api_base=telegram.url, secrets={"token": telegram.token})
        keys = CONFIG | {"channels.telegram.api_base": telegram.url}
        async with running_bot(
            tmp_path, keys, model=model.model, channels=[TelegramChannel(settings)]
        ) as bot:
            for name, content in FILES.items():
                (bot.workspace / name).parent.mkdir(exist_ok=True)
                (bot.workspace / name).write_text(content)
            guide = Guide(telegram.user(42, "Ada", "ada").chat(), model, bot)
            for stop in STOPS:
                await guide.visit(stop)
            there = {name for name in bot.parts.overview.available_tools() if name in CATALOGUE}
            assert {stop.tool for stop in STOPS} == there, "the tour leaves a tool out"
    if os.environ.get("ECHO_BOT_WRITE_TOUR"):
        DOCUMENT.write_text(guide.transcript, encoding="utf-8")
    assert guide.transcript == DOCUMENT.read_text(encoding="utf-8")
