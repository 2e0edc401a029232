"""What Telegram knows: users, chats and messages, and how each looks as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

JsonObject = dict[str, object]
ChatType = Literal["private", "group", "supergroup", "channel"]


@dataclass(frozen=True, slots=True)
class User:
    id: int
    first_name: str
    username: str = ""
    is_bot: bool = False

    def to_json(self) -> JsonObject:
        known: JsonObject = {"id": self.id, "is_bot": self.is_bot, "first_name": self.first_name}
        return known | ({"username": self.username} if self.username else {})


@dataclass(slots=True)
class Chat:
    """A chat. `topics` are the thread ids of a forum, some closed; `moved_to` is the supergroup it became.

    `blocked`: the user blocked the bot, or the group removed it.
    """

    id: int
    type: ChatType
    title: str
    is_forum: bool = False
    topics: set[int] = field(default_factory=set)
    closed_topics: set[int] = field(default_factory=set)
    allows_reactions: bool = True
    blocked: bool = False
    moved_to: int = 0

    def to_json(self) -> JsonObject:
        name = "first_name" if self.type == "private" else "title"
        known: JsonObject = {"id": self.id, "type": self.type, name: self.title}
        return known | ({"is_forum": True} if self.is_forum else {})


@dataclass(slots=True)
class Message:
    """One message as it stands. With `media`, text and entities are its caption.

    `reply_markup` is what the bot sent: an inline keyboard, or a ForceReply, which no user sees in the JSON.
    """

    message_id: int
    date: int
    chat: Chat
    sender: User | None
    text: str = ""
    entities: list[JsonObject] = field(default_factory=list)
    media: JsonObject = field(default_factory=dict)
    reply_markup: JsonObject | None = None
    reply_to: Message | None = None
    thread_id: int = 0
    sender_chat: Chat | None = None
    edit_date: int = 0
    edits: int = 0
    reactions: tuple[str, ...] = ()
    extra: JsonObject = field(default_factory=dict)

    @property
    def labels(self) -> list[list[str]]:
        """The labels of the inline keyboard, row by row."""
        return [[str(button["text"]) for button in row] for row in self._keyboard()]

    @property
    def asks_for_reply(self) -> bool:
        return bool(self.reply_markup and self.reply_markup.get("force_reply"))

    def callback_data(self, label: str) -> str:
        """What a press on `label` sends. Raises AssertionError when there is no such button."""
        for row in self._keyboard():
            for button in row:
                if button["text"] == label:
                    return str(button["callback_data"])
        raise AssertionError(f"no button {label!r} on {self.text!r}; there are {self.labels}")

    def marked(self, kind: str) -> list[str]:
        """The pieces of the text under entities of `kind` ("bold", "pre", "text_link" …)."""
        encoded = self.text.encode("utf-16-le")
        return [
            encoded[2 * offset : 2 * (offset + length)].decode("utf-16-le")
            for entity in self.entities
            if entity["type"] == kind
            and isinstance(offset := entity["offset"], int)
            and isinstance(length := entity["length"], int)
        ]

    def to_json(self, depth: int = 1) -> JsonObject:
        """The Bot API's object; a replied-to message is shown one level deep."""
        known: JsonObject = {"message_id": self.message_id, "date": self.date, "chat": self.chat.to_json()}
        if self.sender is not None:
            known["from"] = self.sender.to_json()
        if self.sender_chat is not None:
            known["sender_chat"] = self.sender_chat.to_json()
        if self.thread_id:
            known |= {"message_thread_id": self.thread_id, "is_topic_message": self.chat.is_forum}
        known |= self._content_json()
        if self.reply_to is not None and depth > 0:
            known["reply_to_message"] = self.reply_to.to_json(depth - 1)
        if self._keyboard():
            known["reply_markup"] = self.reply_markup
        if self.edit_date:
            known["edit_date"] = self.edit_date
        return known | self.extra

    def _content_json(self) -> JsonObject:
        text, entities = ("caption", "caption_entities") if self.media else ("text", "entities")
        content: JsonObject = dict(self.media)
        if self.text:
            content[text] = self.text
        if self.entities:
            content[entities] = self.entities
        return content

    def _keyboard(self) -> list[list[JsonObject]]:
        rows = (self.reply_markup or {}).get("inline_keyboard")
        return rows if isinstance(rows, list) else []
