"""Drafts whose sending was never answered: one that stands after all is taken away when its text follows."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial

import structlog
from telegram import Message
from telegram.error import BadRequest, TelegramError

from channels.telegram.client import DRAFT, TelegramBot
from channels.telegram.failures import is_not_modified
from channels.telegram.patience import patiently
from echo_bot.channel.errands import Errands

log = structlog.get_logger(__name__)

_MOST_CHATS = 200
_MOST_KNOWN = 50
_MOST_CANDIDATES = 8


class Strays:
    """Knows the latest messages of each chat since the start, and which chats may hold a stray draft.

    Telegram numbers messages in their order and tells nobody what stands in a chat. So a stray has a number
    between the last known message before it and the first that was sent after it. Only what the bot itself
    sent can be edited, which proves that a number is the stray's, and nobody's message is deleted.
    """

    def __init__(self, bot: TelegramBot, account: str, errands: Errands) -> None:
        self._bot, self._account, self._errands = bot, account, errands
        self._known: OrderedDict[int, list[int]] = OrderedDict()
        self._lost_after: dict[int, int] = {}
        self._under_way: Counter[int] = Counter()

    def heard(self, chat_id: int, message_id: int) -> None:
        """This message stands in the chat."""
        known = self._known.setdefault(chat_id, [])
        known.append(message_id)
        del known[:-_MOST_KNOWN]
        self._known.move_to_end(chat_id)
        while len(self._known) > _MOST_CHATS:
            forgotten, _ = self._known.popitem(last=False)
            self._lost_after.pop(forgotten, None)

    def lost(self, chat_id: int) -> None:
        """Nobody knows whether a draft was sent there."""
        if known := self._known.get(chat_id):
            self._lost_after.setdefault(chat_id, max(known))

    @contextmanager
    def sending(self, chat_id: int) -> Iterator[None]:
        """What is under way has a number that is not known yet, and is no stray."""
        self._under_way[chat_id] += 1
        try:
            yield
        finally:
            self._under_way[chat_id] -= 1
            if not self._under_way[chat_id]:
                del self._under_way[chat_id]

    async def say(self, chat_id: int, send: Callable[[], Awaitable[Message]]) -> Message:
        """`send` a message there that is no stray either. Raises what `send` raises."""
        with self.sending(chat_id):
            said = await send()
        self.sent(chat_id, said.message_id)
        return said

    def sent(self, chat_id: int, message_id: int) -> None:
        """A message was sent there; if a stray stands before it, it goes now.

        Neither a message that stood before the draft was lost, and whose answer comes late, says anything of
        the stray, nor one beside which another is under way: then it goes with a later one.
        """
        after = self._lost_after.get(chat_id, message_id)
        if after < message_id and not self._under_way[chat_id]:
            del self._lost_after[chat_id]
            between = set(range(after + 1, message_id)) - set(self._known.get(chat_id, ()))
            if len(between) <= _MOST_CANDIDATES:
                self._errands.run(self._remove(chat_id, sorted(between)), "telegram:stray")
        self.heard(chat_id, message_id)

    async def _remove(self, chat_id: int, candidates: list[int]) -> None:
        for message_id in candidates:
            if await self._is_ours(chat_id, message_id):
                try:
                    await patiently(partial(self._bot.delete_message, chat_id, message_id), self._bot.token)
                except TelegramError as error:
                    log.info("telegram_stray_draft_stays", error=type(error).__name__)

    async def _is_ours(self, chat_id: int, message_id: int) -> bool:
        edit = partial(self._bot.edit_message_text, "…", chat_id, message_id, rate_limit_args=DRAFT)
        try:
            await patiently(edit, self._bot.token)
        except BadRequest as error:
            return is_not_modified(error)
        except TelegramError:
            return False
        return True
