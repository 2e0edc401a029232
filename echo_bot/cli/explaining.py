"""Explaining a call: the gate's facts and steps for a call that nobody makes, as plain values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from echo_bot.approval.gather import Asked, Surroundings, answered, gather, may_be_edited, offers, quorum_of
from echo_bot.approval.request import Choice
from echo_bot.channel import ChannelManifest
from echo_bot.config.loader import config_from_keys
from echo_bot.config.policy import policy_settings
from echo_bot.errors import EchoBotError
from echo_bot.events import Address, Identity
from echo_bot.policy.call import Executor, JsonValue, digest
from echo_bot.policy.catalogue import canonical_name
from echo_bot.policy.decision import Decision, StepName, Verdict
from echo_bot.policy.facts import Caller, Facts
from echo_bot.policy.settings import PolicySettings
from echo_bot.policy.steps import decide, trace

Row = dict[str, JsonValue]

_EXECUTORS = {executor.value: executor for executor in Executor if executor is not Executor.NONE}


_ID = re.compile(r'"id"\s*:\s*("(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*")')


class BadCase(ValueError):
    """A case line that does not say what is asked; the message says which field."""


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a file of cases, checked."""

    case_id: JsonValue
    asked: Asked
    caller: Caller
    config: Mapping[str, object] = field(default_factory=dict)
    grants: tuple[Asked, ...] = ()
    smart: str | None = None
    executor: Executor = Executor.SANDBOX


def explain_cases(lines: Iterable[str], manifests: tuple[ChannelManifest, ...] = ()) -> Iterator[Row]:
    """One answer a line, in order. A line that cannot be understood is denied, never skipped."""
    for line in lines:
        if line.strip():
            yield _explain_line(line, manifests)


def answer(case_id: JsonValue, decision: Decision) -> Row:
    """A decision as a row of the batch output."""
    return {
        "id": case_id,
        "verdict": decision.verdict.value,
        "step": decision.step.value,
        "risk": decision.risk.value if decision.risk else None,
        "approval_source": decision.approval_source.value if decision.approval_source else None,
        "reason": decision.reason,
    }


def explanation(facts: Facts) -> Row:
    """Everything `explain` says about one call. Steps after the decision were not asked."""
    asked = trace(facts)
    decision = decide(facts)
    steps: list[JsonValue] = [
        {
            "step": name.value,
            "verdict": made.verdict.value if made else None,
            "reason": made.reason if made else "",
        }
        for name, made in asked
    ]
    findings: list[JsonValue] = [
        {"kind": found.kind, "verdict": found.verdict.value, "sentence": found.sentence, "field": found.field}
        for found in facts.findings
    ]
    asks = decision.verdict is Verdict.ASK
    row = answer(None, decision)
    del row["id"]
    return {
        "tool": facts.call.tool,
        **row,
        "executor": facts.call.executor.value,
        "findings": findings,
        "commands": [command.text for command in facts.commands],
        "offers": [choice.value for choice in _offered(facts)] if asks else [],
        "approvals_needed": quorum_of(facts) if asks else 0,
        "steps": steps,
    }


def _offered(facts: Facts) -> tuple[Choice, ...]:
    return (*offers(facts), Choice.EDIT) if may_be_edited(facts) else offers(facts)


def would_pass_at_terminal(facts: Facts) -> bool:
    """Was the call judged as if nobody sat at the terminal, and would it be decided otherwise there?"""
    caller = facts.caller
    if caller.interactive or caller.sender.channel != "cli":
        return False
    return decide(replace(facts, caller=replace(caller, interactive=True))) != decide(facts)


def facts_of(case: Case, settings: PolicySettings) -> Facts:
    """The facts of a case: the same path as the running gate, with the case's word for what is outside it."""
    surroundings = Surroundings(auto_lands_on=case.executor)
    facts = gather(case.asked, case.caller, settings, surroundings)
    wanted = digest_or_none(facts)
    granted = wanted is not None and any(
        digest_or_none(gather(grant, case.caller, settings, surroundings)) == wanted for grant in case.grants
    )
    return answered(replace(facts, granted=granted), case.smart)


def digest_or_none(facts: Facts) -> str | None:
    """The digest of a valid call; what cannot be called has none."""
    if facts.tool is None or facts.filtered_by or facts.arguments_error:
        return None
    return digest(facts.call)


def _explain_line(line: str, manifests: tuple[ChannelManifest, ...]) -> Row:
    case_id: JsonValue = _id_in(line)
    try:
        row = json.loads(line)
        if not isinstance(row, dict):
            raise BadCase("a case is an object")
        case_id = row.get("id")
        case = read_case(row)
        config = config_from_keys(case.config, manifests)
        settings = policy_settings(config, manifests=manifests)
        return answer(case_id, decide(facts_of(case, settings)))
    except (ValueError, EchoBotError) as error:
        return answer(case_id, _refused(str(error)))
    except Exception as error:  # noqa: BLE001 - a line that breaks a check is denied, and the next one judged
        return answer(case_id, _refused(f"a check failed ({type(error).__name__})"))


def _id_in(line: str) -> str | None:
    """The id that a line seems to have, for the answer to one that is not JSON."""
    found = _ID.search(line)
    return json.loads(found[1]) if found else None


def _refused(reason: str) -> Decision:
    return Decision(Verdict.DENY, StepName.CONTEXT, " ".join(reason.split()))


def read_case(row: Mapping[str, object]) -> Case:
    """Check one case. Raises BadCase naming the field."""
    call = _table(row, "call")
    asked = Asked(
        tool=_text(call, "tool"),
        args=call.get("args", {}),
        declared_risk=_declared_risk(row),
        capabilities=_texts(row, "capabilities"),
    )
    smart = row.get("smart")
    if smart is not None and not isinstance(smart, str):
        raise BadCase("smart must be text or null")
    return Case(
        case_id=None,
        asked=asked,
        caller=_caller(_table(row, "event", optional=True), _flag(row, "nested")),
        config=_table(row, "config", optional=True),
        grants=tuple(_grants(row, asked)),
        smart=smart,
        executor=_executor(row),
    )


def _caller(event: Mapping[str, object], nested: bool) -> Caller:
    """Whose call it is. Metadata is never looked at."""
    channel, account = _text(event, "channel", "cli"), _text(event, "account", "")
    return Caller(
        sender=Identity(channel, _id(event, "sender_id"), account),
        address=Address(channel, _id(event, "chat_id"), account=account),
        unattended=_flag(event, "unattended"),
        cron_authorized=_flag(event, "cron_authorized"),
        nested=nested,
        interactive=channel == "cli",
    )


def _grants(row: Mapping[str, object], asked: Asked) -> Iterator[Asked]:
    """The grants that can concern this call: for the same tool, with the same declaration."""
    grants = _absent_as_empty(row.get("grants"))
    if not isinstance(grants, list) or not all(isinstance(grant, dict) for grant in grants):
        raise BadCase("grants must be a list of {tool, args}")
    for grant in grants:
        tool = _text(grant, "tool")
        if canonical_name(tool) == canonical_name(asked.tool):
            yield replace(asked, tool=tool, args=grant.get("args", {}))


def _executor(row: Mapping[str, object]) -> Executor:
    name = row.get("executor")
    if name is None:
        return Executor.SANDBOX
    if not isinstance(name, str) or name not in _EXECUTORS:
        raise BadCase(f"executor must be one of {', '.join(_EXECUTORS)}")
    return _EXECUTORS[name]


def _declared_risk(row: Mapping[str, object]) -> str | None:
    """A declaration of any kind counts: what is none of the four levels is dangerous."""
    declared = row.get("declared_risk")
    return None if declared is None else declared if isinstance(declared, str) else repr(declared)


def _table(row: Mapping[str, object], name: str, *, optional: bool = False) -> dict[str, object]:
    value = row.get(name)
    if value is None and optional:
        return {}
    if not isinstance(value, dict):
        raise BadCase(f"{name} must be an object")
    return value


def _text(row: Mapping[str, object], name: str, default: str | None = None) -> str:
    value = row.get(name, default)
    if not isinstance(value, str):
        raise BadCase(f"{name} must be text")
    return value


def _id(event: Mapping[str, object], name: str) -> str:
    value = event.get(name, "local")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise BadCase(f"{name} must be text")
    return value


def _texts(row: Mapping[str, object], name: str) -> tuple[str, ...]:
    values = _absent_as_empty(row.get(name))
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise BadCase(f"{name} must be a list of texts")
    return tuple(values)


def _flag(row: Mapping[str, object], name: str) -> bool:
    value = row.get(name)
    if value is not None and not isinstance(value, bool):
        raise BadCase(f"{name} must be true or false")
    return value is True


def _absent_as_empty(value: object) -> object:
    return [] if value is None else value
