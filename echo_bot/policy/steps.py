"""The gate's order: one tuple of small questions, the first answer decides. Pure: nobody is asked here."""

from __future__ import annotations

from collections.abc import Callable

from echo_bot.policy.access import is_elevated
from echo_bot.policy.call import Executor
from echo_bot.policy.decision import ApprovalSource, Decision, Finding, StepName, Verdict
from echo_bot.policy.facts import DEFINITION_CHANGED, UNSANDBOXED, Facts, SmartVerdict
from echo_bot.policy.names import names_tool
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.targets import FOREIGN_TARGET
from echo_bot.text.language import N_

Step = Callable[[Facts], Decision | None]

ELEVATED_TOOLS = frozenset({"exec", "execute_code", "process"})
_ASKED = {
    "exec": N_("Commands need a person's yes"),
    "execute_code": N_("Programs need a person's yes"),
    "process": N_("Background processes need a person's yes"),
    "delegate_task": N_("Workers need a person's yes"),
    "spawn_task": N_("Workers need a person's yes"),
}
_ASKED_OTHERWISE = N_("Calls that run code need a person's yes")
_ASKED_EACH_TIME = N_("A dangerous call needs a person's yes, each time")
NEVER_UNATTENDED = frozenset({FOREIGN_TARGET, "sensitive_write", DEFINITION_CHANGED})
"""Soft findings that need a person's eyes: without one they deny."""


def context(facts: Facts) -> Decision | None:
    caller = facts.caller
    if caller.sender.channel not in facts.settings.access.known_channels:
        return _deny(StepName.CONTEXT, f"the channel {caller.sender.channel!r} is not known")
    if not caller.sender.sender_id or not caller.address.chat_id:
        return _deny(StepName.CONTEXT, "the call carries no sender or no chat, so nobody answers for it")
    return None


def unknown_tool(facts: Facts) -> Decision | None:
    if facts.tool is None:
        return _deny(StepName.UNKNOWN_TOOL, f"there is no tool named {facts.call.tool!r}")
    return None


def filtered(facts: Facts) -> Decision | None:
    if facts.filtered_by is None:
        return None
    return _deny(StepName.FILTERED, f"{facts.call.tool} is taken away by {facts.filtered_by}")


def invalid(facts: Facts) -> Decision | None:
    if not facts.arguments_error:
        return None
    return _deny(StepName.INVALID, facts.arguments_error)


def hard_guard(facts: Facts) -> Decision | None:
    if not facts.hard_findings:
        return None
    return _deny(StepName.HARD_GUARD, _sentences(facts.hard_findings), facts)


def auto_deny(facts: Facts) -> Decision | None:
    if not names_tool(facts.settings.approval.auto_deny, facts.call.tool):
        return None
    return _deny(StepName.AUTO_DENY, f"permissions.approval.auto_deny names {facts.call.tool}", facts)


def exec_security(facts: Facts) -> Decision | None:
    if facts.settings.exec_security != "deny" or not runs_code(facts):
        return None
    return _deny(StepName.EXEC_SECURITY, "tools.exec.security is deny, so nothing is run", facts)


def elevation(facts: Facts) -> Decision | None:
    if not needs_elevation(facts):
        return None
    caller = facts.caller
    if is_elevated(caller.sender, facts.settings.access, caller.paired):
        return None
    return _deny(StepName.ELEVATION, _elevation_reason(facts), facts)


def unattended(facts: Facts) -> Decision | None:
    if not facts.caller.unattended:
        return None
    if facts.risk is RiskLevel.READ_ONLY:
        return _allow(StepName.UNATTENDED, "only reads", facts)
    if facts.risk is RiskLevel.DANGEROUS:
        return _deny(StepName.UNATTENDED, "a dangerous call never runs unattended", facts)
    needs_eyes = [finding for finding in facts.soft_findings if finding.kind in NEVER_UNATTENDED]
    if needs_eyes:
        return _deny(StepName.UNATTENDED, f"nobody is there to be asked: {_sentences(needs_eyes)}", facts)
    if facts.caller.cron_authorized:
        return _allow(StepName.UNATTENDED, "a person authorised this scheduled job", facts)
    return _by_unattended_policy(facts)


def risk_tier(facts: Facts) -> Decision | None:
    if facts.risk is RiskLevel.READ_ONLY:
        return _allow(StepName.RISK_TIER, "only reads", facts)
    if facts.risk is RiskLevel.WRITE and not facts.soft_findings:
        return _allow(StepName.RISK_TIER, "writes, and no guard objects", facts)
    return None


def auto_approve(facts: Facts) -> Decision | None:
    names = facts.settings.approval.auto_approve
    if facts.risk is RiskLevel.DANGEROUS or not names_tool(names, facts.call.tool):
        return None
    return _allow(StepName.AUTO_APPROVE, f"permissions.approval.auto_approve names {facts.call.tool}", facts)


def cli(facts: Facts) -> Decision | None:
    settings, caller = facts.settings, facts.caller
    at_the_terminal = caller.sender.channel == "cli" and caller.interactive and not caller.nested
    trusts = settings.approval.cli_auto_approve and settings.tools.security_profile == "personal_cli"
    if not (at_the_terminal and trusts) or _is_barred(facts):
        return None
    return _allow(StepName.CLI, "permissions.approval.cli_auto_approve: a person is at the terminal", facts)


def trusted_channel(facts: Facts) -> Decision | None:
    channel = facts.caller.sender.channel
    if channel not in facts.settings.approval.trusted_channels or _is_barred(facts):
        return None
    return _allow(StepName.TRUSTED_CHANNEL, f"permissions.approval.trusted_channels names {channel}", facts)


def mode_off(facts: Facts) -> Decision | None:
    if facts.settings.approval.mode != "off" or facts.risk is RiskLevel.DANGEROUS:
        return None
    return _allow(StepName.MODE_OFF, "permissions.approval.mode is off", facts)


def grant(facts: Facts) -> Decision | None:
    if has_valid_grant(facts):
        return _allow(StepName.GRANT, "a person granted exactly this call before", facts)
    if is_allowlisted(facts):
        return _allow(StepName.GRANT, "permissions.approval.allowlist covers it", facts)
    return None


def smart(facts: Facts) -> Decision | None:
    if facts.settings.approval.mode != "smart" or facts.risk is not RiskLevel.EXEC:
        return None
    if DEFINITION_CHANGED in facts.soft_kinds:
        return None  # a model would see a part of what the server says, in the server's words
    if facts.smart is None:
        return Decision(Verdict.ASK, StepName.SMART, "the approval model is asked first", facts.risk)
    match facts.smart.verdict:
        case SmartVerdict.APPROVE:
            return _allow(StepName.SMART, "the approval model approved", facts)
        case SmartVerdict.DENY:
            return _deny(StepName.SMART, "the approval model denied", facts)
        case SmartVerdict.UNAVAILABLE:
            return _deny(StepName.SMART, "approval model unavailable", facts)
        case SmartVerdict.ESCALATE:
            return None


def nested(facts: Facts) -> Decision | None:
    if not facts.caller.nested:
        return None
    return _deny(StepName.NESTED, "a worker cannot ask a person; call it from the conversation itself", facts)


def human(facts: Facts) -> Decision | None:
    why = _sentences(facts.soft_findings) if facts.soft_findings else _needs_a_yes(facts)
    return Decision(Verdict.ASK, StepName.HUMAN, why, facts.risk)


STEPS: tuple[Step, ...] = (
    context,
    unknown_tool,
    filtered,
    invalid,
    hard_guard,
    auto_deny,
    exec_security,
    elevation,
    unattended,
    risk_tier,
    auto_approve,
    cli,
    trusted_channel,
    mode_off,
    grant,
    smart,
    nested,
    human,
)
"""In the order of `StepName`; the last one always answers."""


def decide(facts: Facts) -> Decision:
    """The first step's answer."""
    decision = trace(facts)[-1][1]
    return decision if decision is not None else _deny(StepName.HUMAN, "no step answered", facts)


def trace(facts: Facts) -> tuple[tuple[StepName, Decision | None], ...]:
    """Every step that was asked with its answer; the last one is the decision."""
    asked: list[tuple[StepName, Decision | None]] = []
    for name, step in zip(StepName, STEPS, strict=True):
        decision = step(facts)
        asked.append((name, decision))
        if decision is not None:
            break
    return tuple(asked)


def runs_code(facts: Facts) -> bool:
    """Would this call start code, or feed it to a process?"""
    if facts.call.tool == "process":
        return facts.call.args.get("action") in ("start", "write")
    return facts.call.tool in ("exec", "execute_code", "skill_run")


def needs_elevation(facts: Facts) -> bool:
    """Does the call land on a host that only elevated callers may use?"""
    if facts.call.tool not in ELEVATED_TOOLS:
        return False
    lands_outside = facts.call.executor in (Executor.LOCAL, Executor.REMOTE)
    return lands_outside or facts.settings.exec_security == "full"


def has_valid_grant(facts: Facts) -> bool:
    """A stored grant for a call that is never offered one is ignored."""
    return facts.granted and facts.grantable and facts.risk is not RiskLevel.DANGEROUS


def is_allowlisted(facts: Facts) -> bool:
    """Does the operator's allowlist pass it? No soft finding but `unsandboxed` may stand."""
    return facts.allowlisted and facts.risk is not RiskLevel.DANGEROUS and facts.soft_kinds <= {UNSANDBOXED}


def _by_unattended_policy(facts: Facts) -> Decision:
    if facts.settings.approval.unattended_policy == "deny":
        return _deny(StepName.UNATTENDED, "permissions.approval.unattended_policy is deny", facts)
    if facts.risk is RiskLevel.WRITE:
        return _allow(StepName.UNATTENDED, "permissions.approval.unattended_policy is allow_safe", facts)
    if not facts.soft_findings and (has_valid_grant(facts) or is_allowlisted(facts)):
        return _allow(StepName.UNATTENDED, "allow_safe, and a grant or the allowlist covers it", facts)
    return _deny(StepName.UNATTENDED, "allow_safe runs code only with a grant and no finding", facts)


def _is_barred(facts: Facts) -> bool:
    """Conveniences pass neither a dangerous call nor one a guard wants looked at."""
    return facts.risk is RiskLevel.DANGEROUS or bool(facts.soft_findings)


def _needs_a_yes(facts: Facts) -> str:
    if facts.risk is RiskLevel.DANGEROUS:
        return _ASKED_EACH_TIME
    return _ASKED.get(facts.call.tool, _ASKED_OTHERWISE)


def _elevation_reason(facts: Facts) -> str:
    who = f"{facts.caller.sender} is not elevated"
    how = (
        "permissions.admin_users, or permissions.elevated.allow_from with permissions.elevated.enabled: true"
    )
    if facts.settings.exec_security == "full":
        return f"tools.exec.security is full, and {who}; the operator names senders in {how}"
    if UNSANDBOXED in facts.soft_kinds:
        return (
            f"no sandbox works here, so it would run on this computer itself, and {who}; the operator can "
            f"install bubblewrap, or name the sender in {how} (tools.exec.host: local alone is not enough)"
        )
    lands = f"it would run on the {facts.call.executor.value} host (tools.exec.host)"
    return f"{lands}, and {who}; the operator names senders in {how}"


def _sentences(findings: tuple[Finding, ...] | list[Finding]) -> str:
    return "; ".join(finding.sentence.rstrip(".") for finding in findings)


def _allow(step: StepName, reason: str, facts: Facts) -> Decision:
    return Decision(Verdict.ALLOW, step, reason, facts.risk, ApprovalSource.AUTO)


def _deny(step: StepName, reason: str, facts: Facts | None = None) -> Decision:
    """A refusal; with `facts` once the risk counts as classified."""
    return Decision(Verdict.DENY, step, reason, None if facts is None else facts.risk)
