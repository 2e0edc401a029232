"""The Web API's methods over the world, each with the checks that Slack makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from echo_bot.testing.slack import rules
from echo_bot.testing.slack.errors import ApiError
from echo_bot.testing.slack.model import Chat, JsonObject, Message, StoredFile, View
from echo_bot.testing.slack.parameters import Parameters
from echo_bot.testing.slack.world import TEAM, World

Method = Callable[[Parameters], JsonObject]

SCOPES_OF = {
    "chat.postMessage": "chat:write",
    "chat.update": "chat:write",
    "chat.delete": "chat:write",
    "chat.postEphemeral": "chat:write",
    "conversations.open": "im:write",
    "conversations.history": "channels:history",
    "users.info": "users:read",
    "files.getUploadURLExternal": "files:write",
    "files.completeUploadExternal": "files:write",
    "files.info": "files:read",
    "assistant.threads.setStatus": "chat:write",
}
"""The scope that a method needs, where it needs one."""


class WebApi:
    """`methods` maps each method's name to what it does; the answer goes out with `ok` true."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.methods: Mapping[str, Method] = {
            "auth.test": self._auth_test,
            "chat.postMessage": self._post_message,
            "chat.update": self._update,
            "chat.delete": self._delete,
            "chat.postEphemeral": self._post_ephemeral,
            "conversations.open": self._open,
            "conversations.info": self._info,
            "conversations.history": self._history,
            "users.info": self._user,
            "views.open": self._views_open,
            "views.update": self._views_update,
            "views.publish": self._views_publish,
            "files.getUploadURLExternal": self._begin_upload,
            "files.completeUploadExternal": self._complete_upload,
            "files.info": self._file,
            "assistant.threads.setStatus": self._set_status,
        }

    def installer(self) -> JsonObject:
        """What `auth.test` says to a person's token: it has no bot."""
        return {
            "url": "https://example.slack.com/",
            "team": "Example",
            "user": "ada",
            "team_id": TEAM,
            "user_id": "U1",
        }

    def _auth_test(self, _: Parameters) -> JsonObject:
        bot = self._world.bot
        return {
            "url": "https://example.slack.com/",
            "team": "Example",
            "user": bot.name,
            "team_id": TEAM,
            "user_id": bot.id,
            "bot_id": bot.bot_id,
            "is_enterprise_install": False,
        }

    # Messages

    def _post_message(self, given: Parameters) -> JsonObject:
        chat = self._target(given.needed("channel", "channel_not_found"))
        text, blocks = given.text("text"), given.decoded("blocks") or []
        rules.check_message(text, blocks)
        known = self._already_sent(chat, given.text("client_msg_id"))
        if known is not None:
            return {"channel": chat.id, "ts": known.ts, "message": known.to_json()}
        message = Message(
            chat=chat,
            ts=self._world.next_ts(),
            user=self._world.bot.id,
            bot_id=self._world.bot.bot_id,
            text=text,
            blocks=blocks,
            thread_ts=given.text("thread_ts"),
            client_msg_id=given.text("client_msg_id"),
            mrkdwn=given.flag("mrkdwn", True),
        )
        self._world.messages.append(message)
        return {"channel": chat.id, "ts": message.ts, "message": message.to_json()}

    def _update(self, given: Parameters) -> JsonObject:
        chat = self._world.writable(given.needed("channel", "channel_not_found"))
        message = self._world.find(chat.id, given.text("ts"))
        if message is None:
            raise ApiError("message_not_found")
        if message.user != self._world.bot.id:
            raise ApiError("cant_update_message")
        text = given.text("text")
        blocks = given.decoded("blocks")
        shown = message.blocks if blocks is None else blocks
        rules.check_message(text, shown, is_update=True)
        message.text, message.blocks, message.edits, message.mrkdwn = text, shown, message.edits + 1, True
        return {"channel": chat.id, "ts": message.ts, "text": text, "message": message.to_json()}

    def _delete(self, given: Parameters) -> JsonObject:
        chat = self._world.writable(given.needed("channel", "channel_not_found"))
        message = self._world.find(chat.id, given.text("ts"))
        if message is None:
            raise ApiError("message_not_found")
        if message.user != self._world.bot.id:
            raise ApiError("cant_delete_message")
        self._world.messages.remove(message)
        return {"channel": chat.id, "ts": message.ts}

    def _post_ephemeral(self, given: Parameters) -> JsonObject:
        chat, user = self._world.writable(given.needed("channel", "channel_not_found")), given.needed("user")
        if user not in chat.members:
            raise ApiError("user_not_in_channel")
        rules.check_message(given.text("text"), given.decoded("blocks") or [])
        whisper = Message(
            chat=chat,
            ts=self._world.next_ts(),
            user=self._world.bot.id,
            text=given.text("text"),
            blocks=given.decoded("blocks") or [],
            thread_ts=given.text("thread_ts"),
            seen_by=user,
        )
        self._world.messages.append(whisper)
        return {"message_ts": whisper.ts}

    # Conversations and people

    def _open(self, given: Parameters) -> JsonObject:
        users = given.needed("users").split(",")
        for user_id in users:
            self._world.user(user_id)
        if len(users) != 1:
            raise ApiError("invalid_user_combination")
        if self._world.user(users[0]).is_bot:
            raise ApiError("cannot_dm_bot")
        return {"channel": {"id": self._world.direct(users[0]).id}}

    def _info(self, given: Parameters) -> JsonObject:
        chat = self._world.chats.get(given.needed("channel"))
        if chat is None:
            raise ApiError("channel_not_found")
        return {"channel": {"id": chat.id, "name": chat.name, "is_im": chat.kind == "im"}}

    def _history(self, given: Parameters) -> JsonObject:
        """The newest messages outside threads, newest first."""
        chat = self._world.readable(given.needed("channel", "channel_not_found"))
        found = [one for one in self._world.messages if one.chat is chat and not one.seen_by]
        roots = [one.to_json() for one in found if one.thread_ts in ("", one.ts)]
        limit = int(given.text("limit") or 100)
        return {"messages": roots[::-1][:limit], "has_more": len(roots) > limit}

    def _user(self, given: Parameters) -> JsonObject:
        return {"user": self._world.user(given.needed("user")).to_json()}

    # Views

    def _views_open(self, given: Parameters) -> JsonObject:
        shown = given.decoded("view") or {}
        rules.check_view(shown)
        view = self._new_view(self._world.spend_trigger(given.text("trigger_id")), shown)
        self._world.views[view.id] = view
        return {"view": view.to_json()}

    def _views_update(self, given: Parameters) -> JsonObject:
        view = self._world.views.get(given.text("view_id"))
        if view is None or not view.is_open:
            raise ApiError("not_found")
        shown = given.decoded("view") or {}
        rules.check_view(shown)
        view.shown, view.hash = shown, f"h{self._world.next_id()}"
        view.history.append(shown)
        return {"view": view.to_json()}

    def _views_publish(self, given: Parameters) -> JsonObject:
        user_id, shown = given.needed("user_id"), given.decoded("view") or {}
        self._world.user(user_id)
        rules.check_view(shown)
        before = self._world.homes.get(user_id)
        view = before or self._new_view(user_id, shown)
        if before is not None:
            view.shown, view.hash = shown, f"h{self._world.next_id()}"
            view.history.append(shown)
        self._world.homes[user_id] = view
        return {"view": view.to_json()}

    def _new_view(self, user_id: str, shown: JsonObject) -> View:
        return View(f"V{self._world.next_id()}", user_id, shown, f"h{self._world.next_id()}", [shown])

    # Files

    def _begin_upload(self, given: Parameters) -> JsonObject:
        name, size = given.needed("filename"), given.needed("length")
        if not size.isdigit() or int(size) < 1:
            raise ApiError("invalid_arguments")
        file_id = f"F{self._world.next_id()}"
        url = f"{self._world.base_url}/upload/{file_id}"
        self._world.uploads[file_id] = StoredFile(file_id, name, "", b"", url, subtype=size)
        return {"upload_url": url, "file_id": file_id}

    def upload(self, file_id: str, content: bytes) -> None:
        """What was posted to an upload address. Raises ApiError when it is not what was announced."""
        begun = self._world.uploads.get(file_id)
        if begun is None or len(content) != int(begun.subtype):
            raise ApiError("upload_failed", 400)
        stored = StoredFile(file_id, begun.name, "application/octet-stream", content, begun.url)
        self._world.files[file_id] = stored

    def _complete_upload(self, given: Parameters) -> JsonObject:
        wanted = given.decoded("files") or []
        files = [self._world.files.get(str(each.get("id"))) for each in wanted]
        if not files or None in files:
            raise ApiError("file_not_found")
        if channel := given.text("channel_id"):
            self._world.messages.append(
                Message(
                    chat=self._target(channel),
                    ts=self._world.next_ts(),
                    user=self._world.bot.id,
                    bot_id=self._world.bot.bot_id,
                    text=given.text("initial_comment"),
                    thread_ts=given.text("thread_ts"),
                    files=[file for file in files if file is not None],
                )
            )
        return {"files": [{"id": each["id"], "title": each.get("title", "")} for each in wanted]}

    def _file(self, given: Parameters) -> JsonObject:
        file = self._world.files.get(given.needed("file", "file_not_found"))
        if file is None:
            raise ApiError("file_not_found")
        return {"file": file.to_json()}

    def _set_status(self, given: Parameters) -> JsonObject:
        chat = self._world.writable(given.needed("channel_id", "channel_not_found"))
        self._world.statuses.append((chat.id, given.needed("thread_ts"), given.text("status")))
        return {}

    # Inside

    def _target(self, channel: str) -> Chat:
        """Where a message goes: a chat, or the direct chat of the person whose id it is."""
        if channel.startswith("U"):
            self._world.user(channel)
            return self._world.direct(channel)
        return self._world.writable(channel)

    def _already_sent(self, chat: Chat, client_msg_id: str) -> Message | None:
        sent = (
            one for one in self._world.messages if one.chat is chat and one.client_msg_id == client_msg_id
        )
        return next(sent, None) if client_msg_id else None
