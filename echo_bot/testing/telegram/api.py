"""The Bot API's methods over the world, each with the checks that Telegram makes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from echo_bot.testing.telegram import markup, rules
from echo_bot.testing.telegram.detection import detected_entities
from echo_bot.testing.telegram.errors import ApiError
from echo_bot.testing.telegram.model import Chat, JsonObject, Message
from echo_bot.testing.telegram.parameters import Parameters
from echo_bot.testing.telegram.webhooks import Webhook, WebhookDelivery
from echo_bot.testing.telegram.world import QueryAnswer, World

Method = Callable[[Parameters], Awaitable[object]]

_NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same "
    "as a current content and reply markup of the message"
)


class BotApi:
    """`methods` maps each method's name in lower case (the Bot API ignores case) to what it does."""

    def __init__(self, world: World, delivery: WebhookDelivery) -> None:
        self._world, self._delivery = world, delivery
        self.methods: Mapping[str, Method] = {
            "getme": self._get_me,
            "getupdates": self._get_updates,
            "setwebhook": self._set_webhook,
            "deletewebhook": self._delete_webhook,
            "getwebhookinfo": self._get_webhook_info,
            "sendmessage": self._send_message,
            "senddocument": self._send_document,
            "editmessagetext": self._edit_message_text,
            "editmessagereplymarkup": self._edit_message_reply_markup,
            "deletemessage": self._delete_message,
            "setmessagereaction": self._set_message_reaction,
            "sendchataction": self._send_chat_action,
            "answercallbackquery": self._answer_callback_query,
            "setmycommands": self._set_my_commands,
            "getmycommands": self._get_my_commands,
            "deletemycommands": self._delete_my_commands,
            "getfile": self._get_file,
        }

    # Getting updates

    async def _get_me(self, _: Parameters) -> object:
        return self._world.bot.to_json() | {
            "can_join_groups": True,
            "can_read_all_group_messages": False,
            "supports_inline_queries": False,
        }

    async def _get_updates(self, parameters: Parameters) -> object:
        allowed = parameters.decoded("allowed_updates")
        updates = await self._world.updates.get(
            parameters.integer("offset"),
            parameters.integer("limit", 100),
            parameters.integer("timeout"),
            [str(kind) for kind in allowed] if isinstance(allowed, list) else [],
        )
        return [update.to_json() for update in updates]

    async def _set_webhook(self, parameters: Parameters) -> object:
        allowed = parameters.decoded("allowed_updates")
        webhook = Webhook(
            parameters.text("url"),
            parameters.text("secret_token"),
            [str(kind) for kind in allowed] if isinstance(allowed, list) else [],
            parameters.integer("max_connections", 40),
        )
        self._drop_if_told(parameters)
        await self._delivery.set(webhook if webhook.url else None)
        return True

    async def _delete_webhook(self, parameters: Parameters) -> object:
        self._drop_if_told(parameters)
        await self._delivery.set(None)
        return True

    def _drop_if_told(self, parameters: Parameters) -> None:
        if parameters.flag("drop_pending_updates"):
            self._world.updates.drop()

    async def _get_webhook_info(self, _: Parameters) -> object:
        updates, delivery = self._world.updates, self._delivery
        known: JsonObject = {
            "url": updates.webhook_url,
            "has_custom_certificate": False,
            "pending_update_count": len(updates.unconfirmed),
        }
        if delivery.webhook is not None:
            known |= {
                "max_connections": delivery.webhook.max_connections,
                "allowed_updates": list(delivery.webhook.allowed),
            }
        if delivery.last_error:
            known |= {
                "last_error_date": delivery.last_error_date,
                "last_error_message": delivery.last_error,
            }
        return known

    # Sending

    async def _send_message(self, parameters: Parameters) -> object:
        chat = self._target(parameters)
        text, entities = self._formatted(parameters, "text", "entities", rules.MAX_TEXT_UNITS)
        message = self._new_message(parameters, chat)
        message.text, message.entities = text, entities
        return self._world.post(message).to_json()

    async def _send_document(self, parameters: Parameters) -> object:
        chat = self._target(parameters)
        text, entities = "", list[JsonObject]()
        if parameters.text("caption"):
            text, entities = self._formatted(
                parameters, "caption", "caption_entities", rules.MAX_CAPTION_UNITS
            )
        upload = parameters.uploads.get(parameters.text("document").removeprefix("attach://") or "document")
        if upload is not None:
            stored = self._world.store_file(upload.name, upload.mime, upload.content)
        elif (known := self._world.files.get(parameters.text("document"))) is not None:
            stored = known
        else:
            raise ApiError.bad_request("there is no document in the request")
        message = self._new_message(parameters, chat)
        message.text, message.entities, message.media = text, entities, {"document": stored.to_json()}
        return self._world.post(message).to_json()

    async def _send_chat_action(self, parameters: Parameters) -> object:
        chat = self._target(parameters)
        self._world.typed.append((chat.id, self._thread(parameters, chat), parameters.text("action")))
        return True

    # Changing what was sent

    async def _edit_message_text(self, parameters: Parameters) -> object:
        message = self._own_message(parameters)
        text, entities = self._formatted(parameters, "text", "entities", rules.MAX_TEXT_UNITS)
        return self._change(message, text, entities, _markup(parameters))

    async def _edit_message_reply_markup(self, parameters: Parameters) -> object:
        message = self._own_message(parameters)
        return self._change(message, message.text, message.entities, _markup(parameters))

    async def _delete_message(self, parameters: Parameters) -> object:
        self._world.delete(self._message(parameters, "message to delete not found"))
        return True

    async def _set_message_reaction(self, parameters: Parameters) -> object:
        message = self._message(parameters, "message to react not found")
        emoji = tuple(str(item.get("emoji", "")) for item in parameters.objects("reaction"))
        rules.check_reactions(emoji, allowed=message.chat.allows_reactions)
        message.reactions = emoji
        return True

    # Everything else

    async def _answer_callback_query(self, parameters: Parameters) -> object:
        rules.check_answer(parameters.text("text"))
        answer = QueryAnswer(parameters.text("text"), parameters.flag("show_alert"))
        self._world.answer_query(parameters.text("callback_query_id"), answer)
        return True

    async def _set_my_commands(self, parameters: Parameters) -> object:
        commands = parameters.objects("commands")
        rules.check_commands(commands)
        self._world.commands[_scope(parameters)] = commands
        return True

    async def _get_my_commands(self, parameters: Parameters) -> object:
        return self._world.commands.get(_scope(parameters), [])

    async def _delete_my_commands(self, parameters: Parameters) -> object:
        self._world.commands.pop(_scope(parameters), None)
        return True

    async def _get_file(self, parameters: Parameters) -> object:
        stored = self._world.files.get(parameters.text("file_id"))
        if stored is None:
            raise ApiError.bad_request("invalid file_id")
        if self._world.local_folder is None and len(stored.content) > rules.MAX_DOWNLOAD_BYTES:
            raise ApiError.bad_request("file is too big")
        return {key: value for key, value in stored.to_json().items() if key.startswith("file_")} | {
            "file_path": self._world.path_of(stored)
        }

    # What several of them need

    def _target(self, parameters: Parameters) -> Chat:
        return self._world.chat(parameters.integer("chat_id"))

    def _thread(self, parameters: Parameters, chat: Chat) -> int:
        thread_id = parameters.integer("message_thread_id")
        if thread_id and thread_id not in chat.topics:
            raise ApiError.bad_request("message thread not found")
        if thread_id in chat.closed_topics:
            raise ApiError.bad_request("TOPIC_CLOSED")
        return thread_id

    def _formatted(
        self, parameters: Parameters, text_name: str, entities_name: str, limit: int
    ) -> tuple[str, list[JsonObject]]:
        source = parameters.text(text_name)
        if parameters.text("parse_mode"):
            text, entities = markup.parse(source, parameters.text("parse_mode"))
        else:
            text, entities = source, parameters.objects(entities_name)
        rules.check_text(text, limit)
        rules.check_entities(text, entities)
        return text, detected_entities(text, entities)

    def _new_message(self, parameters: Parameters, chat: Chat) -> Message:
        reply = parameters.mapping("reply_parameters") or {}
        reply_id = int(str(reply.get("message_id", parameters.integer("reply_to_message_id"))))
        reply_to = self._world.find(chat.id, reply_id) if reply_id else None
        lenient = reply.get("allow_sending_without_reply") or parameters.flag("allow_sending_without_reply")
        if reply_id and reply_to is None and not lenient:
            raise ApiError.bad_request("message to be replied not found")
        return Message(
            message_id=self._world.next_id(),
            date=self._world.now(),
            chat=chat,
            sender=self._world.bot,
            reply_markup=_markup(parameters),
            reply_to=reply_to,
            thread_id=self._thread(parameters, chat),
        )

    def _message(self, parameters: Parameters, missing: str) -> Message:
        chat = self._target(parameters)
        message = self._world.find(chat.id, parameters.integer("message_id"))
        if message is None:
            raise ApiError.bad_request(missing)
        return message

    def _own_message(self, parameters: Parameters) -> Message:
        message = self._message(parameters, "message to edit not found")
        if message.sender != self._world.bot:
            raise ApiError.bad_request("message can't be edited")
        return message

    def _change(
        self, message: Message, text: str, entities: list[JsonObject], keyboard: JsonObject | None
    ) -> object:
        if (text, entities, keyboard) == (message.text, message.entities, message.reply_markup):
            raise ApiError.bad_request(_NOT_MODIFIED)
        message.text, message.entities, message.reply_markup = text, entities, keyboard
        message.edit_date, message.edits = self._world.now(), message.edits + 1
        return message.to_json()


def _markup(parameters: Parameters) -> JsonObject | None:
    """The checked reply markup; an empty keyboard is none."""
    sent = parameters.mapping("reply_markup")
    rules.check_keyboard(sent)
    return None if sent is not None and sent.get("inline_keyboard") == [] else sent


def _scope(parameters: Parameters) -> str:
    """The commands' scope: its type, and the chat and member it is narrowed to."""
    scope = parameters.mapping("scope") or {}
    narrowed = (scope.get(name) for name in ("chat_id", "user_id"))
    return ":".join([str(scope.get("type", "default")), *(str(part) for part in narrowed if part)])
