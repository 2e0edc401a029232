"""The person's side: read messages, ask the cards one by one, send both to the core."""

from __future__ import annotations

import asyncio
import re
import uuid
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.utils import get_cwidth

from channels.cli import render
from channels.cli.cards import CardLine, OpenCard
from channels.cli.clean import clean, clean_line
from channels.cli.inbound import CHAT, SENDER, event_of
from channels.cli.keys import KeyedButton, keyed
from channels.cli.prompts import MARK, Interrupted, Leave, Prompts
from channels.cli.screen import Screen
from channels.cli.typeahead import QUIET_SECONDS, drop_typed, drop_until_quiet
from channels.cli.working import Working
from echo_bot.channel import Port, Prompt
from echo_bot.errors import EchoBotError
from echo_bot.events import Button, ButtonPress, Card, PressReply
from echo_bot.text.language import N_, _, listed

_LEAVE_WORDS = frozenset({"/exit", "/quit"})
_WORD = re.compile(r"[^\W_]+")
_CLOSING_SECONDS = 1.0
_GAP = "  "
_HOW_TO_EDIT = N_("Enter sends it, unchanged it goes back; Alt-Enter begins a new line")
_DEADLINE_PAUSES = (0.1, 0.4, 1.0, 3.0)


class Conversation:
    """Runs until the person leaves. Free text never decides a card: only its keys do."""

    def __init__(
        self, port: Port, source: Input, screen: Screen, prompts: Prompts, cards: CardLine, working: Working
    ) -> None:
        self._port, self._source, self._screen = port, source, screen
        self._prompts, self._cards, self._working = prompts, cards, working
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()
        self._offers: dict[str, tuple[Button, str]] = {}
        self.last_event_at: datetime | None = None
        self.is_closing = False

    async def run(self) -> None:
        """Raises Leave when the person wants to go; returns when `is_closing` was set."""
        while not self.is_closing:
            try:
                waiting = self._cards.first()
                if waiting is not None:
                    await self._decide(waiting)
                else:
                    self.say(await self._prompts.message())
            except Interrupted:
                continue

    def say(self, text: str) -> None:
        """Queue a message to the core; the prompt is free again at once."""
        words = text.strip()
        if words.lower() in _LEAVE_WORDS:
            raise Leave
        if words:
            self._working.asked()
            self._outgoing.put_nowait(words)

    def offer(self, card: Card, message_id: str) -> tuple[str, ...]:
        """Commands for the buttons of a closed card, like /ask-again: nobody has to answer those now."""
        named = {_command_of(button.label): (button, message_id) for button in card.buttons}
        self._offers = {name: offered for name, offered in named.items() if len(name) > 1}
        return tuple(self._offers)

    async def send(self) -> None:
        """Hand the messages over, in their order, for ever."""
        while True:
            text = await self._outgoing.get()
            offered = self._offers.pop(text.lower(), None)
            if offered is None:
                await self._receive(text)
                continue
            reply = await self._pressed(*offered)
            await self._screen.show(render.hint(reply.text) if reply.ok else render.refusal(reply.text))

    async def _receive(self, text: str) -> None:
        self.last_event_at = datetime.now(UTC)
        try:
            is_taken = await self._port.receive(event_of(text, self.last_event_at))
        except EchoBotError as error:
            await self._screen.show(
                render.refusal(_("Not stored: {problem} Write it again.").format(problem=error))
            )
            return
        if not is_taken:
            await self._screen.show(render.hint(not_taken(str(SENDER))))

    async def _decide(self, waiting: OpenCard) -> None:
        """Ask one card until it is closed, here or elsewhere."""
        was_typing = self._prompts.seconds_since_key() < QUIET_SECONDS
        drop_typed(self._source)
        await self._screen.show(render.card(waiting.card))
        if was_typing:
            await drop_until_quiet(self._source)
        clock = asyncio.create_task(self._learn_deadline(waiting), name="cli deadline")
        try:
            await self._ask(waiting)
        finally:
            clock.cancel()
            await asyncio.wait({clock})

    async def _ask(self, waiting: OpenCard) -> None:
        while not waiting.closed.is_set() and not self.is_closing:
            keys = keyed(waiting.card.buttons)
            line = (await self._prompts.answer(_question(waiting, keys, self._screen.columns))).strip()
            pressed = next((each for each in keys if each.key == line.lower()), None)
            if pressed is not None:
                self._cards.answers_a_command = False
                await self._press(waiting, pressed.button)
            elif line.startswith("/"):
                self._cards.answers_a_command = True
                self.say(line)
            else:
                told = _("Nothing was decided. One of these keys, then Enter: {keys}")
                names = listed(each.key for each in keys)
                await self._screen.show(render.hint(told.format(keys=names)))

    async def _learn_deadline(self, waiting: OpenCard) -> None:
        """The clock of a card starts once it was delivered, so the card itself may not know its end."""
        for pause in _DEADLINE_PAUSES:
            if waiting.card.deadline is not None:
                return
            await asyncio.sleep(pause)
            with suppress(EchoBotError):
                for card in await self._port.pending(SENDER):
                    if card.card_id == waiting.card.card_id:
                        waiting.card = replace(waiting.card, deadline=card.deadline)

    async def _press(self, waiting: OpenCard, button: Button) -> None:
        text = ""
        if button.prompt:
            asked = await self._asked(button, waiting.message_id)
            if isinstance(asked, PressReply):
                await self._tell(waiting, asked)
                return
            text = await self._words(waiting, asked)
        if waiting.closed.is_set():
            return
        reply = await self._pressed(button, waiting.message_id, text)
        waiting.draft = "" if reply.ok else text
        await self._tell(waiting, reply)

    async def _words(self, waiting: OpenCard, asked: Prompt) -> str:
        """What is written to a button's question; an edit begins with the call, or with what was refused."""
        question: StyleAndTextTuples = [("", f"{clean(asked.question)}\n")]
        if not asked.initial:
            return (await self._prompts.answer([*question, ("class:ask", MARK)])).strip()
        question += [("class:faint", f"{_(_HOW_TO_EDIT)}\n"), ("class:ask", MARK)]
        return await self._prompts.answer(question, waiting.draft or asked.initial)

    async def _asked(self, button: Button, message_id: str) -> Prompt | PressReply:
        try:
            return await self._port.prompt(_button_press(button, message_id))
        except EchoBotError as error:
            return PressReply(_("Not asked: {problem}").format(problem=error), ok=False)

    async def _pressed(self, button: Button, message_id: str, text: str = "") -> PressReply:
        try:
            return await self._port.press(_button_press(button, message_id, text))
        except EchoBotError as error:
            return PressReply(_("Not decided: {problem}").format(problem=error), ok=False)

    async def _tell(self, waiting: OpenCard, reply: PressReply) -> None:
        """A refusal as it is. A decision is told by the closed card; else, as with a quorum, by the reply."""
        if not reply.ok:
            await self._screen.show(render.refusal(reply.text))
            return
        try:
            await asyncio.wait_for(waiting.closed.wait(), _CLOSING_SECONDS)
        except TimeoutError:
            await self._screen.show(render.hint(reply.text))
            self._cards.answered(waiting.card.card_id)


def not_taken(who: str) -> str:
    return _("Not taken. {who} may not write here, or not so much.").format(who=who)


def _command_of(label: str) -> str:
    return "/" + "-".join(_WORD.findall(label.lower()))


def _question(waiting: OpenCard, keys: tuple[KeyedButton, ...], columns: int) -> StyleAndTextTuples:
    """The keys of a card, and which card it is: other messages may stand between the card and its prompt."""
    short = f" ({clean_line(waiting.card.short_id)})" if waiting.card.short_id else ""
    shown: StyleAndTextTuples = []
    used = 0
    for each in keys:
        gap = _GAP if used else ""
        used += len(gap) + get_cwidth(each.text)
        if gap and used > columns:
            gap, used = "\n", get_cwidth(each.text)
        before, marked, after = each.parts
        shown += [("", gap + before), ("class:key", f"[{marked}]"), ("", after)]
    return [
        *shown,
        ("", "\n"),
        ("class:faint", _("Key, then Enter{card} ").format(card=short)),
        ("class:ask", MARK),
    ]


def _button_press(button: Button, message_id: str, text: str = "") -> ButtonPress:
    return ButtonPress(
        press_id=uuid.uuid4().hex,
        token=button.token,
        presser=SENDER,
        address=CHAT,
        message_id=message_id,
        text=text,
    )
