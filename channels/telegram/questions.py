"""Questions in the chat for a button that needs words, and the replies that answer them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import partial

from telegram import ForceReply, Message, MessageEntity, ReplyParameters, User

from channels.telegram.client import TelegramBot
from channels.telegram.inbound import NAME, thread_of
from channels.telegram.render import MAX_UNITS
from channels.telegram.strays import Strays
from echo_bot.channel import LengthUnit, Prompt
from echo_bot.events import Address, ButtonPress, Identity
from echo_bot.text.language import N_, _
from echo_bot.text.measure import measure

HOW_TO_ANSWER = N_("Reply to this message.")
_COPY_AND_CHANGE = N_("Copy this, change it and send it as a reply:")
_MAX_PLACEHOLDER = 64
_REMEMBERED = 500


@dataclass(frozen=True, slots=True)
class Question:
    """The words of a question and what is marked in them.

    The name of the person who is asked and the button's token are entities, which Telegram hands back with
    the reply: so a reply is understood after a restart too. A model's text can hold no such name entity, and
    a token alone decides nothing, since the core checks who presses.
    """

    text: str
    entities: tuple[MessageEntity, ...]

    @property
    def fits(self) -> bool:
        return measure(self.text, LengthUnit.UTF16) <= MAX_UNITS


def question_for(presser: User, press: ButtonPress, prompt: Prompt) -> Question:
    """`<name>: <question>`, the words to begin with as code, and the token as code at the end."""
    pieces: list[str] = []
    entities: list[MessageEntity] = []

    def add(text: str, kind: str = "", user: User | None = None) -> None:
        if kind:
            offset, length = (measure(each, LengthUnit.UTF16) for each in ("".join(pieces), text))
            entities.append(MessageEntity(kind, offset, length, user=user))
        pieces.append(text)

    add(presser.full_name, MessageEntity.TEXT_MENTION, presser)
    add(f": {prompt.question}\n")
    if prompt.initial:
        add(f"{_(_COPY_AND_CHANGE)}\n")
        add(prompt.initial, MessageEntity.PRE)
        add("\n")
    else:
        add(f"{_(HOW_TO_ANSWER)} ")
    add(press.token, MessageEntity.CODE)
    return Question("".join(pieces), tuple(entities))


class Questions:
    """Asks by a message that only the presser's client turns into an open reply."""

    def __init__(self, bot: TelegramBot, account: str, strays: Strays) -> None:
        self._bot, self._account, self._strays = bot, account, strays
        self._open: OrderedDict[tuple[str, str], ButtonPress] = OrderedDict()

    async def ask(self, question: Question, press: ButtonPress, prompt: Prompt) -> None:
        """Raises TelegramError when it could not be asked."""
        send = partial(
            self._bot.send_message,
            press.address.chat_id,
            question.text,
            entities=question.entities,
            message_thread_id=int(press.address.thread_id) if press.address.thread_id else None,
            reply_parameters=answering(press.message_id),
            reply_markup=ForceReply(
                selective=True, input_field_placeholder=prompt.question[:_MAX_PLACEHOLDER] or None
            ),
        )
        asked = await self._strays.say(int(press.address.chat_id), send)
        self._open[(press.address.chat_id, str(asked.message_id))] = press
        while len(self._open) > _REMEMBERED:
            self._open.popitem(last=False)

    def answered_by(self, message: Message) -> ButtonPress | None:
        """The press that this message completes: the presser's own reply, in words, to a question of ours."""
        asked, user = message.reply_to_message, message.from_user
        if asked is None or user is None or message.text is None:
            return None
        press = self._open.get((str(message.chat.id), str(asked.message_id)))
        if press is None:
            press = self._read(asked, message)
        if press is None or press.presser.sender_id != str(user.id):
            return None
        return ButtonPress(
            press_id=f"message:{message.chat.id}:{message.message_id}",
            token=press.token,
            presser=press.presser,
            address=press.address,
            message_id=press.message_id,
            presser_name=user.full_name,
            text=message.text,
        )

    def _read(self, asked: Message, message: Message) -> ButtonPress | None:
        """What a question from before a restart says of itself; who was asked is the name's user."""
        if asked.from_user is None or asked.from_user.id != self._bot.id or len(asked.entities) < 2:
            return None
        name, token = asked.entities[0], asked.entities[-1]
        if name.type != MessageEntity.TEXT_MENTION or name.user is None or name.offset:
            return None
        if token.type != MessageEntity.CODE or not (asked.text or "").endswith(asked.parse_entity(token)):
            return None
        return ButtonPress(
            press_id="",
            token=asked.parse_entity(token),
            presser=Identity(NAME, str(name.user.id), self._account),
            address=Address(NAME, str(message.chat.id), thread_of(message), self._account),
        )


def answering(message_id: str) -> ReplyParameters | None:
    return ReplyParameters(int(message_id), allow_sending_without_reply=True) if message_id else None
