"""May this sender speak here, and should this event be heard: access, pairing, group gating, age."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from echo_bot.agent.directive import split_command
from echo_bot.approval.approvers import read_paired
from echo_bot.events import Identity, InboundEvent
from echo_bot.policy import access
from echo_bot.policy.settings import AccessSettings
from echo_bot.storage.protocol import People
from echo_bot.text.language import N_, _, listed

GroupPolicy = Literal["mention", "open", "off"]

_MAX_MISSES = 5
_LOCK = timedelta(minutes=10)
_STRANGER_NOTICE = timedelta(hours=1)

REFUSAL = N_("This bot does not know you, so it did nothing. Ask whoever runs it to let you in.")
STRANGER_LINE = N_("This bot does not know you. Send /pair and the code you were given.")


def code_hash(code: str) -> str:
    """How pairing codes are stored: case and blanks do not matter."""
    return hashlib.sha256("".join(code.split()).upper().encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Pairing:
    """What came of a `/pair`: the sentence for the sender."""

    sentence: str
    paired: bool


class Admission:
    """The access rules over live state."""

    def __init__(
        self,
        settings: AccessSettings,
        people: People,
        *,
        group_policies: Mapping[str, GroupPolicy],
        clock: Callable[[], datetime],
    ) -> None:
        self._settings, self._people, self._clock = settings, people, clock
        self._group_policies = group_policies
        self._stranger_told: dict[str, datetime] = {}

    async def admits(self, sender: Identity) -> bool:
        return access.may_speak(sender, self._settings, await read_paired(self._people))

    async def persons(self, channel: str, account: str) -> tuple[str, ...]:
        """The ids of those who may speak on an account and are known one by one."""
        return access.listed_ids(channel, account, self._settings, await read_paired(self._people))

    async def is_star_only(self, sender: Identity) -> bool:
        """Admitted by "*" alone: the path policy then keeps to the workspace."""
        return access.is_restricted_by_star(sender, self._settings, await read_paired(self._people))

    def is_for_us(self, event: InboundEvent) -> bool:
        """Group gating: a mention, a reply to the bot, or a command; other bots are not heard."""
        if event.from_bot:
            return False
        if not event.is_group:
            return True
        key = f"{event.channel}/{event.account}" if event.account else event.channel
        match self._group_policies.get(key, "mention"):
            case "off":
                return False
            case "open":
                return True
            case "mention":
                return event.mentioned or event.reply_to_is_own or bool(split_command(event.text)[0])

    async def refusal(self) -> str:
        """What a stranger is told who has to be told something."""
        return _(STRANGER_LINE) if await self._people.open_codes(self._clock()) else _(REFUSAL)

    async def stranger_line(self, sender: Identity) -> str:
        """With pairing on, one line an hour; otherwise nothing."""
        now = self._clock()
        if not await self._people.open_codes(now):
            return ""
        told = self._stranger_told.get(str(sender))
        if told is not None and now - told < _STRANGER_NOTICE:
            return ""
        if len(self._stranger_told) > 1000:
            self._stranger_told.clear()
        self._stranger_told[str(sender)] = now
        return _(STRANGER_LINE)

    async def pair(self, event: InboundEvent, code: str) -> Pairing:
        """Redeem a one-time code, in a direct chat only; five misses lock the sender for ten minutes."""
        if event.is_group:
            return Pairing(_("Send /pair in a direct chat with the bot, not in a group."), paired=False)
        if not code.strip():
            return Pairing(_("Write: /pair and the code you were given."), paired=False)
        now, who = self._clock(), str(event.sender)
        if await self._people.misses(who, now - _LOCK) >= _MAX_MISSES:
            return Pairing(_("Too many wrong codes. Try again in ten minutes."), paired=False)
        paired = await self._people.redeem(code_hash(code), who, now)
        if paired is None:
            return Pairing(_("That code is wrong or has expired. Ask for a new one."), paired=False)
        told = _("Paired. You may now use this bot ({roles}). /help shows how.")
        return Pairing(told.format(roles=listed(paired.roles)), paired=True)
