"""What the page and the server say to each other: JSON both ways. The table is in docs/channels/web.md."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, assert_never

from echo_bot.channel import Command, Prompt, TranscriptEntry
from echo_bot.events import Card, CardBlock, CodeBlock, Fields, Paragraph, PressReply

Json = dict[str, object]
Role = Literal["user", "bot", "card"]

MAX_SAY_CHARACTERS = 100_000
_MAX_PRESS_TEXT = 1_000_000
"""An edited call may be as long as a call that can be shown."""
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


class BadMessage(ValueError):
    """The page sent something that is not in the protocol; the text says what."""


@dataclass(frozen=True, slots=True)
class Say:
    """A line the person typed. `client_id` was made by the page and stays the same over every resend."""

    client_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Press:
    """A pressed card button; `text` is what its prompt asked for."""

    press_id: str
    token: str
    message_id: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """A button that needs words was pressed: what does it ask for?"""

    press_id: str
    token: str
    message_id: str = ""


@dataclass(frozen=True, slots=True)
class Ping:
    """The page asks whether anybody is there."""


@dataclass(frozen=True, slots=True)
class FileLink:
    """A delivered file as the page shows it. `inline` for images it may draw."""

    url: str
    name: str
    mime: str
    size: int
    inline: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the chat on the page; a later entry with the same id replaces it."""

    entry_id: str
    role: Role
    text: str
    at: datetime
    markdown: bool = True
    draft: bool = False
    card: Card | None = None
    file: FileLink | None = None


def parse(raw: str) -> Say | Press | Ask | Ping:
    """A frame from the page. Raises BadMessage."""
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadMessage("the frame is not JSON") from error
    if not isinstance(data, dict):
        raise BadMessage("the frame is not an object")
    match data.get("type"):
        case "say":
            text = _text(data, "text", MAX_SAY_CHARACTERS)
            if not text.strip():
                raise BadMessage("the message is empty")
            return Say(_id(data, "client_id"), text)
        case "press":
            return Press(
                press_id=_id(data, "press_id"),
                token=_text(data, "token", 200),
                message_id=_text(data, "message_id", 200),
                text=_text(data, "text", _MAX_PRESS_TEXT),
            )
        case "ask":
            return Ask(
                press_id=_id(data, "press_id"),
                token=_text(data, "token", 200),
                message_id=_text(data, "message_id", 200),
            )
        case "ping":
            return Ping()
        case other:
            raise BadMessage(f"unknown frame type {str(other)[:40]!r}")


def _text(data: dict[str, object], key: str, longest: int) -> str:
    value = data.get(key, "")
    if not isinstance(value, str):
        raise BadMessage(f"{key} is not text")
    if len(value) > longest:
        raise BadMessage(f"{key} is longer than {longest} characters")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise BadMessage(f"{key} holds half of a character (a lone surrogate)") from error
    return value


def _id(data: dict[str, object], key: str) -> str:
    value = _text(data, key, 64)
    if not _ID.fullmatch(value):
        raise BadMessage(f"{key} is not 8 to 64 letters, digits, - or _")
    return value


def frame(kind: str, **fields: object) -> str:
    """One frame to the page."""
    return json.dumps({"type": kind, **fields}, ensure_ascii=False, separators=(",", ":"))


def entry_json(entry: Entry) -> Json:
    data: Json = {
        "id": entry.entry_id,
        "role": entry.role,
        "text": entry.text,
        "at": entry.at.isoformat(),
        "markdown": entry.markdown,
        "draft": entry.draft,
    }
    if entry.card is not None:
        data["card"] = card_json(entry.card)
    if entry.file is not None:
        data["file"] = {
            "url": entry.file.url,
            "name": entry.file.name,
            "mime": entry.file.mime,
            "size": entry.file.size,
            "inline": entry.file.inline,
        }
    return data


def past_entry(row: TranscriptEntry, file: FileLink | None) -> Entry:
    """A row of the stored transcript as the page shows it."""
    role: Role = "card" if row.role == "card" else "user" if row.role == "user" else "bot"
    return Entry(row.entry_id, role, row.text, row.at, card=row.card, file=file)


def card_json(card: Card) -> Json:
    """Structured blocks, never HTML: the page makes text nodes of them."""
    return {
        "id": card.card_id,
        "short_id": card.short_id,
        "title": card.title,
        "state": card.state.value,
        "risk": card.risk,
        "blocks": [_block_json(block) for block in card.blocks],
        "buttons": [
            {"label": b.label, "token": b.token, "style": b.style.value, "prompt": b.prompt}
            for b in card.buttons
        ],
        "deadline": card.deadline.isoformat() if card.deadline else None,
    }


def _block_json(block: CardBlock) -> Json:
    match block:
        case Paragraph():
            return {"kind": "paragraph", "text": block.text, "strong": block.strong}
        case CodeBlock():
            return {"kind": "code", "text": block.text, "language": block.language, "label": block.label}
        case Fields():
            return {"kind": "fields", "rows": [list(row) for row in block.rows]}
        case _:
            assert_never(block)


def command_json(command: Command) -> Json:
    return {"name": command.name, "description": command.description, "arguments": command.usage}


def press_reply(press: Press | Ask, reply: PressReply) -> str:
    return frame("press_reply", press_id=press.press_id, token=press.token, text=reply.text, ok=reply.ok)


def prompt_frame(ask: Ask, prompt: Prompt) -> str:
    return frame(
        "prompt",
        press_id=ask.press_id,
        token=ask.token,
        question=prompt.question,
        initial=prompt.initial,
        title=prompt.title,
    )
