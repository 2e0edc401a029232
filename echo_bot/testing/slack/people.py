"""The people's side of the emulator: they write, press, fill in, use commands, and see what the bot sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from echo_bot.testing.slack.deliveries import Delivery
from echo_bot.testing.slack.model import (
    Chat,
    JsonObject,
    Message,
    StoredFile,
    User,
    View,
    buttons_of,
    unescaped,
)
from echo_bot.testing.slack.using import Press, Slack, Used
from echo_bot.testing.slack.world import APP, TEAM
from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually


class Person:
    """One user. `dm()` is the direct chat with the bot, `at(chat)` a channel as this user sees it."""

    def __init__(self, slack: Slack, user: User) -> None:
        self._slack, self.user = slack, user

    def dm(self) -> Conversation:
        return Conversation(self._slack, self.user, self._slack.world.direct(self.user.id))

    def at(self, chat: Chat, thread_ts: str = "") -> Conversation:
        chat.members.add(self.user.id)
        return Conversation(self._slack, self.user, chat, thread_ts)

    def command(self, text: str, chat: Chat | None = None, command: str = "/echo") -> Used:
        """Use a slash command, by default in the direct chat."""
        world, where = self._slack.world, chat or self._slack.world.direct(self.user.id)
        url = world.new_response_url(self.user.id, where)
        payload: JsonObject = {
            "token": "legacy",
            "team_id": TEAM,
            "api_app_id": APP,
            "command": command,
            "text": text,
            "user_id": self.user.id,
            "user_name": self.user.name,
            "channel_id": where.id,
            "channel_name": where.name or "directmessage",
            "response_url": url,
            "trigger_id": world.new_trigger(self.user.id),
        }
        return Used(self._slack, self._slack.deliver("slash_commands", payload), url.rpartition("/")[2])

    def shortcut(self, callback_id: str, message: Message | None = None) -> Press:
        """Use a shortcut: on a message, or from anywhere."""
        trigger = self._slack.world.new_trigger(self.user.id)
        payload = self._payload("message_action" if message else "shortcut", trigger) | {
            "callback_id": callback_id,
            "action_ts": self._slack.world.next_ts(),
        }
        if message is not None:
            payload |= {
                "channel": {"id": message.chat.id, "name": message.chat.name},
                "message": message.to_json(),
                "message_ts": message.ts,
                "response_url": self._slack.world.new_response_url(self.user.id, message.chat, message),
            }
        delivery = self._slack.deliver("interactive", payload)
        return Press(self._slack, delivery, self.user, trigger)

    async def open_modal(self, timeout: float = PATIENCE_SECONDS) -> View:
        """The newest modal this person has open."""
        views = self._slack.world.views
        return await eventually(
            lambda: next((v for v in reversed(views.values()) if v.user == self.user.id and v.is_open), None),
            "an open modal",
            timeout,
        )

    def submit(self, view: View, words: str) -> Delivery:
        """Send a modal with `words` in its first input."""
        block = view.inputs[0]
        typed = {block["element"]["action_id"]: {"type": "plain_text_input", "value": words}}
        state = {"values": {block["block_id"]: typed}}
        payload = self._payload("view_submission", self._slack.world.new_trigger(self.user.id))
        payload |= {"view": view.to_json() | {"state": state}, "response_urls": []}

        def answered(answer: JsonObject) -> None:
            if answer.get("response_action") == "update":
                view.shown = answer["view"]
            elif not answer.get("response_action"):
                view.is_open = False

        return self._slack.deliver("interactive", payload, answered)

    def open_home(self) -> Delivery:
        """Look at the bot's App Home."""
        direct = self._slack.world.direct(self.user.id)
        event = {
            "type": "app_home_opened",
            "user": self.user.id,
            "channel": direct.id,
            "tab": "home",
            "event_ts": self._slack.world.next_ts(),
        }
        return self._slack.event(event)

    async def home(self, part: str = "", timeout: float = PATIENCE_SECONDS) -> View:
        """The home tab as soon as its words contain `part`."""
        homes = self._slack.world.homes
        return await eventually(
            lambda: (view := homes.get(self.user.id)) and (view if part in view.words else None),
            f"a home tab with {part!r}",
            timeout,
        )

    def press_home(self, label: str) -> Press:
        """Press a button of the home tab, the first of that label."""
        view = self._slack.world.homes[self.user.id]
        button = next(b for b in buttons_of(view.shown["blocks"]) if unescaped(b["text"]["text"]) == label)
        trigger = self._slack.world.new_trigger(self.user.id)
        payload = self._payload("block_actions", trigger) | {
            "container": {"type": "view", "view_id": view.id},
            "view": view.to_json(),
            "actions": [_action(button, self._slack.world.next_ts())],
        }
        return Press(self._slack, self._slack.deliver("interactive", payload), self.user, trigger)

    def _payload(self, kind: str, trigger_id: str) -> JsonObject:
        return {
            "type": kind,
            "team": {"id": TEAM, "domain": "example"},
            "user": {"id": self.user.id, "username": self.user.name, "name": self.user.name, "team_id": TEAM},
            "api_app_id": APP,
            "token": "legacy",
            "trigger_id": trigger_id,
        }


@dataclass(slots=True)
class Conversation:
    """A chat (or a thread in it) through the eyes of one user."""

    slack: Slack
    user: User
    chat: Chat
    thread_ts: str = ""
    deliveries: list[Delivery] = field(default_factory=list)
    """What was delivered for this conversation's user, oldest first."""

    @property
    def messages(self) -> list[Message]:
        """Everything here that this user sees, oldest first; in a channel without the threads' replies."""
        return [
            one
            for one in self.slack.world.messages
            if one.chat is self.chat and one.thread_ts == self.thread_ts and one.seen_by in ("", self.user.id)
        ]

    @property
    def from_bot(self) -> list[Message]:
        """The bot's messages here that everybody sees."""
        return [one for one in self.messages if one.user == self.slack.world.bot.id and not one.seen_by]

    @property
    def whispers(self) -> list[Message]:
        """What the bot told this user alone, here."""
        return [one for one in self.messages if one.seen_by == self.user.id]

    def thread(self, message: Message) -> Conversation:
        """The thread below a message, which may be one already."""
        return Conversation(self.slack, self.user, self.chat, message.thread_ts or message.ts)

    # Writing

    def say(
        self, text: str, *, files: tuple[StoredFile, ...] = (), extra: JsonObject | None = None
    ) -> Message:
        """Write `text`, as Slack sends it: & < > escaped by the caller, mentions as <@U…>.

        `extra` goes into the event as it is.
        """
        message = Message(
            chat=self.chat,
            ts=self.slack.world.next_ts(),
            user=self.user.id,
            text=text,
            files=list(files),
            thread_ts=self.thread_ts,
            bot_id=self.user.bot_id,
        )
        self.slack.world.messages.append(message)
        event = self._event(message) | (extra or {})
        if self.slack.world.bot.id in self.chat.members:
            self.deliveries.append(self.slack.event(event))
        self._mentioned(event)
        return message

    def mention(self, text: str) -> Message:
        """Write `text` to the bot by name."""
        return self.say(f"<@{self.slack.world.bot.id}> {text}")

    def upload(self, name: str, content: bytes, text: str = "", mime: str = "text/plain") -> Message:
        return self.say(text, files=(self.slack.world.store_file(name, mime, content),))

    def forward(self, message: Message, text: str = "") -> Message:
        """Pass another message on to here, with words of one's own or without."""
        author = self.slack.world.user(message.user)
        passed_on = {
            "is_msg_unfurl": True,
            "is_share": True,
            "author_id": author.id,
            "author_name": author.name,
            "text": message.text,
            "files": [file.to_json() for file in message.files],
            "fallback": f"[today] {author.name}: {message.text}",
            "footer": "Slack Conversation",
        }
        return self.say(text, extra={"attachments": [passed_on]})

    def edit(self, message: Message, text: str) -> Message:
        """Change a message. Where it names the bot now, it mentions the bot once more."""
        before = message.to_json()
        message.text, message.edits = text, message.edits + 1
        changed = {"message": message.to_json(), "previous_message": before}
        self._changed(message, "message_changed", changed)
        self._mentioned(self._event(message))
        return message

    def delete(self, message: Message) -> None:
        """Delete a message; of one with replies a notice stays in its place."""
        before = message.to_json()
        if any(one.thread_ts == message.ts != one.ts for one in self.slack.world.messages):
            message.text, message.user, message.blocks = "This message was deleted.", "USLACKBOT", []
            gone = message.to_json() | {"subtype": "tombstone", "hidden": True, "thread_ts": message.ts}
            self._changed(message, "message_changed", {"message": gone, "previous_message": before})
            return
        self.slack.world.messages.remove(message)
        about = {"deleted_ts": message.ts, "previous_message": before}
        self._changed(message, "message_deleted", about)

    # Pressing

    def press(self, label: str, message: Message | None = None) -> Press:
        """Press the button `label` of `message`, by default the newest message here that has it."""
        where = message or self._newest_with(label)
        button = next(one for one in where.buttons if unescaped(one["text"]["text"]) == label)
        return self.press_button(button, where)

    def press_button(self, button: JsonObject, message: Message) -> Press:
        """Press any button, also one that the message does not show any more."""
        world = self.slack.world
        trigger = world.new_trigger(self.user.id)
        container = {"type": "message", "message_ts": message.ts, "channel_id": message.chat.id}
        if message.thread_ts:
            container["thread_ts"] = message.thread_ts
        url = world.new_response_url(self.user.id, message.chat, message, message.thread_ts)
        payload: JsonObject = {
            **Person(self.slack, self.user)._payload("block_actions", trigger),
            "container": container | {"is_ephemeral": False},
            "channel": {"id": message.chat.id, "name": message.chat.name},
            "message": message.to_json(),
            "response_url": url,
            "actions": [_action(button, world.next_ts())],
        }
        before = len(world.messages)
        delivery = self.slack.deliver("interactive", payload)
        return Press(self.slack, delivery, self.user, trigger, before)

    # Seeing

    async def wait_for(
        self, wanted: Callable[[Message], bool], what: str = "a message", timeout: float = PATIENCE_SECONDS
    ) -> Message:
        """The newest message of the bot here that `wanted` accepts, as soon as there is one."""
        return await eventually(
            lambda: next((one for one in reversed(self.from_bot) if wanted(one)), None), what, timeout
        )

    async def wait_for_text(self, part: str, timeout: float = PATIENCE_SECONDS) -> Message:
        return await self.wait_for(lambda message: part in message.words, f"text {part!r}", timeout)

    async def wait_for_button(self, label: str, timeout: float = PATIENCE_SECONDS) -> Message:
        return await self.wait_for(lambda message: label in message.labels, f"button {label!r}", timeout)

    # Inside

    def _event(self, message: Message) -> JsonObject:
        event = message.to_json() | {
            "channel": self.chat.id,
            "channel_type": self.chat.kind,
            "team": TEAM,
            "event_ts": message.ts,
        }
        if message.thread_ts:
            parent = self.slack.world.find(self.chat.id, message.thread_ts)
            event["parent_user_id"] = parent.user if parent else ""
        return event

    def _mentioned(self, event: JsonObject) -> None:
        """As Slack may, the mention leaves out the files."""
        if f"<@{self.slack.world.bot.id}>" in event["text"] and self.chat.kind != "im":
            left_out = ("channel_type", "subtype", "files")
            mention = {key: value for key, value in event.items() if key not in left_out}
            self.deliveries.append(self.slack.event(mention | {"type": "app_mention"}))

    def _changed(self, message: Message, subtype: str, about: JsonObject) -> None:
        event: JsonObject = {
            "type": "message",
            "subtype": subtype,
            "channel": message.chat.id,
            "channel_type": message.chat.kind,
            "ts": self.slack.world.next_ts(),
            "hidden": True,
            **about,
        }
        self.deliveries.append(self.slack.event(event))

    def _newest_with(self, label: str) -> Message:
        for message in reversed(self.from_bot):
            if label in message.labels:
                return message
        shown = [(message.words, message.labels) for message in self.from_bot]
        raise AssertionError(f"no message has a button {label!r}; shown: {shown}")


def _action(button: JsonObject, action_ts: str) -> JsonObject:
    return {
        "type": "button",
        "action_id": button["action_id"],
        "block_id": button.get("block_id", "b1"),
        "text": button["text"],
        "value": button.get("value", ""),
        "action_ts": action_ts,
    }
