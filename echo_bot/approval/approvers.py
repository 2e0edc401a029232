"""Who may decide a request and where its card goes: settings, paired senders and running channels."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from echo_bot.approval.routing import RouteFacts, Routes, routes
from echo_bot.events import Identity
from echo_bot.policy import access
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import PolicySettings
from echo_bot.storage.protocol import People, Sessions
from echo_bot.storage.records import ApprovalRecord

RunningChannels = Callable[[], frozenset[tuple[str, str]]]
"""The (channel, account) pairs that can be sent to now."""

_RECENT = timedelta(days=7)
_LOCAL_CHANNELS = frozenset(Identity.parse(each).channel for each in access.LOCAL)


async def read_paired(people: People) -> access.Paired:
    """The paired senders as the policy wants them."""
    paired = await people.paired()
    return access.Paired(
        senders=frozenset(p.identity for p in paired),
        approvers=frozenset(p.identity for p in paired if "approver" in p.roles),
        admins=frozenset(p.identity for p in paired if "admin" in p.roles),
    )


class Approvers:
    """The approver rules over live state."""

    def __init__(
        self,
        settings: PolicySettings,
        people: People,
        sessions: Sessions,
        *,
        running: RunningChannels,
        clock: Callable[[], datetime],
    ) -> None:
        self._settings, self._people, self._sessions = settings, people, sessions
        self._running, self._clock = running, clock

    async def may_decide(self, by: Identity, record: ApprovalRecord) -> bool:
        paired = await read_paired(self._people)
        return self._may(by, record, paired)

    async def routes(self, record: ApprovalRecord) -> Routes:
        """A question goes to whoever was asked; an approval to where an approver is."""
        if record.kind == "question":
            return Routes((record.address,), notice=False)
        paired = await read_paired(self._people)
        requester = Identity.parse(record.requester)
        approvers = tuple(p for p in self._people_who_may(paired) if self._may(p, record, paired))
        spoke = await self._sessions.speakers(record.address, self._clock() - _RECENT)
        return routes(
            RouteFacts(
                origin=record.address,
                requester=requester,
                requester_may_decide=self._may(requester, record, paired),
                approvers=approvers,
                recent=frozenset(p for p in approvers if str(p) in spoke),
                running=self._running(),
            )
        )

    def _may(self, by: Identity, record: ApprovalRecord, paired: access.Paired) -> bool:
        return access.may_decide(
            by,
            Identity.parse(record.requester),
            RiskLevel(record.risk),
            self._settings.access,
            self._settings.approval,
            paired,
        )

    def _people_who_may(self, paired: access.Paired) -> tuple[Identity, ...]:
        """Everybody named as an approver or, by default, as an admin; a bare id stands for each channel."""
        named = self._settings.approval.approvers or self._settings.access.admin_users
        people = dict.fromkeys(
            person
            for entry in (*named, *sorted(paired.approvers | paired.admins))
            for person in self._named(entry)
        )
        return tuple(people)

    def _named(self, entry: str) -> tuple[Identity, ...]:
        if ":" in entry:
            return (Identity.parse(entry),)
        people = (Identity(channel, entry, account) for channel, account in sorted(self._running()))
        return tuple(p for p in people if p.channel not in _LOCAL_CHANNELS or str(p) in access.LOCAL)
