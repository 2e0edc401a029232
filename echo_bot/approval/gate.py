"""The approval gate: the only asynchronous decision. Facts → the ordered steps → a model → a person."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Protocol

import structlog

from echo_bot.approval.approvers import read_paired
from echo_bot.approval.broker import Broker
from echo_bot.approval.gather import Asked, Surroundings, answered, gather, offers, simple_commands
from echo_bot.approval.request import ApprovalRequest, Choice
from echo_bot.approval.smart import AskModel, review_prompt
from echo_bot.approval.stored import request_to_json
from echo_bot.events import ApprovalId, InboundEvent, SessionKey, TurnId
from echo_bot.policy.access import is_restricted_by_star
from echo_bot.policy.call import Arguments, Executor, JsonValue, canonical_json, digest
from echo_bot.policy.decision import ApprovalSource, Decision, Finding, StepName, Verdict
from echo_bot.policy.facts import Caller, Facts
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import PolicySettings
from echo_bot.policy.steps import decide
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus

log = structlog.get_logger(__name__)

_AUTHORISING = frozenset({StepName.GRANT, StepName.HUMAN})
_SUMMARY_CHARS = 160


class Previewed(Protocol):
    """What a file tool says it would change; see `echo_bot.tools.builtin`."""

    @property
    def diff(self) -> str: ...

    @property
    def problem(self) -> str: ...


Preview = Callable[[dict[str, JsonValue], None], Awaitable[Previewed]]


@dataclass(frozen=True, slots=True)
class GateRequest:
    """One call before the gate. The trust fields are read from `event`, the stored one of the turn."""

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


@dataclass(frozen=True, slots=True)
class GateDecision:
    """The gate's answer. `sentence` is what the model and the requester hear about a refusal.

    `executor`, `args` and `digest` are what was decided on: the call runs with exactly those.
    `was_authorised`: a person, a grant, the operator allowlist or a cron authorisation passed it.
    """

    verdict: Verdict
    step: StepName
    reason: str
    sentence: str
    args: Arguments
    executor: Executor = Executor.NONE
    digest: str = ""
    risk: RiskLevel | None = None
    approval_source: ApprovalSource | None = None
    findings: tuple[Finding, ...] = ()
    approval_id: ApprovalId | None = None
    was_authorised: bool = False
    restricted: bool = False
    network: bool = False
    recheck: Callable[[], str] = lambda: ""


class Recorder(Protocol):
    async def record(self, kind: str, **fields: object) -> None: ...


@dataclass(frozen=True, slots=True)
class GateOptions:
    """`timeout_for` (channel, risk) gives seconds; `is_interactive`: a person sits at the terminal channel."""

    timeout_for: Callable[[str, RiskLevel], int]
    is_interactive: bool
    network_allowed: bool


class ApprovalGate:
    """`check` says allow or deny, having asked whoever must be asked; `begin` is the last word before the start."""

    def __init__(
        self,
        settings: PolicySettings,
        options: GateOptions,
        store: Store,
        broker: Broker,
        audit: Recorder,
        *,
        surroundings: Callable[[], Awaitable[Surroundings]],
        ask_model: AskModel,
        mask: Callable[[str], str],
        on_waiting: Callable[[TurnId, bool], Awaitable[None]],
        clock: Callable[[], datetime],
    ) -> None:
        self._settings, self._options, self._store, self._broker = settings, options, store, broker
        self._audit, self._surroundings, self._ask_model = audit, surroundings, ask_model
        self._mask, self._on_waiting, self._clock = mask, on_waiting, clock

    async def check(self, request: GateRequest) -> GateDecision:
        """Decide one call. A crash on the way denies; only cancellation passes through."""
        try:
            decision = await self._check(request)
        except Exception:  # noqa: BLE001 - whatever failed on the way to a decision, the answer is no
            log.exception("gate_failed", tool=request.tool, turn=request.turn_id, call=request.call_key)
            sentence = f"{request.tool} was not run: the gate failed on this call. The log has the details."
            decision = GateDecision(
                Verdict.DENY, StepName.CONTEXT, "the gate failed", sentence, args=request.args
            )
        await self._audit.record(
            "gate",
            turn=request.turn_id,
            call=request.call_key,
            tool=request.tool,
            sender=str(request.event.sender),
            chat=str(request.event.address),
            verdict=decision.verdict.value,
            step=decision.step.value,
            reason=decision.reason,
            risk=decision.risk.value if decision.risk else "",
            source=decision.approval_source.value if decision.approval_source else "",
            digest=decision.digest,
            executor=decision.executor.value,
            findings=[f.kind for f in decision.findings],
            capabilities=sorted(request.capabilities),
        )
        return decision

    async def begin(self, decision: GateDecision) -> str:
        """Right before the start: the files it was shown against are the same, and the approval is spent once.

        Returns a sentence when the call must not start, else "".
        """
        drift = decision.recheck()
        if drift:
            return drift
        if decision.approval_id is not None and not await self._store.approvals.use(decision.approval_id):
            return (
                "Outcome unknown: this approval was used already, so the call may have run before the bot "
                "stopped. It was not run again."
            )
        return ""

    async def _check(self, request: GateRequest) -> GateDecision:
        surroundings = await self._surroundings()
        facts = await self._facts(request, surroundings)
        decision = decide(facts)
        if decision.verdict is Verdict.ASK and decision.step is StepName.SMART:
            facts = answered(facts, await self._pre_screen(facts))
            decision = decide(facts)
            await self._audit.record(
                "smart", turn=request.turn_id, verdict=decision.verdict.value, digest=digest(facts.call)
            )
        if decision.verdict is not Verdict.ASK:
            return await self._settled(request, facts, decision, surroundings)
        return await self._ask_person(request, facts, decision, surroundings)

    async def _facts(self, request: GateRequest, surroundings: Surroundings) -> Facts:
        event = request.event
        paired = await read_paired(self._store.people)
        caller = Caller(
            sender=event.sender,
            address=event.address,
            unattended=event.unattended,
            cron_authorized=event.cron_authorized,
            nested=request.nested,
            interactive=event.channel == "cli" and self._options.is_interactive,
            paired=paired,
        )
        asked = Asked(
            tool=request.tool,
            args=request.args,
            declared_risk=request.declared_risk,
            capabilities=request.capabilities,
            parameters=dict(request.parameters) if request.parameters is not None else None,
        )
        facts = gather(asked, caller, self._settings, surroundings)
        if not request.is_registered:
            facts = replace(facts, tool=None)
        if facts.tool is None or facts.filtered_by or facts.arguments_error:
            return facts
        grant = await self._store.grants.match(
            str(event.sender), digest(facts.call), request.session_key, self._clock()
        )
        return replace(facts, granted=grant is not None)

    async def _pre_screen(self, facts: Facts) -> str | None:
        prompt = review_prompt(facts.call, facts.findings, self._mask)
        return "ESCALATE" if prompt is None else await self._ask_model(prompt)

    async def _settled(
        self, request: GateRequest, facts: Facts, decision: Decision, surroundings: Surroundings
    ) -> GateDecision:
        if decision.step is StepName.GRANT and facts.granted:
            await self._count_use(request, facts)
        by_cron = decision.step is StepName.UNATTENDED and facts.caller.cron_authorized
        return self._decision(
            request,
            facts,
            decision,
            surroundings,
            source=decision.approval_source,
            authorised=decision.verdict is Verdict.ALLOW and (decision.step in _AUTHORISING or by_cron),
        )

    async def _ask_person(
        self, request: GateRequest, facts: Facts, decision: Decision, surroundings: Surroundings
    ) -> GateDecision:
        record = await self._record(request, facts, decision)
        stored = await self._store.approvals.get(record.approval_id)
        if stored is not None and stored.digest != record.digest:
            return self._drifted(request, facts)
        await self._on_waiting(request.turn_id, True)
        try:
            answer = await self._broker.ask(record)
        finally:
            await self._on_waiting(request.turn_id, False)
        verdict = Verdict.ALLOW if answer.approved else Verdict.DENY
        final = replace(decision, verdict=verdict, approval_source=answer.source, reason=answer.sentence)
        return self._decision(
            request,
            facts,
            final,
            surroundings,
            source=answer.source,
            authorised=answer.approved,
            approval_id=record.approval_id if answer.approved else None,
        )

    def _drifted(self, request: GateRequest, facts: Facts) -> GateDecision:
        sentence = (
            f"{request.tool} was not run: what it would do changed since it was approved. Ask for it again."
        )
        return GateDecision(
            Verdict.DENY, StepName.HUMAN, "drift", sentence, args=facts.call.args, risk=facts.risk
        )

    def _decision(
        self,
        request: GateRequest,
        facts: Facts,
        decision: Decision,
        surroundings: Surroundings,
        *,
        source: ApprovalSource | None,
        authorised: bool,
        approval_id: ApprovalId | None = None,
    ) -> GateDecision:
        by_person = decision.step is StepName.HUMAN
        sentence = decision.reason if by_person else f"{request.tool} was not run: {decision.reason}."
        return GateDecision(
            verdict=decision.verdict,
            step=decision.step,
            reason=decision.reason,
            sentence=sentence,
            args=facts.call.args,
            executor=facts.call.executor,
            digest=digest(facts.call) if facts.tool and not facts.arguments_error else "",
            risk=decision.risk,
            approval_source=source,
            findings=facts.findings,
            approval_id=approval_id,
            was_authorised=authorised,
            restricted=is_restricted_by_star(facts.caller.sender, self._settings.access, facts.caller.paired),
            network=self._options.network_allowed,
            recheck=partial(_drift, facts, surroundings, surroundings.typed_before(_process_of(facts))),
        )

    async def _count_use(self, request: GateRequest, facts: Facts) -> None:
        grant = await self._store.grants.match(
            str(request.event.sender), digest(facts.call), request.session_key, self._clock()
        )
        if grant is not None:
            await self._store.grants.count_use(grant.grant_id, self._clock())

    async def _record(self, request: GateRequest, facts: Facts, decision: Decision) -> ApprovalRecord:
        approval_id = approval_id_of(request.turn_id, request.call_key)
        shown = await self._request(request, facts, decision, approval_id)
        choices = (*shown.offered, Choice.ASK_AGAIN)
        return ApprovalRecord(
            approval_id=approval_id,
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
            created_at=self._clock(),
            timeout_seconds=self._options.timeout_for(request.event.channel, facts.risk),
        )

    async def _request(
        self, request: GateRequest, facts: Facts, decision: Decision, approval_id: ApprovalId
    ) -> ApprovalRequest:
        call = facts.call
        notes = []
        if facts.needs_network and call.executor is Executor.SANDBOX and not self._options.network_allowed:
            notes.append("The command seems to need the network, which the sandbox does not have here.")
        diff = ""
        if request.preview is not None:
            preview = await request.preview(dict(call.args), None)
            diff = preview.diff
            notes += [preview.problem] if preview.problem else []
        return ApprovalRequest(
            approval_id=approval_id,
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
            created_at=self._clock(),
        )

    def _summary(self, facts: Facts) -> str:
        args = facts.call.args
        main = args.get("command") or args.get("path") or args.get("code")
        text = self._mask(str(main) if main else canonical_json(dict(args)))
        line = " ".join(text.split())
        return f"{facts.call.tool}: " + (
            line if len(line) <= _SUMMARY_CHARS else line[: _SUMMARY_CHARS - 1] + "…"
        )


def approval_id_of(turn_id: TurnId, call_key: str) -> ApprovalId:
    """Derived from the turn and the call's place in it, so that a revived turn finds its question again."""
    raw = hashlib.sha256(f"{turn_id}\x1f{call_key}".encode()).digest()
    return ApprovalId(base64.b32encode(raw).decode().lower()[:20])


def _process_of(facts: Facts) -> str:
    return str(facts.call.args.get("process_id", ""))


def _drift(facts: Facts, surroundings: Surroundings, typed: str) -> str:
    """Has a file that the approval covers changed since, or the line that a process was being given?"""
    if facts.call.tool == "process" and surroundings.typed_before(_process_of(facts)) != typed:
        return "Not executed: the process got other input in the meantime. Write the whole line again."
    if surroundings.bind is None:
        return ""
    changed = [b.path for b in facts.call.bound_files if surroundings.bind(b.path) != b]
    if not changed:
        return ""
    return f"Not executed: {', '.join(changed)} changed after the call was decided on. Ask for it again."
