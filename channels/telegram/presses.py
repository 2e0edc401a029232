"""From a press to a decision: claim through the port, answer Telegram's query, ask for words where needed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import structlog
from telegram import CallbackQuery, ForceReply, Message, MessageEntity, ReplyParameters, User
from telegram.error import TelegramError

from channels.telegram.client import TelegramBot
from channels.telegram.errands import Errands
from channels.telegram.inbound import NAME, thread_of
from channels.telegram.keyboard import read_callback_data
from echo_bot.channel import LengthUnit, Port
from echo_bot.events import Address, Button, ButtonPress, Identity, PressReply
from echo_bot.text.measure import measure

Key = TypeVar("Key")
Value = TypeVar("Value")

log = structlog.get_logger(__name__)

MAX_ANSWER_CHARACTERS = 200
_REMEMBERED = 500
_ANY_QUESTION = "What should be passed along?"
_HOW_TO_ANSWER = "Reply to this message."


@dataclass(frozen=True, slots=True)
class _Question:
    """A question that stands in a chat: whose reply to it completes which press."""

    press: ButtonPress
    asked: str


class Presses:
    """Hands presses to the port. One that cannot be stored raises, so that Telegram delivers it again."""

    def __init__(self, bot: TelegramBot, port: Port, account: str, errands: Errands) -> None:
        self._bot, self._port, self._account, self._errands = bot, port, account, errands
        self._prompts: OrderedDict[str, str] = OrderedDict()
        self._asked: OrderedDict[str, None] = OrderedDict()
        self._questions: OrderedDict[tuple[str, str], _Question] = OrderedDict()

    def remember(self, buttons: Iterable[Button]) -> None:
        """Keep what the buttons of a card will ask for."""
        for button in buttons:
            if button.prompt:
                self._prompts[button.token] = button.prompt
                _bound(self._prompts)

    async def take(self, query: CallbackQuery) -> None:
        """Decide with a press, or ask its presser for words. Every press gets an answer."""
        token, asks = read_callback_data(query.data or "")
        press = _press_of(query, token, self._account)
        if asks and await self._port.admits(press.presser):
            self._ask_once(query, press)
            return
        reply = await self._port.press(press)
        self._errands.run(self._answer(query.id, reply), "telegram:answer")

    async def take_words(self, message: Message) -> bool:
        """Is the message the presser's reply to a question of ours? Then it completes the press."""
        replied = message.reply_to_message
        if replied is None or message.from_user is None or message.text is None:
            return False
        question = self._questions.get((str(message.chat.id), str(replied.message_id)))
        if question is None or question.press.presser.sender_id != str(message.from_user.id):
            return False
        reply = await self._port.press(_with_words(question.press, message))
        self._errands.run(self._say(message, reply), "telegram:outcome")
        return True

    def _ask_once(self, query: CallbackQuery, press: ButtonPress) -> None:
        if press.press_id in self._asked:
            return
        self._asked[press.press_id] = None
        _bound(self._asked)
        self._errands.run(self._answer(query.id, PressReply(_HOW_TO_ANSWER)), "telegram:answer")
        self._errands.run(self._ask(query.from_user, press), "telegram:ask")

    async def _ask(self, presser: User, press: ButtonPress) -> None:
        """Ask by a message that only the presser's client turns into an open reply."""
        prompt = self._prompts.get(press.token, _ANY_QUESTION)
        text = f"{presser.full_name}: {prompt}\n{_HOW_TO_ANSWER}"
        name = MessageEntity(
            MessageEntity.TEXT_MENTION, 0, measure(presser.full_name, LengthUnit.UTF16), user=presser
        )
        try:
            asked = await self._bot.send_message(
                press.address.chat_id,
                text,
                entities=[name],
                message_thread_id=int(press.address.thread_id) if press.address.thread_id else None,
                reply_parameters=_answering(press.message_id),
                reply_markup=ForceReply(selective=True, input_field_placeholder=prompt[:64]),
            )
        except TelegramError:
            log.warning("telegram_question_not_sent", account=self._account, press=press.press_id)
            return
        self._questions[(press.address.chat_id, str(asked.message_id))] = _Question(press, prompt)
        _bound(self._questions)

    async def _answer(self, query_id: str, reply: PressReply) -> None:
        """Best effort: the decision stands whether or not Telegram takes the answer."""
        try:
            await self._bot.answer_callback_query(
                query_id, text=_answer_text(reply.text), show_alert=not reply.ok
            )
        except TelegramError:
            log.info("telegram_press_not_answered", account=self._account, query=query_id)

    async def _say(self, message: Message, reply: PressReply) -> None:
        """Tell who completed a press by words; there is no query left to answer."""
        thread = thread_of(message)
        try:
            await self._bot.send_message(
                message.chat.id,
                reply.text or "Done.",
                message_thread_id=int(thread) if thread else None,
                reply_parameters=_answering(str(message.message_id)),
                disable_notification=reply.ok,
            )
        except TelegramError:
            log.info("telegram_outcome_not_said", account=self._account, message=message.message_id)


def _press_of(query: CallbackQuery, token: str, account: str) -> ButtonPress:
    """A press on a message that Telegram no longer shows the bot still names its chat."""
    message = query.message
    thread = thread_of(message) if isinstance(message, Message) else ""
    chat_id = message.chat.id if message is not None else query.from_user.id
    return ButtonPress(
        press_id=f"query:{query.id}",
        token=token,
        presser=Identity(NAME, str(query.from_user.id), account),
        address=Address(NAME, str(chat_id), thread, account),
        message_id=str(message.message_id) if message is not None else "",
        presser_name=query.from_user.full_name,
    )


def _with_words(press: ButtonPress, message: Message) -> ButtonPress:
    return ButtonPress(
        press_id=f"message:{message.chat.id}:{message.message_id}",
        token=press.token,
        presser=press.presser,
        address=press.address,
        message_id=press.message_id,
        presser_name=press.presser_name,
        text=message.text or "",
    )


def _answer_text(text: str) -> str | None:
    """What fits Telegram's answer; None shows nothing and only ends the button's waiting sign."""
    return f"{text[: MAX_ANSWER_CHARACTERS - 1]}…" if len(text) > MAX_ANSWER_CHARACTERS else text or None


def _answering(message_id: str) -> ReplyParameters | None:
    return ReplyParameters(int(message_id), allow_sending_without_reply=True) if message_id else None


def _bound(book: OrderedDict[Key, Value]) -> None:
    while len(book) > _REMEMBERED:
        book.popitem(last=False)
