"""Who may speak, who is an admin, who is elevated, who may decide: four different lists."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from echo_bot.events import Identity
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import API, AccessSettings, ApprovalSettings

EVERYBODY = "*"

LOCAL = frozenset({"cli:local", "web:local"})
"""The terminal's user and the holder of a log-in link: admitted without being listed."""


_LOCAL_PERSON = "local"


@dataclass(frozen=True, slots=True)
class Paired:
    """Senders admitted by a pairing code, as `channel[/account]:id`; each list only when the code said so."""

    senders: frozenset[str] = frozenset()
    approvers: frozenset[str] = frozenset()
    admins: frozenset[str] = frozenset()


NOBODY_PAIRED = Paired()


def may_speak(sender: Identity, access: AccessSettings, paired: Paired = NOBODY_PAIRED) -> bool:
    """Is this sender admitted: local, listed, paired, or by `"*"`?"""
    return is_listed(sender, access, paired) or EVERYBODY in _allow_from(sender, access)


def is_listed(sender: Identity, access: AccessSettings, paired: Paired = NOBODY_PAIRED) -> bool:
    """Is this sender admitted as a person, not merely by `"*"`?"""
    if sender.channel not in access.known_channels or not sender.sender_id:
        return False
    if str(sender) in LOCAL or str(sender) in paired.senders:
        return True
    listed = _allow_from(sender, access)
    return sender.sender_id != EVERYBODY and (sender.sender_id in listed or str(sender) in listed)


def listed_ids(channel: str, account: str, access: AccessSettings, paired: Paired) -> tuple[str, ...]:
    """The ids of those whom an account admits as persons, in no order of rank: listed or paired."""
    head = f"{channel}/{account}" if account else channel
    written = (*access.allow_from.get(head, ()), *sorted(paired.senders))
    ids = dict.fromkeys(each.removeprefix(f"{head}:") for each in written)
    return tuple(each for each in ids if each != EVERYBODY and ":" not in each)


def is_restricted_by_star(sender: Identity, access: AccessSettings, paired: Paired = NOBODY_PAIRED) -> bool:
    """Is this sender admitted only by `"*"`, so that the path policy keeps to the workspace?"""
    return EVERYBODY in _allow_from(sender, access) and not is_listed(sender, access, paired)


def is_admin(sender: Identity, access: AccessSettings, paired: Paired = NOBODY_PAIRED) -> bool:
    """Is this sender an admin? Ids that a webhook or API body claims never are.

    Of those who come by an API token only the holders of admin tokens are, whatever the other lists say.
    """
    if sender.channel == API:
        return str(sender) in access.api_admins
    if sender.channel not in access.authenticating:
        return False
    return str(sender) in paired.admins or _is_named(sender, access.admin_users)


def is_elevated(sender: Identity, access: AccessSettings, paired: Paired = NOBODY_PAIRED) -> bool:
    """May this sender run code outside the sandbox? Admins always; others by `permissions.elevated`."""
    if is_admin(sender, access, paired):
        return True
    if not access.elevated or sender.channel not in access.known_channels or not sender.sender_id:
        return False
    keys = {sender.channel, _head(sender), EVERYBODY}
    named = {user for key in keys for user in access.elevated_from.get(key, ())}
    return EVERYBODY in named or sender.sender_id in named


def may_decide(
    decider: Identity,
    requester: Identity,
    risk: RiskLevel,
    access: AccessSettings,
    approval: ApprovalSettings,
    paired: Paired = NOBODY_PAIRED,
    editor: Identity | None = None,
) -> bool:
    """May this person decide a call of that requester?

    With `approvers` set, those and people paired as approvers; otherwise admins, and the requester when
    admitted as a person. Four eyes take whoever wrote the call out of either.
    """
    if not _is_vouched_for(decider, access):
        return False
    if is_barred_by_four_eyes(decider, requester, risk, approval, editor):
        return False
    is_requester = decider == requester
    if str(decider) in paired.approvers:
        return True
    if approval.approvers:
        return _is_named(decider, approval.approvers)
    return is_admin(decider, access, paired) or (is_requester and is_listed(decider, access, paired))


def person_of(identity: Identity) -> str:
    """Who counts once: the terminal and the log-in link belong to the same person, every other id to one."""
    return _LOCAL_PERSON if str(identity) in LOCAL else str(identity)


def voter_of(identity: Identity) -> str:
    """Who counts once among those who decide: an id is one person on every account and platform.

    Of those who come by an API token each name is one.
    """
    if str(identity) in LOCAL or identity.channel == API:
        return person_of(identity)
    return identity.sender_id


def is_barred_by_four_eyes(
    decider: Identity,
    requester: Identity,
    risk: RiskLevel,
    approval: ApprovalSettings,
    editor: Identity | None = None,
) -> bool:
    """Must somebody else decide, since this person asked for the call or changed it?

    `requester_may_approve` false for the risk says so. The terminal and the page are the same person.
    """
    if approval.requester_may_approve.get(risk, True):
        return False
    authors = {voter_of(requester), *([voter_of(editor)] if editor else [])}
    return voter_of(decider) in authors


def _is_vouched_for(sender: Identity, access: AccessSettings) -> bool:
    """Does the platform prove who this is? An ordinary API token reads and writes, and decides nothing."""
    return sender.channel in access.authenticating or str(sender) in access.api_admins


def _is_named(sender: Identity, entries: Iterable[str]) -> bool:
    """Is the sender an entry, qualified or bare? `"*"` names nobody. The channel vouches for the id.

    The name of an API token is no platform's id, so no bare entry means it.
    """
    is_plain = ":" not in sender.sender_id and sender.sender_id != EVERYBODY and sender.channel != API
    bare = sender.sender_id if is_plain else None
    return any(entry == str(sender) or (bare is not None and entry == bare) for entry in entries)


def _allow_from(sender: Identity, access: AccessSettings) -> tuple[str, ...]:
    return access.allow_from.get(_head(sender), ())


def _head(sender: Identity) -> str:
    return f"{sender.channel}/{sender.account}" if sender.account else sender.channel
