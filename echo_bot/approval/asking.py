"""From a call that a person must decide to the stored question: what its card shows, what is on offer."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from echo_bot.approval.editing import is_editable
from echo_bot.approval.gather import may_be_edited, offers, quorum_of, simple_commands
from echo_bot.approval.request import ApprovalRequest, Choice
from echo_bot.approval.stored import request_to_json
from echo_bot.events import ApprovalId, InboundEvent, SessionKey, TurnId
from echo_bot.policy.call import Arguments, Executor, JsonValue, canonical_json, digest
from echo_bot.policy.decision import Decision
from echo_bot.policy.facts import Facts
from echo_bot.policy.risk import RiskLevel
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus
from echo_bot.text.language import N_, _

_SUMMARY_CHARS = 160
_NO_NETWORK = N_("The command seems to need the network, which the sandbox does not have here.")


class Previewed(Protocol):
    """What a file tool says it would change; see `echo_bot.tools.builtin`."""

    @property
    def diff(self) -> str: ...

    @property
    def problem(self) -> str: ...


Preview = Callable[[dict[str, JsonValue], None], Awaitable[Previewed]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a call comes to, for the card: labelled texts, and sentences on what approving it means."""

    lines: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


class Unworkable(Exception):
    """The call cannot do what it says, so nobody is asked; the sentence says why."""


PlanOf = Callable[[Arguments, InboundEvent], Awaitable[Plan]]
"""Raises Unworkable."""


@dataclass(frozen=True, slots=True)
class GateRequest:
    """One call before the gate. The trust fields are read from `event`, the stored one of the turn.

    `note` says where the call comes from, if not from the conversation. `revision` counts how often people
    changed the call, `edited_by` is who did last, by id and by name. `on_shown` is called once a person sees
    it.
    """

    tool: str
    args: Arguments
    event: InboundEvent
    turn_id: TurnId
    session_key: SessionKey
    call_key: str
    nested: bool
    is_registered: bool
    declared_risk: str | None
    capabilities: tuple[str, ...]
    parameters: Mapping[str, JsonValue] | None
    preview: Preview | None = None
    plan: PlanOf | None = None
    note: str = ""
    revision: int = 0
    edited_by: str = ""
    edited_by_name: str = ""
    on_shown: Callable[[], None] = lambda: None

    def edited(self, stored: ApprovalRecord) -> GateRequest:
        """The call that a person wrote in place of this one, whose question `stored` is."""
        args: Arguments = json.loads(stored.edited_json)
        return replace(
            self,
            args=args,
            revision=self.revision + 1,
            edited_by=stored.decided_by,
            edited_by_name=stored.decided_by_name,
        )

    @property
    def approval_id(self) -> ApprovalId:
        return approval_id_of(self.turn_id, self.call_key, self.revision)


@dataclass(frozen=True, slots=True)
class Asking:
    """Makes questions. `timeout_for` (channel, risk) gives seconds; `mask` hides secrets in the summary."""

    timeout_for: Callable[[str, RiskLevel], int]
    network_allowed: bool
    mask: Callable[[str], str]
    clock: Callable[[], datetime]

    async def question(self, request: GateRequest, facts: Facts, decision: Decision) -> ApprovalRecord:
        """A new row for this call; its id is the same whenever the same call of the same turn asks.

        Raises Unworkable.
        """
        shown = await self._shown(request, facts, decision)
        choices = (*shown.offered, Choice.ASK_AGAIN)
        return ApprovalRecord(
            approval_id=request.approval_id,
            turn_id=request.turn_id,
            session_key=request.session_key,
            kind="approval",
            requester=str(request.event.sender),
            address=request.event.address,
            tool=facts.call.tool,
            digest=digest(facts.call),
            risk=facts.risk.value,
            request_json=request_to_json(shown),
            offered=tuple(choice.value for choice in choices),
            tokens=tuple(secrets.token_urlsafe(16) for _ in choices),
            status=ApprovalStatus.PENDING,
            created_at=self.clock(),
            timeout_seconds=self.timeout_for(request.event.channel, facts.risk),
            quorum=quorum_of(facts),
            edited_by=request.edited_by,
        )

    async def _shown(self, request: GateRequest, facts: Facts, decision: Decision) -> ApprovalRequest:
        call = facts.call
        notes = [request.note] if request.note else []
        if facts.needs_network and call.executor is Executor.SANDBOX and not self.network_allowed:
            notes.append(_(_NO_NETWORK))
        diff = ""
        if request.preview is not None:
            preview = await request.preview(dict(call.args), None)
            diff = preview.diff
            notes += [preview.problem] if preview.problem else []
        plan = await request.plan(call.args, request.event) if request.plan else Plan()
        notes += plan.notes
        shown = ApprovalRequest(
            approval_id=request.approval_id,
            tool=call.tool,
            args=call.args,
            risk=facts.risk,
            cwd=call.cwd,
            executor=call.executor,
            requester=str(request.event.sender),
            requester_name=request.event.sender_name,
            offered=offers(facts),
            reason="" if facts.soft_findings else decision.reason,
            summary=self._summary(facts),
            findings=facts.findings,
            commands=simple_commands(facts),
            diff=diff,
            notes=tuple(notes),
            env=call.env or None,
            parameters=facts.tool.parameters if facts.tool else None,
            edited_by=request.edited_by,
            edited_by_name=request.edited_by_name,
            plan=plan.lines,
            quorum=quorum_of(facts),
            created_at=self.clock(),
        )
        if may_be_edited(facts) and is_editable(shown, self.mask):
            return replace(shown, offered=(*shown.offered, Choice.EDIT))
        return shown

    def _summary(self, facts: Facts) -> str:
        args = facts.call.args
        main = args.get("command") or args.get("path") or args.get("code")
        text = self.mask(str(main) if main else canonical_json(dict(args)))
        line = " ".join(text.split())
        shown = line if len(line) <= _SUMMARY_CHARS else line[: _SUMMARY_CHARS - 1] + "…"
        return f"{facts.call.tool}: {shown}"


def editor_of(event: InboundEvent, tool: str, args: Arguments) -> tuple[str, str]:
    """Who wrote this call in an earlier turn in which nobody decided it: id and name, "" for nobody."""
    edited = event.asks_again
    if edited is None or edited.tool != tool or json.loads(edited.args_json) != dict(args):
        return "", ""
    return edited.by, edited.by_name


def approval_id_of(turn_id: TurnId, call_key: str, revision: int = 0) -> ApprovalId:
    """Derived from the turn and the call's place in it, so that a revived turn finds its question again."""
    place = f"{turn_id}\x1f{call_key}" + (f"\x1f{revision}" if revision else "")
    raw = hashlib.sha256(place.encode()).digest()
    return ApprovalId(base64.b32encode(raw).decode().lower()[:20])
