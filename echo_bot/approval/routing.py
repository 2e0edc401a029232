"""Where a card goes: to the origin chat when an approver is there, else to the approvers' direct chats."""

from __future__ import annotations

from dataclasses import dataclass

from echo_bot.events import Address, Identity


@dataclass(frozen=True, slots=True)
class RouteFacts:
    """`recent`: approvers who spoke in the origin chat lately; `running`: (channel, account) pairs up."""

    origin: Address
    requester: Identity
    requester_may_decide: bool
    approvers: tuple[Identity, ...]
    recent: frozenset[Identity]
    running: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Routes:
    """The chats that get the card. `notice` True: the origin is not one of them and is told to wait."""

    cards: tuple[Address, ...]
    notice: bool


def direct_chat(person: Identity) -> Address:
    """A person's direct chat: on every platform here its chat id is the person's id."""
    return Address(person.channel, person.sender_id, account=person.account)


def routes(facts: RouteFacts) -> Routes:
    """Pure: the origin if somebody there may decide, else the approvers' direct chats on running channels."""
    lives_there = any(direct_chat(person) == facts.origin for person in facts.approvers)
    if facts.requester_may_decide or lives_there or not facts.recent.isdisjoint(facts.approvers):
        return Routes((facts.origin,), notice=False)
    direct = tuple(
        direct_chat(person) for person in facts.approvers if (person.channel, person.account) in facts.running
    )
    return Routes(tuple(dict.fromkeys(direct)), notice=True)
