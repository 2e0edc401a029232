"""A crowd on the Discord emulator."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from echo_bot.channel import ChannelSettings
from echo_bot.testing.crowd.crowd import Crowd
from echo_bot.testing.discord import DiscordEmulator
from echo_bot.testing.discord.shown import visible
from echo_bot.testing.waiting import PATIENCE_SECONDS

_MESSAGES = "/channels/*/messages"
_PRIME = 7919


class DiscordCrowd(Crowd):
    platform = "discord"

    def __init__(self, chats: int) -> None:
        super().__init__(chats)
        self.emulator = DiscordEmulator(first_answer_seconds=PATIENCE_SECONDS)
        persons = [self.emulator.user(f"Person{number + 1}") for number in range(chats)]
        self.people = tuple(person.id for person in persons)
        self._chats = [person.dm() for person in persons]
        self._numbers = {chat.id: number for number, chat in enumerate(self._chats)}
        self._payloads: list[Mapping[str, Any]] = []
        self._picks = itertools.count(_PRIME, _PRIME)
        self.emulator.world.backend.subscribers.append(self._happened)

    @property
    def settings(self) -> ChannelSettings:
        return ChannelSettings(
            "",
            api_base=self.emulator.api_base,
            options={"gateway_url": self.emulator.gateway_url},
            secrets={"token": self.emulator.token},
        )

    async def _open(self) -> None:
        await self.emulator.start()

    async def _close(self) -> None:
        await self.emulator.stop()

    def _write(self, chat: int, text: str) -> None:
        self._chats[chat].say(text)

    def _happened(self, event: str, payload: Mapping[str, Any]) -> None:
        if event != "MESSAGE_CREATE":
            return
        if str(payload["author"]["id"]) == self.emulator.bot_id:
            self._hear(self._numbers[str(payload["channel_id"])], visible(str(payload["content"])))
        else:
            self._payloads.append(payload)

    def _kinds_of_trouble(self) -> Sequence[Callable[[], object]]:
        return (
            lambda: self.emulator.fail("POST", _MESSAGES, 429, retry_after=0.5),
            lambda: self.emulator.drop("POST", _MESSAGES, times=2),
            self._repeat_one,
            self.emulator.cut,
            lambda: self.emulator.drop("POST", _MESSAGES, after=True),
            lambda: self.emulator.fail("POST", _MESSAGES, 502, after=True),
            self._repeat_one,
            self.emulator.ask_to_reconnect,
            lambda: self.emulator.fail("POST", _MESSAGES, 429, retry_after=3.1),
        )

    def _repeat_one(self) -> None:
        if self._payloads:
            picked = self._payloads[next(self._picks) % len(self._payloads)]
            self.emulator.gateway.emit("MESSAGE_CREATE", picked)
