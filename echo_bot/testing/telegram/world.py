"""The state behind the Bot API: chats and what stands in them, open queries, files, commands."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from echo_bot.testing.telegram.errors import ApiError
from echo_bot.testing.telegram.model import Chat, JsonObject, Message, User
from echo_bot.testing.telegram.updates import UpdateQueue


@dataclass(slots=True)
class Query:
    """A press that waits for its one answer."""

    id: str
    asked_at: float
    answer: QueryAnswer | None = None
    """What the bot answered, once it did."""


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    text: str
    show_alert: bool


@dataclass(frozen=True, slots=True)
class StoredFile:
    file_id: str
    path: str
    name: str
    mime: str
    content: bytes

    def to_json(self) -> JsonObject:
        return {
            "file_id": self.file_id,
            "file_unique_id": f"u{self.file_id}",
            "file_name": self.name,
            "mime_type": self.mime,
            "file_size": len(self.content),
        }


@dataclass(slots=True)
class World:
    """Everything one bot sees. `clock` is in seconds; queries are too old after `query_seconds`."""

    bot: User
    query_seconds: float = 15.0
    clock: Callable[[], float] = time.time
    chats: dict[int, Chat] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    queries: dict[str, Query] = field(default_factory=dict)
    files: dict[str, StoredFile] = field(default_factory=dict)
    commands: dict[str, list[JsonObject]] = field(default_factory=dict)
    """The bot's commands by scope: "default", "all_private_chats", "chat:42" …"""
    local_folder: Path | None = None
    """Set: the server runs in local mode, has no limit for files and answers with paths in this folder."""
    typed: list[tuple[int, int, str]] = field(default_factory=list)
    """Chat actions: chat id, thread id, action."""
    updates: UpdateQueue = field(default_factory=UpdateQueue)
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def next_id(self) -> int:
        return next(self._ids)

    def now(self) -> int:
        return int(self.clock())

    def chat(self, chat_id: int) -> Chat:
        """The chat, as a bot may write to it. Raises ApiError for unknown chats and users who left."""
        chat = self.chats.get(chat_id)
        if chat is None:
            raise ApiError.bad_request("chat not found")
        if chat.moved_to:
            raise ApiError.moved(chat.moved_to)
        if chat.blocked:
            reason = (
                "bot was blocked by the user" if chat.type == "private" else "bot was kicked from the group"
            )
            raise ApiError(403, f"Forbidden: {reason}")
        return chat

    def find(self, chat_id: int, message_id: int) -> Message | None:
        for message in self.messages:
            if message.chat.id == chat_id and message.message_id == message_id:
                return message
        return None

    def post(self, message: Message) -> Message:
        self.messages.append(message)
        return message

    def delete(self, message: Message) -> None:
        self.messages.remove(message)

    def store_file(self, name: str, mime: str, content: bytes) -> StoredFile:
        number = self.next_id()
        stored = StoredFile(f"file-{number}", f"documents/file_{number}", name, mime, content)
        self.files[stored.file_id] = stored
        return stored

    def path_of(self, stored: StoredFile) -> str:
        """What getFile answers: a path below the file address, or in local mode one on this machine."""
        if self.local_folder is None:
            return stored.path
        path = self.local_folder / stored.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(stored.content)
        return str(path)

    def answer_query(self, query_id: str, answer: QueryAnswer) -> None:
        """One answer for each query, and only while it is young."""
        query = self.queries.get(query_id)
        if query is None or query.answer or self.clock() - query.asked_at > self.query_seconds:
            raise ApiError.bad_request("query is too old and response timeout expired or query ID is invalid")
        query.answer = answer
