"""How many people must approve a call, who did, and whether enough of them exist."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from echo_bot.events import Identity
from echo_bot.policy.access import voter_of
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import ApprovalSettings


def needed(approval: ApprovalSettings, risk: RiskLevel) -> int:
    """How many people must approve a call of this risk; at least one."""
    return max(1, approval.quorum.get(risk, 1))


@dataclass(frozen=True, slots=True)
class Tally:
    """`approved`: voters in their order, each person once; `missing`: how many more must approve."""

    approved: tuple[str, ...]
    missing: int

    @property
    def is_reached(self) -> bool:
        return self.missing == 0


def tally(votes: Iterable[tuple[str, str, str]], digest: str, quorum: int) -> Tally:
    """Count votes as (person, voter, digest): only those for this very digest, each person once."""
    voters: dict[str, str] = {}
    for person, voter, voted_on in votes:
        if voted_on == digest:
            voters.setdefault(person, voter)
    return Tally(tuple(voters.values()), max(0, quorum - len(voters)))


def shortage(approvers: Iterable[Identity], quorum: int) -> str:
    """Why so many can never approve, "" when they can."""
    there = len({voter_of(each) for each in approvers})
    if quorum <= 1 or there >= quorum:
        return ""
    may = "nobody may" if not there else "only 1 person may" if there == 1 else f"only {there} people may"
    return f"{quorum} people must approve this, and {may} (permissions.approval.quorum)"
