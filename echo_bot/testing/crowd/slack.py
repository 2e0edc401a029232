"""A crowd on the Slack emulator, Socket Mode."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from echo_bot.channel import ChannelSettings
from echo_bot.testing.crowd.crowd import Crowd, Overheard
from echo_bot.testing.slack import BOT, Message, SlackEmulator

_PRIME = 7919


class SlackCrowd(Crowd):
    platform = "slack"

    def __init__(self, chats: int) -> None:
        super().__init__(chats)
        self.emulator = SlackEmulator()
        self.emulator.world.messages = Overheard(self._posted)
        self.people = tuple(f"U{number + 1}" for number in range(chats))
        self._chats = [self.emulator.user(person).dm() for person in self.people]
        self._numbers = {chat.chat.id: number for number, chat in enumerate(self._chats)}
        self._picks = itertools.count(_PRIME, _PRIME)

    @property
    def settings(self) -> ChannelSettings:
        secrets = {"bot_token": self.emulator.bot_token, "app_token": self.emulator.app_token}
        return ChannelSettings("", self.emulator.url, options={"mode": "socket"}, secrets=secrets)

    async def _open(self) -> None:
        await self.emulator.start()

    async def _close(self) -> None:
        await self.emulator.stop()

    def _write(self, chat: int, text: str) -> None:
        self._chats[chat].say(text)

    def _posted(self, message: Message) -> None:
        if message.user == BOT.id:
            self._hear(self._numbers[message.chat.id], message.words)

    def _kinds_of_trouble(self) -> Sequence[Callable[[], object]]:
        sockets = self.emulator.sockets
        return (
            lambda: self.emulator.fail("chat.postMessage", retry_after=1),
            lambda: self.emulator.drop("chat.postMessage", times=2),
            lambda: self._repeat_one(same_envelope=False),
            sockets.drop,
            lambda: self.emulator.drop("chat.postMessage", after=True),
            lambda: self.emulator.fail("chat.postMessage", status=503, after=True),
            lambda: self._repeat_one(same_envelope=True),
            lambda: sockets.tell_to_go("refresh_requested"),
        )

    def _repeat_one(self, *, same_envelope: bool) -> None:
        deliveries = self.emulator.deliveries
        if deliveries:
            picked = deliveries[next(self._picks) % len(deliveries)]
            self.emulator.redeliver(picked, same_envelope=same_envelope)
