"""The approval gate: the only asynchronous decision. Facts → the ordered steps → a model → a person."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from secrets import token_hex
from typing import Protocol

import structlog

from echo_bot.approval.approvers import read_paired
from echo_bot.approval.asking import Asking, GateRequest, Unworkable
from echo_bot.approval.broker import Broker
from echo_bot.approval.gather import Asked, Surroundings, answered, gather
from echo_bot.approval.smart import RULES, AskModel, Judgement, Review, Sight, review_prompt
from echo_bot.errors import StorageError
from echo_bot.events import ApprovalId, InboundEvent, TurnId
from echo_bot.policy.access import is_restricted_by_star
from echo_bot.policy.call import Arguments, Executor, digest
from echo_bot.policy.decision import ApprovalSource, Decision, Finding, StepName, Verdict
from echo_bot.policy.facts import Caller, Facts, SmartAnswer
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import PolicySettings
from echo_bot.policy.steps import decide
from echo_bot.storage.protocol import People, Store
from echo_bot.storage.records import ApprovalStatus
from echo_bot.text.language import N_

log = structlog.get_logger(__name__)

_DRIFTED = "what it would do changed since it was asked about; ask for it again"
_OVERTAKEN = N_("it was decided without a person by then")
_ESCALATED = "(not asked)"
"""Stands for the answer of a model that was not asked; like any that is no verdict, it escalates."""

_AUTHORISING = frozenset({StepName.GRANT, StepName.HUMAN})


@dataclass(frozen=True, slots=True)
class GateDecision:
    """The gate's answer. `sentence` is what the model and the requester hear about a refusal.

    `executor`, `args` and `digest` are what was decided on: the call runs with exactly those.
    `was_authorised`: a person, a grant, the operator allowlist or a cron authorisation passed it.
    `cron_authorized`: it belongs to a job whose authorisation holds now.
    `edited_by`: this is not the call that was asked for; that person wrote it in its place.
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
    cron_authorized: bool = False
    decided_by: str = ""
    restricted: bool = False
    network: bool = False
    edited_by: str = ""
    edited_by_name: str = ""
    recheck: Callable[[], str] = lambda: ""


class Recorder(Protocol):
    async def record(self, kind: str, **fields: object) -> None: ...


@dataclass(frozen=True, slots=True)
class GateOptions:
    """`is_interactive`: a person sits at the terminal channel. `judge`: the configured approval model."""

    is_interactive: bool
    network_allowed: bool
    judge: str = ""


class ApprovalGate:
    """`check` says allow or deny, having asked whoever must be asked; `begin` is the last word before it."""

    def __init__(
        self,
        settings: PolicySettings,
        options: GateOptions,
        store: Store,
        people: People,
        broker: Broker,
        audit: Recorder,
        asking: Asking,
        *,
        surroundings: Callable[[], Awaitable[Surroundings]],
        ask_model: AskModel | None,
        mask: Callable[[str], str],
        on_waiting: Callable[[TurnId, bool], Awaitable[None]],
        still_authorised: Callable[[InboundEvent], Awaitable[bool]],
        clock: Callable[[], datetime],
    ) -> None:
        """`still_authorised`: does what the event's `cron_authorized` rests on hold now?"""
        self._settings, self._options, self._store, self._people = settings, options, store, people
        self._broker, self._audit, self._asking = broker, audit, asking
        self._surroundings, self._ask_model = surroundings, ask_model
        self._mask, self._on_waiting, self._clock = mask, on_waiting, clock
        self._still_authorised = still_authorised

    async def check(self, request: GateRequest) -> GateDecision:
        """Decide one call. A crash on the way denies; only cancellation passes through."""
        try:
            decision = await self._check(request)
        except Exception:  # whatever failed on the way to a decision, the answer is no
            log.exception("gate_failed", tool=request.tool, turn=request.turn_id, call=request.call_key)
            decision = _refusal(request, "the gate failed on this call; the log has the details")
        try:
            await self._write_down(request, decision)
        except StorageError as error:
            log.error("gate_unaudited", tool=request.tool, turn=request.turn_id, error=str(error))
            return _refusal(request, "the audit cannot be written, and nothing runs unrecorded")
        return decision

    async def _write_down(self, request: GateRequest, decision: GateDecision) -> None:
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
            approval=decision.approval_id or "",
            by=decision.decided_by,
            edited_by=decision.edited_by,
            digest=decision.digest,
            executor=decision.executor.value,
            findings=[f.kind for f in decision.findings],
            capabilities=sorted(request.capabilities),
        )

    async def begin(self, decision: GateDecision, *, goes_on: bool = False) -> str:
        """Right before the start: what it was shown against is the same, and the approval is spent once.

        `goes_on`: a call that began before the bot stopped finds again what it began, so that its approval
        is spent already. Returns a sentence when the call must not start, else "".
        """
        drift = decision.recheck()
        if drift:
            return drift
        if goes_on:
            return ""
        if decision.approval_id is not None and not await self._store.approvals.use(decision.approval_id):
            return (
                "Outcome unknown: this approval was used already, so the call may have run before the bot "
                "stopped. It was not run again."
            )
        return ""

    async def _check(self, request: GateRequest) -> GateDecision:
        """A person may put another call in this one's place: then that one is judged, from the beginning."""
        while True:
            request, original, was_denied = await self._as_edited(request)
            decision = await self._judge(request, was_denied)
            if decision is None:
                continue
            is_refused = decision.verdict is Verdict.DENY and decision.step is not StepName.HUMAN
            if original is not None and is_refused:
                await self._broker.tell_edit_refused(original, decision.sentence)
            if decision.step is not StepName.HUMAN:
                # Asked about before a restart, and decided otherwise by now.
                await self._broker.withdraw(request.approval_id, _OVERTAKEN)
            return decision

    async def _as_edited(self, request: GateRequest) -> tuple[GateRequest, ApprovalId | None, bool]:
        """The call as people last changed it, also in an earlier run, and the question it replaced.

        The third: did a person deny it before a restart?
        """
        original: ApprovalId | None = None
        while True:
            stored = await self._store.approvals.get(request.approval_id)
            if stored is None or stored.status is not ApprovalStatus.EDITED:
                return request, original, stored is not None and stored.status is ApprovalStatus.DENIED
            request, original = request.edited(stored), stored.approval_id

    async def _judge(self, request: GateRequest, was_denied: bool) -> GateDecision | None:
        """The decision on this very call; None when a person changed it. A person's no stands."""
        surroundings = await self._surroundings()
        # Before the guards look: what is typed while they do is not what they saw.
        typed = surroundings.typed_before(_process_of(request.args))
        facts, grant_id = await self._facts(request, surroundings)
        recheck = partial(_drift, facts, surroundings, typed)
        decision = decide(facts)
        if decision.verdict is Verdict.ASK and decision.step is StepName.SMART:
            facts = answered(facts, await self._pre_screen(request, facts, typed))
            decision = decide(facts)
        if decision.verdict is Verdict.ALLOW and was_denied:
            decision = replace(decision, verdict=Verdict.ASK, step=StepName.HUMAN)
        if decision.verdict is Verdict.ASK:
            return await self._ask_person(request, facts, decision, recheck)
        authorised = is_authorised(facts, decision)
        if authorised and grant_id:
            await self._store.grants.count_use(grant_id, self._clock())
        return self._decision(
            request,
            facts,
            decision,
            # A write that nobody had to look at is bound to nothing.
            (lambda: "") if decision.step is StepName.RISK_TIER else recheck,
            source=decision.approval_source,
            authorised=authorised,
        )

    async def _facts(self, request: GateRequest, surroundings: Surroundings) -> tuple[Facts, str]:
        """The facts of the call, and the id of the grant that covers it, looked up where one would matter."""
        event = request.event
        paired = await read_paired(self._people)
        caller = Caller(
            sender=event.sender,
            address=event.answered_at,
            unattended=event.unattended,
            cron_authorized=event.cron_authorized and await self._still_authorised(event),
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
        # In a thread: paths are resolved, scripts hashed, and a 100 kB command takes its time.
        facts = await asyncio.to_thread(gather, asked, caller, self._settings, surroundings)
        if not request.is_registered:
            facts = replace(facts, tool=None)
        is_judged = facts.tool is not None and not facts.filtered_by and not facts.arguments_error
        if not is_judged or decide(facts).verdict is Verdict.ALLOW:
            return facts, ""
        grant = await self._store.grants.match(
            str(event.sender), digest(facts.call), request.session_key, self._clock()
        )
        return replace(facts, granted=grant is not None), grant.grant_id if grant is not None else ""

    async def _pre_screen(self, request: GateRequest, facts: Facts, typed: str) -> str | None:
        """What the approval model says; None when it is unavailable."""
        if await self._store.approvals.get(request.approval_id) is not None:
            # Before a restart it came before people, and theirs is the word that counts.
            return _ESCALATED
        begun = self._clock()
        sight = Sight(self._options.network_allowed, typed, request.edited_by)
        review_id = token_hex(8)
        prompt = await asyncio.to_thread(review_prompt, facts, sight, self._mask, review_id)
        judgement = await self._judgement(request, prompt, review_id)
        await self._audit.record(
            "smart",
            turn=request.turn_id,
            call=request.call_key,
            model=judgement.judge or self._options.judge,
            answered_by=judgement.model,
            verdict=SmartAnswer(judgement.text).verdict.value,
            answer="(unavailable)" if judgement.text is None else judgement.text[:100],
            shown_whole=prompt is not None,
            digest=digest(facts.call),
            seconds=round((self._clock() - begun).total_seconds(), 3),
        )
        return judgement.text

    async def _judgement(self, request: GateRequest, prompt: str | None, review_id: str) -> Judgement:
        if self._ask_model is None:
            return Judgement(None)
        if prompt is None:
            return Judgement(_ESCALATED)
        review = Review(review_id, request.turn_id, request.session_key, RULES, prompt)
        return await self._ask_model(review)

    async def _ask_person(
        self, request: GateRequest, facts: Facts, decision: Decision, recheck: Callable[[], str]
    ) -> GateDecision | None:
        try:
            record = await self._asking.question(request, facts, decision)
        except Unworkable as error:
            return _refusal(request, str(error), StepName.INVALID)
        stored = await self._store.approvals.get(record.approval_id)
        if stored is not None and stored.digest != record.digest:
            await self._broker.withdraw(record.approval_id, _DRIFTED)
            return _refusal(request, _DRIFTED, StepName.HUMAN)
        await self._on_waiting(request.turn_id, True)
        try:
            answer = await self._broker.ask(record, request.on_shown)
        finally:
            await self._on_waiting(request.turn_id, False)
        if answer.was_edited:
            return None
        verdict = Verdict.ALLOW if answer.approved else Verdict.DENY
        final = replace(decision, verdict=verdict, approval_source=answer.source, reason=answer.sentence)
        return self._decision(
            request,
            facts,
            final,
            recheck,
            source=answer.source,
            authorised=answer.approved,
            approval_id=record.approval_id if answer.approved else None,
            decided_by=answer.by,
        )

    def _decision(
        self,
        request: GateRequest,
        facts: Facts,
        decision: Decision,
        recheck: Callable[[], str],
        *,
        source: ApprovalSource | None,
        authorised: bool,
        approval_id: ApprovalId | None = None,
        decided_by: str = "",
    ) -> GateDecision:
        by_person = decision.step is StepName.HUMAN
        sentence = decision.reason if by_person else _not_run(request.tool, decision.reason)
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
            cron_authorized=facts.caller.cron_authorized,
            decided_by=decided_by,
            restricted=is_restricted_by_star(facts.caller.sender, self._settings.access, facts.caller.paired),
            network=self._options.network_allowed,
            edited_by=request.edited_by,
            edited_by_name=request.edited_by_name,
            recheck=recheck,
        )


def is_authorised(facts: Facts, decision: Decision) -> bool:
    """Did a grant, the operator's allowlist or a cron authorisation pass what would not pass anyway?"""
    if decision.verdict is not Verdict.ALLOW:
        return False
    if decision.step is not StepName.UNATTENDED:
        return decision.step in _AUTHORISING
    passes_anyway = facts.risk is RiskLevel.READ_ONLY
    return not passes_anyway and (facts.caller.cron_authorized or facts.risk is RiskLevel.EXEC)


def _refusal(request: GateRequest, why: str, step: StepName = StepName.CONTEXT) -> GateDecision:
    return GateDecision(Verdict.DENY, step, why, _not_run(request.tool, why), args=request.args)


def _not_run(tool: str, why: str) -> str:
    """A sentence; what is said of arguments names the tool already, and may end with a question."""
    said = why.removeprefix(f"{tool}: ")
    return f"{tool} was not run: {said}{'' if said.endswith(('.', '?')) else '.'}"


def _process_of(args: Arguments) -> str:
    """The process that a call names; what is no object of arguments names none."""
    return str(args.get("process_id", "")) if isinstance(args, Mapping) else ""


def _drift(facts: Facts, surroundings: Surroundings, typed: str) -> str:
    """Has a file that the approval covers changed since, the tool, or the line that a process was given?"""
    if facts.call.tool == "process" and surroundings.typed_before(_process_of(facts.call.args)) != typed:
        return "Not executed: the process got other input in the meantime. Write the whole line again."
    if surroundings.look_at_definition(facts.call.tool).digest != facts.call.definition:
        return "Not executed: the tool's definition changed after the call was decided on. Ask for it again."
    if surroundings.bind is None:
        return ""
    changed = [b.path for b in facts.call.bound_files if surroundings.bind(b.path) != b]
    if not changed:
        return ""
    return f"Not executed: {', '.join(changed)} changed after the call was decided on. Ask for it again."
