"""The people's side of the emulator: they write, edit, reply and press, and see what the bot sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from echo_bot.testing.telegram import media
from echo_bot.testing.telegram.detection import detected_entities
from echo_bot.testing.telegram.media import Attachment
from echo_bot.testing.telegram.model import Chat, JsonObject, Message, User
from echo_bot.testing.telegram.world import Query, QueryAnswer, World
from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually


@dataclass(frozen=True, slots=True)
class Press:
    """A press on a button: what the bot answers to it arrives later, or never."""

    query: Query

    async def answer(self, timeout: float = PATIENCE_SECONDS) -> QueryAnswer:
        return await eventually(lambda: self.query.answer, "an answer to the press", timeout)


class Person:
    """One user. `chat()` is the private chat with the bot, `chat(group)` a group as this user sees it."""

    def __init__(self, world: World, user: User) -> None:
        self._world, self.user = world, user

    def chat(self, chat: Chat | None = None, thread_id: int = 0) -> Conversation:
        if chat is None:
            fresh = Chat(self.user.id, "private", self.user.first_name)
            chat = self._world.chats.setdefault(self.user.id, fresh)
        if thread_id:
            chat.topics.add(thread_id)
        return Conversation(self._world, self.user, chat, thread_id)

    def block_bot(self) -> None:
        self.chat()._chat.blocked = True

    def unblock_bot(self) -> None:
        self.chat()._chat.blocked = False


class Conversation:
    """A chat through the eyes of one user. Everything that is said becomes an update for the bot."""

    def __init__(self, world: World, user: User, chat: Chat, thread_id: int) -> None:
        self._world, self._user, self._chat, self._thread_id = world, user, chat, thread_id

    @property
    def chat_id(self) -> int:
        return self._chat.id

    @property
    def messages(self) -> list[Message]:
        """Everything in this chat (and thread), oldest first, the bot's and the people's."""
        return [
            message
            for message in self._world.messages
            if message.chat is self._chat and message.thread_id == self._thread_id
        ]

    @property
    def from_bot(self) -> list[Message]:
        """What the bot sent here and has not deleted, oldest first."""
        return [message for message in self.messages if message.sender == self._world.bot]

    # Writing

    def say(
        self,
        text: str,
        *,
        reply_to: Message | None = None,
        entities: list[JsonObject] | None = None,
        extra: JsonObject | None = None,
    ) -> Message:
        """Write `text`. Commands and @names are marked as Telegram does, unless `entities` are given.

        `extra` goes into the message as it is: `forward_origin`, `via_bot` and the like.
        """
        message = self._new(text, reply_to)
        message.entities = detected_entities(text) if entities is None else entities
        message.extra = extra or {}
        return self._send(message)

    def reply(self, message: Message, text: str) -> Message:
        return self.say(text, reply_to=message)

    def say_anonymously(self, text: str) -> Message:
        """Write as the group itself, as an administrator who stays anonymous does."""
        message = self._new(text, None)
        message.sender = User(1087968824, "Group", "GroupAnonymousBot", is_bot=True)
        message.sender_chat = self._chat
        message.entities = detected_entities(text)
        return self._send(message)

    def send(self, attachment: Attachment, caption: str = "", *, album: str = "") -> Message:
        """Send one of `echo_bot.testing.telegram.media`. Those with the same `album` form a media group."""
        message = self._new(caption, None)
        message.entities = detected_entities(caption)
        message.media = attachment.to_json(
            lambda name, mime, content: self._world.store_file(name, mime, content).to_json()
        )
        message.extra = {"media_group_id": album} if album else {}
        return self._send(message)

    def send_album(self, attachments: Sequence[Attachment], caption: str = "") -> list[Message]:
        """Send several as one media group, with the caption on the first, as Telegram's clients do."""
        album = f"album-{self._world.next_id()}"
        captions = [caption, *[""] * (len(attachments) - 1)]
        return [
            self.send(attachment, words, album=album)
            for attachment, words in zip(attachments, captions, strict=True)
        ]

    def send_document(
        self, name: str, content: bytes, caption: str = "", mime: str = "text/plain"
    ) -> Message:
        return self.send(media.document(name, content, mime), caption)

    def send_photo(self, content: bytes, caption: str = "", album: str = "") -> Message:
        return self.send(media.photo(content), caption, album=album)

    def send_voice(self, content: bytes) -> Message:
        return self.send(media.voice(content))

    def edit(self, message: Message, text: str) -> Message:
        message.text, message.entities = text, detected_entities(text)
        message.edit_date, message.edits = self._world.now(), message.edits + 1
        self._world.updates.put(f"edited_{self._update_kind}", message.to_json())
        return message

    # Pressing

    def press(self, label: str, message: Message | None = None, *, is_shown: bool = True) -> Press:
        """Press the button `label` of `message`, by default the newest message here that has it.

        Without `is_shown` Telegram no longer shows the message to the bot, only its id and chat.
        """
        where = message or self._newest_with(label)
        return self.press_data(where.callback_data(label), where, is_shown=is_shown)

    def press_data(self, data: str, message: Message, *, is_shown: bool = True) -> Press:
        """Press with any callback data, also such as no message of the bot carries any more."""
        hidden: JsonObject = {"chat": message.chat.to_json(), "message_id": message.message_id, "date": 0}
        query = Query(f"q{self._world.next_id()}", self._world.clock())
        self._world.queries[query.id] = query
        payload: JsonObject = {
            "id": query.id,
            "from": self._user.to_json(),
            "chat_instance": str(self._chat.id),
            "data": data,
            "message": message.to_json() if is_shown else hidden,
        }
        self._world.updates.put("callback_query", payload)
        return Press(query)

    # Seeing

    async def wait_for(
        self, wanted: Callable[[Message], bool], what: str = "a message", timeout: float = PATIENCE_SECONDS
    ) -> Message:
        """The newest message of the bot here that `wanted` accepts, as soon as there is one."""
        return await eventually(
            lambda: next((message for message in reversed(self.from_bot) if wanted(message)), None),
            what,
            timeout,
        )

    async def wait_for_text(self, part: str, timeout: float = PATIENCE_SECONDS) -> Message:
        return await self.wait_for(lambda message: part in message.text, f"text {part!r}", timeout)

    async def wait_for_button(self, label: str, timeout: float = PATIENCE_SECONDS) -> Message:
        return await self.wait_for(
            lambda message: any(label in row for row in message.labels), f"button {label!r}", timeout
        )

    # Inside

    @property
    def _update_kind(self) -> str:
        return "channel_post" if self._chat.type == "channel" else "message"

    def _new(self, text: str, reply_to: Message | None) -> Message:
        in_channel = self._chat.type == "channel"
        return Message(
            message_id=self._world.next_id(),
            date=self._world.now(),
            chat=self._chat,
            sender=None if in_channel else self._user,
            sender_chat=self._chat if in_channel else None,
            text=text,
            reply_to=reply_to,
            thread_id=self._thread_id,
        )

    def _send(self, message: Message) -> Message:
        self._world.post(message)
        self._world.updates.put(self._update_kind, message.to_json())
        return message

    def _newest_with(self, label: str) -> Message:
        for message in reversed(self.from_bot):
            if any(label in row for row in message.labels):
                return message
        shown = [(message.text, message.labels) for message in self.from_bot]
        raise AssertionError(f"no message has a button {label!r}; shown: {shown}")
