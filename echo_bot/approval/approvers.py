"""Who may decide a request and where its card goes: settings, paired senders and running channels."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from echo_bot.approval.routing import RouteFacts, Routes, addresses, routes
from echo_bot.events import Address, Identity
from echo_bot.policy import access
from echo_bot.policy.quorum import shortage
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import PolicySettings
from echo_bot.storage.protocol import People, Sessions
from echo_bot.storage.records import ApprovalRecord
from echo_bot.text.language import _

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
        return not await self.refusal(by, record)

    async def refusal(self, by: Identity, record: ApprovalRecord) -> str:
        """Why this person may not decide it; "" when they may."""
        if self._may(by, record, await read_paired(self._people)):
            return ""
        requester, editor = _authors(record)
        risk, approval = RiskLevel(record.risk), self._settings.approval
        if access.is_barred_by_four_eyes(by, requester, risk, approval, editor):
            if access.voter_of(by) == access.voter_of(requester):
                return _("You asked for this call, so somebody else must decide it.")
            return _("You changed this call, so somebody else must decide it.")
        return _("You may not decide this.")

    async def shortage(self, record: ApprovalRecord) -> str:
        """Why the people who may decide can never be enough for this request; "" when they can."""
        if record.kind != "approval":
            return ""
        paired = await read_paired(self._people)
        return shortage((*self._who_may(record, paired), *self._requester_if(record, paired)), record.quorum)

    async def escalations(self, record: ApprovalRecord) -> tuple[Address, ...]:
        """Who gets the card too, when nobody decides."""
        targets = self._settings.approval.escalate_to if record.kind == "approval" else ()
        return addresses(targets, record.address, Identity.parse(record.requester))

    def alarms(self, record: ApprovalRecord, opened: datetime) -> tuple[datetime | None, datetime | None]:
        """When to remind the chats of a card that was opened then, and when to ask others; None: never."""
        approval = self._settings.approval
        if record.kind != "approval":
            return None, None
        remind_after = approval.remind_after_seconds
        reminds = 0 < remind_after < record.timeout_seconds
        remind_at = opened + timedelta(seconds=remind_after) if reminds else None
        if not approval.escalate_to:
            return remind_at, None
        return remind_at, remind_at or opened + timedelta(seconds=record.timeout_seconds / 2)

    async def routes(self, record: ApprovalRecord) -> Routes:
        """A question goes to whoever was asked; an approval to where an approver is."""
        if record.kind == "question":
            return Routes((record.address,), notice=False)
        paired = await read_paired(self._people)
        requester = Identity.parse(record.requester)
        approvers = self._who_may(record, paired)
        spoke = await self._sessions.speakers(record.address, self._clock() - _RECENT)
        return routes(
            RouteFacts(
                origin=record.address,
                requester=requester,
                requester_may_decide=self._may(requester, record, paired),
                approvers=approvers,
                recent=frozenset(p for p in approvers if str(p) in spoke),
                running=self._running(),
                quorum=record.quorum,
                route=self._settings.approval.route,
            )
        )

    def _who_may(self, record: ApprovalRecord, paired: access.Paired) -> tuple[Identity, ...]:
        return tuple(p for p in self._people_who_may(paired) if self._may(p, record, paired))

    def _requester_if(self, record: ApprovalRecord, paired: access.Paired) -> tuple[Identity, ...]:
        requester = Identity.parse(record.requester)
        return (requester,) if self._may(requester, record, paired) else ()

    def _may(self, by: Identity, record: ApprovalRecord, paired: access.Paired) -> bool:
        requester, editor = _authors(record)
        return access.may_decide(
            by,
            requester,
            RiskLevel(record.risk),
            self._settings.access,
            self._settings.approval,
            paired,
            editor,
        )

    def _people_who_may(self, paired: access.Paired) -> tuple[Identity, ...]:
        """Everybody named as an approver or, by default, as an admin; a bare id stands for each channel."""
        admins = (*self._settings.access.admin_users, *sorted(self._settings.access.api_admins))
        named = self._settings.approval.approvers or admins
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


def _authors(record: ApprovalRecord) -> tuple[Identity, Identity | None]:
    """Who asked for the call, and who changed it into what it is."""
    editor = Identity.parse(record.edited_by) if record.edited_by else None
    return Identity.parse(record.requester), editor
