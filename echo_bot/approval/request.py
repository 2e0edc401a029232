"""What a person is asked: everything a card is rendered from, and the decisions on offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from echo_bot.events import ApprovalId
from echo_bot.policy.call import Executor, JsonValue
from echo_bot.policy.decision import Finding
from echo_bot.policy.risk import RiskLevel
from echo_bot.text.language import N_, _


class Choice(StrEnum):
    """What a person may decide. The values are also the words that `/approve` and `/deny` take."""

    ONCE = "once"
    SESSION = "session"
    HOUR = "1h"
    ALWAYS = "always"
    DENY = "deny"
    DENY_REASON = "deny_reason"
    EDIT = "edit"
    ASK_AGAIN = "ask_again"

    @property
    def label(self) -> str:
        return _(_LABELS[self])

    @property
    def approves(self) -> bool:
        return self in (Choice.ONCE, Choice.SESSION, Choice.HOUR, Choice.ALWAYS)


_LABELS = {
    Choice.ONCE: N_("Approve once"),
    Choice.SESSION: N_("For this session"),
    Choice.HOUR: N_("For 1 hour"),
    Choice.ALWAYS: N_("Always (exact call)"),
    Choice.DENY: N_("Deny"),
    Choice.DENY_REASON: N_("Deny with reason"),
    Choice.EDIT: N_("Edit"),
    Choice.ASK_AGAIN: N_("Ask again"),
}


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One call that waits for a person. `args` are the real ones; the renderer masks and escapes.

    `commands` are the simple commands the shell guard sees, one a line; `diff` is the unified diff of a file
    tool. `summary` is one masked line for lists. `requester` is the identity, `requester_name` its untrusted
    display name. Offered choices are in card order. `parameters` is the tool's schema, for whoever edits the
    call; `edited_by` who wrote it in place of another one, `edited_by_name` what they call themselves;
    `plan` are labelled texts on what the call comes to, where its arguments do not say it; `quorum` how many
    people must approve it.
    """

    approval_id: ApprovalId
    tool: str
    args: Mapping[str, JsonValue]
    risk: RiskLevel
    cwd: str
    executor: Executor
    requester: str
    offered: tuple[Choice, ...]
    requester_name: str = ""
    reason: str = ""
    summary: str = ""
    findings: tuple[Finding, ...] = ()
    commands: tuple[str, ...] = ()
    diff: str = ""
    notes: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None
    parameters: Mapping[str, JsonValue] | None = None
    edited_by: str = ""
    edited_by_name: str = ""
    plan: tuple[tuple[str, str], ...] = ()
    quorum: int = 1
    created_at: datetime | None = None

    @property
    def short_id(self) -> str:
        """What people type: the last 6 characters of the id."""
        return self.approval_id[-6:]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request ended, for the card's last state. `choice` is None for expired and cancelled ones.

    `is_cancelled`: it was ended before its time, by `/stop` or because it could not be shown.
    """

    choice: Choice | None
    by: str
    at: datetime
    reason: str = ""
    is_cancelled: bool = False
