"""What a chat is told once, and not with every message: a decision is open, a pause, a late arrival."""

from __future__ import annotations

from datetime import datetime, timedelta

from echo_bot.delivery import Delivery
from echo_bot.events import Address, InboundEvent, SessionKey, TurnId
from echo_bot.session import Pausing, turn_id_of
from echo_bot.text.language import _


class Notices:
    def __init__(self, delivery: Delivery, pausing: Pausing) -> None:
        self._delivery, self._pausing = delivery, pausing
        self._waiting: dict[SessionKey, TurnId] = {}
        self._paused: dict[SessionKey, datetime] = {}
        self._late: dict[Address, datetime] = {}

    async def waits(self, event: InboundEvent, key: SessionKey, for_turn: TurnId) -> None:
        """This message comes after a turn that waits for a person."""
        if self._waiting.get(key) != for_turn:
            self._waiting[key] = for_turn
            await self.say(event, _("A decision is open in this chat; I will read this once it is made."))

    async def is_held(self, event: InboundEvent, key: SessionKey) -> None:
        """Say so if the session is paused: the message is stored and waits."""
        pause = self._pausing.pause_of(key)
        if pause is None or self._paused.get(key) == pause.at:
            return
        self._paused[key] = pause.at
        if self._pausing.is_paused():
            told = _("Paused: I will read this after an admin's `/resume`.")
        else:
            told = _("Paused: I will read this after `/resume`.")
        await self.say(event, told, "paused")

    async def too_late(self, event: InboundEvent, now: datetime, backlog: timedelta) -> None:
        told_at = self._late.get(event.address)
        if told_at is None or now - told_at > backlog:
            self._late[event.address] = now
            await self.say(
                event, _("I was away, and your earlier messages are too old to act on. Send them again.")
            )

    async def say(self, event: InboundEvent, text: str, what: str = "answer") -> None:
        source = f"{turn_id_of(event)}:{what}"
        await self._delivery.send(
            event.address, text, source=source, is_own=True, reply_to_id=event.message_id
        )
