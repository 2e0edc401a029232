"""What stands in the workspace: people, conversations, messages, files and views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

JsonObject = dict[str, Any]
ChatKind = Literal["im", "channel", "group", "mpim"]

_PINGS = ("<!channel", "<!here", "<!everyone", "<!subteam^", "<@")


@dataclass(frozen=True, slots=True)
class User:
    id: str
    name: str
    is_bot: bool = False
    bot_id: str = ""

    def to_json(self) -> JsonObject:
        return {
            "id": self.id,
            "team_id": "T1",
            "name": self.name.lower().replace(" ", "."),
            "real_name": self.name,
            "is_bot": self.is_bot,
            "deleted": False,
            "profile": {"display_name": self.name, "real_name": self.name, "bot_id": self.bot_id},
        }


@dataclass(slots=True)
class Chat:
    """A conversation. `members` are user ids; who is not in it cannot post there."""

    id: str
    kind: ChatKind
    name: str = ""
    members: set[str] = field(default_factory=set)
    archived: bool = False


@dataclass(frozen=True, slots=True)
class StoredFile:
    id: str
    name: str
    mime: str
    content: bytes
    url: str
    subtype: str = ""

    def to_json(self) -> JsonObject:
        found: JsonObject = {
            "id": self.id,
            "name": self.name,
            "title": self.name,
            "mimetype": self.mime,
            "size": len(self.content),
            "url_private": self.url,
            "url_private_download": self.url,
            "mode": "hosted",
        }
        return found | {"subtype": self.subtype} if self.subtype else found


@dataclass(slots=True)
class Message:
    """A message as it stands now. `seen_by` is the one person who sees an ephemeral one."""

    chat: Chat
    ts: str
    user: str
    text: str = ""
    blocks: list[JsonObject] = field(default_factory=list)
    thread_ts: str = ""
    bot_id: str = ""
    files: list[StoredFile] = field(default_factory=list)
    seen_by: str = ""
    client_msg_id: str = ""
    mrkdwn: bool = True
    edits: int = 0

    @property
    def words(self) -> str:
        """What a person reads: the blocks' text, or the text where there are no blocks."""
        return "\n".join(words_of(self.blocks)) if self.blocks else unescaped(self.text)

    @property
    def buttons(self) -> list[JsonObject]:
        return buttons_of(self.blocks)

    @property
    def labels(self) -> list[str]:
        return [unescaped(str(button["text"]["text"])) for button in self.buttons]

    @property
    def pings(self) -> list[str]:
        """The mentions that Slack would make of this message."""
        shown = list(marked_up_texts(self.blocks)) if self.blocks else [self.text]
        found = [mark for text in shown for mark in _PINGS if mark in text]
        return found + [str(element["type"]) for element in live_elements(self.blocks)]

    def to_json(self) -> JsonObject:
        found: JsonObject = {"type": "message", "user": self.user, "text": self.text, "ts": self.ts}
        for key in ("thread_ts", "bot_id", "client_msg_id", "blocks"):
            if value := getattr(self, key):
                found[key] = value
        if self.files:
            found |= {"files": [file.to_json() for file in self.files], "subtype": "file_share"}
        if self.edits:
            found["edited"] = {"user": self.user, "ts": f"{self.ts.partition('.')[0]}.{self.edits:06d}"}
        return found


@dataclass(slots=True)
class View:
    """A modal or a home tab as it stands; `history` has every state, the first one included."""

    id: str
    user: str
    shown: JsonObject
    hash: str
    history: list[JsonObject] = field(default_factory=list)
    is_open: bool = True

    @property
    def words(self) -> str:
        return "\n".join(words_of(self.shown.get("blocks", [])))

    @property
    def labels(self) -> list[str]:
        return [unescaped(str(button["text"]["text"])) for button in buttons_of(self.shown.get("blocks", []))]

    @property
    def inputs(self) -> list[JsonObject]:
        return [block for block in self.shown.get("blocks", []) if block.get("type") == "input"]

    @property
    def initial(self) -> str:
        """What the first input begins with."""
        return str(self.inputs[0]["element"].get("initial_value", "")) if self.inputs else ""

    def to_json(self) -> JsonObject:
        return {**self.shown, "id": self.id, "team_id": "T1", "hash": self.hash}


def words_of(blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The texts of blocks, one for each section or paragraph; buttons are not words."""
    for block in blocks:
        match block.get("type"):
            case "rich_text":
                for part in block["elements"]:
                    yield "".join(str(element.get("text", "")) for element in part["elements"])
            case "section" | "header":
                yield unescaped(str(block["text"]["text"]))
            case "input":
                yield unescaped(str(block["label"]["text"]))
            case _:
                pass


def buttons_of(blocks: Sequence[Mapping[str, Any]]) -> list[JsonObject]:
    rows = [block["elements"] for block in blocks if block.get("type") == "actions"]
    return [element for row in rows for element in row if element.get("type") == "button"]


def marked_up_texts(blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The texts in which Slack looks for mentions and links."""
    for block in blocks:
        text = block.get("text")
        if isinstance(text, Mapping) and text.get("type") == "mrkdwn":
            yield str(text["text"])


def live_elements(blocks: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for block in blocks:
        if block.get("type") == "rich_text":
            for part in block["elements"]:
                for element in part["elements"]:
                    if element.get("type") in ("user", "usergroup", "broadcast"):
                        yield element


def unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
