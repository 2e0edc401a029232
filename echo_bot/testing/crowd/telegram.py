"""A crowd on the Telegram emulator, long polling."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from echo_bot.channel import ChannelSettings
from echo_bot.testing.crowd.crowd import Crowd, Overheard
from echo_bot.testing.telegram import Message, TelegramEmulator

_FIRST_PERSON = 5001
_PRIME = 7919


class TelegramCrowd(Crowd):
    platform = "telegram"

    def __init__(self, chats: int) -> None:
        super().__init__(chats)
        self.emulator = TelegramEmulator()
        self.emulator.world.messages = Overheard(self._posted)
        persons = [self.emulator.user(_FIRST_PERSON + number) for number in range(chats)]
        self.people = tuple(str(person.user.id) for person in persons)
        self._chats = [person.chat() for person in persons]
        self._numbers = {chat.chat_id: number for number, chat in enumerate(self._chats)}
        self._picks = itertools.count(_PRIME, _PRIME)

    @property
    def settings(self) -> ChannelSettings:
        return ChannelSettings("", api_base=self.emulator.url, secrets={"token": self.emulator.token})

    async def _open(self) -> None:
        await self.emulator.start()

    async def _close(self) -> None:
        await self.emulator.stop()

    def _write(self, chat: int, text: str) -> None:
        self._chats[chat].say(text)

    def _posted(self, message: Message) -> None:
        if message.sender == self.emulator.bot:
            self._hear(self._numbers[message.chat.id], message.text)

    def _kinds_of_trouble(self) -> Sequence[Callable[[], object]]:
        return (
            lambda: self.emulator.fail("sendMessage", 429, retry_after=1),
            lambda: self.emulator.drop("sendMessage", times=2),
            lambda: self.emulator.drop("sendMessage", after=True),
            self._repeat_one,
            lambda: self.emulator.drop("getUpdates", after=True),
            lambda: self.emulator.fail("sendMessage", 502, "Bad Gateway"),
            self._repeat_one,
            lambda: self.emulator.fail("getUpdates", 429, retry_after=1),
            lambda: self.emulator.fail("getUpdates", 500),
        )

    def _repeat_one(self) -> None:
        history = self.emulator.world.updates.history
        self.emulator.redeliver(history[next(self._picks) % len(history)] if history else None)
