"""The facts of one call, frozen: all that the gate's steps may look at."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from echo_bot.events import Address, Identity
from echo_bot.policy.access import NOBODY_PAIRED, Paired
from echo_bot.policy.call import Call
from echo_bot.policy.catalogue import ToolEntry, classify_risk
from echo_bot.policy.decision import Finding, Verdict
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import PolicySettings

if TYPE_CHECKING:  # the shell guard brings a parser, which reading facts does not need
    from echo_bot.policy.guards.shell.report import SimpleCommand

UNSANDBOXED = "unsandboxed"
"""The soft finding of a call that would start code on this host because no sandbox works."""

DEFINITION_CHANGED = "definition_changed"
"""The soft finding of a tool whose definition nobody approved: its server changed it, or added it later."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose turn it is and how it came about. The trust fields come from internal producers alone.

    For an unattended turn the sender is the job's owner and the address the job's target. `nested`: a worker
    calls. `interactive`: the terminal channel with a person at it.
    """

    sender: Identity
    address: Address
    unattended: bool = False
    cron_authorized: bool = False
    nested: bool = False
    interactive: bool = False
    paired: Paired = NOBODY_PAIRED


class SmartVerdict(StrEnum):
    """What an approval model's answer comes to."""

    APPROVE = "approve"
    DENY = "deny"
    ESCALATE = "escalate"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class SmartAnswer:
    """What the approval model said, word for word; None when there is no model or it failed."""

    text: str | None

    @property
    def verdict(self) -> SmartVerdict:
        """Only an answer that is one of the words and nothing else counts; any other one escalates."""
        if self.text is None:
            return SmartVerdict.UNAVAILABLE
        match self.text.strip():
            case "APPROVE":
                return SmartVerdict.APPROVE
            case "DENY":
                return SmartVerdict.DENY
            case _:
                return SmartVerdict.ESCALATE


@dataclass(frozen=True, slots=True)
class Facts:
    """One call before the gate. `tool` is None when nobody registered the name.

    `filtered_by` is the key that takes the tool away, `arguments_error` a sentence; with either, or without
    a tool, no guard was asked. `granted`: a stored grant covers exactly this call and owner. `grantable`:
    such a grant is ever offered. `smart` is None until the approval model was asked.
    """

    caller: Caller
    settings: PolicySettings
    call: Call
    tool: ToolEntry | None = None
    filtered_by: str | None = None
    arguments_error: str = ""
    findings: tuple[Finding, ...] = ()
    commands: tuple[SimpleCommand, ...] = ()
    needs_network: bool = False
    grantable: bool = False
    granted: bool = False
    allowlisted: bool = False
    smart: SmartAnswer | None = None
    risk: RiskLevel = field(init=False)

    def __post_init__(self) -> None:
        risk = RiskLevel.DANGEROUS if self.tool is None else classify_risk(self.tool, self.call.args)
        object.__setattr__(self, "risk", risk)

    @property
    def soft_findings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.verdict is Verdict.ASK)

    @property
    def hard_findings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.verdict is Verdict.DENY)

    @property
    def soft_kinds(self) -> frozenset[str]:
        return frozenset(finding.kind for finding in self.soft_findings)
