"""Verdicts, findings and decisions: the values every part of the policy speaks in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from echo_bot.policy.risk import RiskLevel


class Verdict(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def strictness(self) -> int:
        """0 for allow, 1 for ask, 2 for deny."""
        return list(Verdict).index(self)


class ApprovalSource(StrEnum):
    """How a call was passed. HUMAN is created in one place: where a person's press is claimed."""

    AUTO = "auto"
    HUMAN = "human"


class StepName(StrEnum):
    """The gate's steps, in the order in which they are asked."""

    CONTEXT = "context"
    UNKNOWN_TOOL = "unknown_tool"
    FILTERED = "filtered"
    INVALID = "invalid"
    HARD_GUARD = "hard_guard"
    AUTO_DENY = "auto_deny"
    EXEC_SECURITY = "exec_security"
    ELEVATION = "elevation"
    UNATTENDED = "unattended"
    RISK_TIER = "risk_tier"
    AUTO_APPROVE = "auto_approve"
    CLI = "cli"
    TRUSTED_CHANNEL = "trusted_channel"
    MODE_OFF = "mode_off"
    GRANT = "grant"
    SMART = "smart"
    NESTED = "nested"
    HUMAN = "human"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a guard saw: `kind` is stable ("root_rm", "foreign_target"), `sentence` is for the card.

    `verdict` is ASK (a soft finding) or DENY (a hard one). `span` is the [start, end) character range in the
    argument named `field`, where there is one.
    """

    kind: str
    verdict: Verdict
    sentence: str
    field: str = ""
    span: tuple[int, int] | None = None


def strictest(findings: Iterable[Finding]) -> Verdict:
    """The strictest verdict of some findings; ALLOW for none."""
    return max((f.verdict for f in findings), key=lambda v: v.strictness, default=Verdict.ALLOW)


@dataclass(frozen=True, slots=True)
class Decision:
    """One step's answer. `risk` is None before it was classified."""

    verdict: Verdict
    step: StepName
    reason: str
    risk: RiskLevel | None = None
    approval_source: ApprovalSource | None = None
