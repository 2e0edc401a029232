"""The state behind the Web API, and the rules about who may do what where."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from echo_bot.testing.slack.errors import ApiError
from echo_bot.testing.slack.model import Chat, JsonObject, Message, StoredFile, User, View

TEAM = "T1"
APP = "A1"
TRIGGER_SECONDS = 3.0
RESPONSE_URL_SECONDS, RESPONSE_URL_USES = 1800.0, 5


@dataclass(slots=True)
class ResponseUrl:
    """Where an interaction may be answered, five times within half an hour."""

    user: str
    chat: Chat | None
    message: Message | None
    made_at: float
    thread_ts: str = ""
    answers: list[JsonObject] = field(default_factory=list)


@dataclass(slots=True)
class World:
    """One workspace with one bot in it. `clock` is in seconds."""

    bot: User
    base_url: str = ""
    clock: Callable[[], float] = time.time
    users: dict[str, User] = field(default_factory=dict)
    chats: dict[str, Chat] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    files: dict[str, StoredFile] = field(default_factory=dict)
    uploads: dict[str, StoredFile] = field(default_factory=dict)
    """Files whose upload has begun, by id."""
    views: dict[str, View] = field(default_factory=dict)
    homes: dict[str, View] = field(default_factory=dict)
    """Home tabs by user id."""
    statuses: list[tuple[str, str, str]] = field(default_factory=list)
    """Assistant statuses: chat, thread, text."""
    triggers: dict[str, tuple[str, float]] = field(default_factory=dict)
    """User and time by trigger id; a trigger opens one view."""
    response_urls: dict[str, ResponseUrl] = field(default_factory=dict)
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def next_id(self) -> int:
        return next(self._ids)

    def next_ts(self) -> str:
        """A time that is also a unique id, later than all before it."""
        return f"{int(self.clock())}.{self.next_id():06d}"

    def user(self, user_id: str) -> User:
        if user_id not in self.users:
            raise ApiError("user_not_found")
        return self.users[user_id]

    def direct(self, user_id: str) -> Chat:
        """The direct chat of a person and the bot."""
        chat_id = f"D{user_id[1:]}"
        return self.chats.setdefault(chat_id, Chat(chat_id, "im", members={user_id, self.bot.id}))

    def readable(self, chat_id: str) -> Chat:
        """The chat if the bot is in it. Raises ApiError."""
        chat = self.chats.get(chat_id)
        if chat is None:
            raise ApiError("channel_not_found")
        if self.bot.id not in chat.members:
            raise ApiError("not_in_channel" if chat.kind == "channel" else "channel_not_found")
        return chat

    def writable(self, chat_id: str) -> Chat:
        """The chat as the bot may post to it. Raises ApiError."""
        chat = self.chats.get(chat_id)
        if chat is not None and chat.archived:
            raise ApiError("is_archived")
        return self.readable(chat_id)

    def find(self, chat_id: str, ts: str) -> Message | None:
        return next(
            (one for one in self.messages if one.chat.id == chat_id and one.ts == ts and not one.seen_by),
            None,
        )

    def new_trigger(self, user_id: str) -> str:
        trigger = f"{self.next_id()}.trigger"
        self.triggers[trigger] = (user_id, self.clock())
        return trigger

    def spend_trigger(self, trigger: str) -> str:
        """The user whose trigger it is. Raises ApiError for one that is old, spent or unknown."""
        if trigger not in self.triggers:
            raise ApiError("invalid_trigger_id")
        user, made_at = self.triggers[trigger]
        if not user:
            raise ApiError("exchanged_trigger_id")
        if self.clock() - made_at > TRIGGER_SECONDS:
            raise ApiError("expired_trigger_id")
        self.triggers[trigger] = ("", made_at)
        return user

    def new_response_url(
        self, user: str, chat: Chat | None, message: Message | None = None, thread_ts: str = ""
    ) -> str:
        key = f"R{self.next_id()}"
        self.response_urls[key] = ResponseUrl(user, chat, message, self.clock(), thread_ts)
        return f"{self.base_url}/response/{key}"

    def store_file(self, name: str, mime: str, content: bytes, subtype: str = "") -> StoredFile:
        file_id = f"F{self.next_id()}"
        url = f"{self.base_url}/files-pri/{file_id}/{name}"
        self.files[file_id] = StoredFile(file_id, name, mime, content, url, subtype)
        return self.files[file_id]
