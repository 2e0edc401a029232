"""Where a card goes: to the origin chat when an approver is there, to direct chats, or to chosen targets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from echo_bot.events import Address, Identity
from echo_bot.policy.access import voter_of
from echo_bot.policy.settings import Route
from echo_bot.policy.targets import HERE, OWNER, Target


@dataclass(frozen=True, slots=True)
class RouteFacts:
    """`recent`: approvers who spoke in the origin chat lately; `running`: (channel, account) pairs up.

    `quorum`: how many of them are needed. `route`: what the configuration says.
    """

    origin: Address
    requester: Identity
    requester_may_decide: bool
    approvers: tuple[Identity, ...]
    recent: frozenset[Identity]
    running: frozenset[tuple[str, str]]
    quorum: int = 1
    route: Route = "origin"


@dataclass(frozen=True, slots=True)
class Routes:
    """The chats that get the card. `notice` True: the origin is not one of them and is told to wait."""

    cards: tuple[Address, ...]
    notice: bool


def direct_chat(person: Identity) -> Address:
    """A person's direct chat: every channel takes the person's id for it."""
    return Address(person.channel, person.sender_id, account=person.account)


def routes(facts: RouteFacts) -> Routes:
    """Pure. A card that needs several people also goes to those who are not in the origin chat."""
    if not isinstance(facts.route, str):
        return _sent_to(addresses(facts.route, facts.origin, facts.requester), facts)
    present = _present(facts)
    if facts.route == "origin" and present:
        people = {voter_of(each) for each in present}
        absent = () if len(people) >= facts.quorum else _direct(facts, besides=present)
        return _sent_to((facts.origin, *absent), facts)
    return _sent_to(_direct(facts), facts)


def addresses(targets: Iterable[Target], origin: Address, requester: Identity) -> tuple[Address, ...]:
    """Where targets of the configuration are for one request; each once."""
    found = (_address(target, origin, requester) for target in targets)
    return tuple(dict.fromkeys(address for address in found if address is not None))


def _address(target: Target, origin: Address, requester: Identity) -> Address | None:
    match target.kind:
        case kind if kind == HERE:
            return origin
        case kind if kind == OWNER:
            return direct_chat(requester)
        case _:
            return target.address


def _present(facts: RouteFacts) -> frozenset[Identity]:
    """Who may decide and is in the origin chat."""
    lives_there = {person for person in facts.approvers if direct_chat(person) == facts.origin}
    asked_there = {facts.requester} if facts.requester_may_decide else set()
    return frozenset(lives_there | asked_there | (facts.recent & set(facts.approvers)))


def _direct(facts: RouteFacts, besides: frozenset[Identity] = frozenset()) -> tuple[Address, ...]:
    """The direct chats, on running channels, of everybody who may decide."""
    requester = (facts.requester,) if facts.requester_may_decide else ()
    return tuple(
        direct_chat(person)
        for person in (*facts.approvers, *requester)
        if (person.channel, person.account) in facts.running and person not in besides
    )


def _sent_to(cards: tuple[Address, ...], facts: RouteFacts) -> Routes:
    return Routes(tuple(dict.fromkeys(cards)), notice=facts.origin not in cards)
