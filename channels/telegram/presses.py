"""From a press to a decision: claim through the port, answer Telegram's query, ask for words where needed."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from functools import partial

import structlog
from telegram import CallbackQuery, Message, User
from telegram.error import TelegramError

from channels.telegram.client import TelegramBot
from channels.telegram.inbound import NAME, thread_of
from channels.telegram.keyboard import read_callback_data
from channels.telegram.patience import patiently
from channels.telegram.questions import HOW_TO_ANSWER, Questions, answering, question_for
from channels.telegram.strays import Strays
from echo_bot.channel import Port, Prompt
from echo_bot.channel.errands import Errands
from echo_bot.events import Address, ButtonPress, Identity, PressReply
from echo_bot.text.language import N_, _

log = structlog.get_logger(__name__)

MAX_ANSWER_CHARACTERS = 200
_REMEMBERED = 500
_TOO_LONG = N_("This is too long to be changed in Telegram. Change it on the bot's web page.")


class Presses:
    """Hands presses to the port. One that cannot be stored raises, so that Telegram delivers it again."""

    def __init__(self, bot: TelegramBot, port: Port, account: str, errands: Errands, strays: Strays) -> None:
        self._bot, self._port, self._account, self._errands = bot, port, account, errands
        self._strays = strays
        self._questions = Questions(bot, account, strays)
        self._asked: OrderedDict[str, None] = OrderedDict()

    async def take(self, query: CallbackQuery) -> None:
        """Decide with a press, or ask its presser for words. Every press gets an answer."""
        token, asks = read_callback_data(query.data or "")
        press = _press_of(query, token, self._account)
        if not asks:
            self._answer(query, await self._port.press(press))
        elif press.press_id not in self._asked:
            told = await self._port.prompt(press)
            self._asked[press.press_id] = None
            while len(self._asked) > _REMEMBERED:
                self._asked.popitem(last=False)
            self._answer(query, self._ask(query.from_user, press, told) if isinstance(told, Prompt) else told)

    async def take_words(self, message: Message) -> bool:
        """Is the message the presser's reply to a question of ours? Then it completes the press."""
        press = self._questions.answered_by(message)
        if press is None:
            return False
        reply = await self._port.press(press)
        self._errands.run(self._say(message, reply), "telegram:outcome")
        return True

    def _ask(self, presser: User, press: ButtonPress, prompt: Prompt) -> PressReply:
        """Ask in the chat; returns what to answer the press itself."""
        press = replace(press, address=prompt.address or press.address)
        question = question_for(presser, press, prompt)
        if not question.fits:
            return PressReply(_(_TOO_LONG), ok=False)

        async def ask() -> None:
            try:
                await patiently(lambda: self._questions.ask(question, press, prompt), self._bot.token)
            except TelegramError:
                self._asked.pop(press.press_id, None)
                log.warning("telegram_question_not_sent", account=self._account, press=press.press_id)

        self._errands.run(ask(), "telegram:ask")
        return PressReply(_(HOW_TO_ANSWER))

    def _answer(self, query: CallbackQuery, reply: PressReply) -> None:
        """Best effort: the decision stands whether or not Telegram takes the answer."""

        async def answer() -> None:
            try:
                await patiently(
                    lambda: self._bot.answer_callback_query(
                        query.id, text=_answer_text(reply.text), show_alert=not reply.ok
                    ),
                    self._bot.token,
                )
            except TelegramError:
                log.info("telegram_press_not_answered", account=self._account, query=query.id)

        self._errands.run(answer(), "telegram:answer")

    async def _say(self, message: Message, reply: PressReply) -> None:
        """Tell who completed a press by words; there is no query left to answer."""
        thread = thread_of(message)
        say = partial(
            self._bot.send_message,
            message.chat.id,
            reply.text or _("Done."),
            message_thread_id=int(thread) if thread else None,
            reply_parameters=answering(str(message.message_id)),
            disable_notification=reply.ok,
        )
        try:
            await patiently(lambda: self._strays.say(message.chat.id, say), self._bot.token)
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


def _answer_text(text: str) -> str | None:
    """What fits Telegram's answer; None shows nothing and only ends the button's waiting sign."""
    return f"{text[: MAX_ANSWER_CHARACTERS - 1]}…" if len(text) > MAX_ANSWER_CHARACTERS else text or None
