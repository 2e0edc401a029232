"""A tool whose definition a server gave: what is approved covers it, and a changed one asks again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from echo_bot.approval.gather import Asked, Surroundings, answered, gather
from echo_bot.events import Address, Identity
from echo_bot.policy.call import digest
from echo_bot.policy.decision import StepName, Verdict
from echo_bot.policy.definitions import DefinitionSight
from echo_bot.policy.facts import Caller, Facts
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import AllowEntry, ApprovalSettings, PolicySettings
from echo_bot.policy.steps import decide

CALLER = Caller(Identity("telegram", "42"), Address("telegram", "1000"))
MANUAL = ApprovalSettings()
KNOWN = DefinitionSight("d1")
CHANGED = DefinitionSight("d2", changed="the definition of this tool changed since it was approved: …")
WITHHELD = DefinitionSight("d3", withheld="its definition does not pass the scan")


def facts(
    sight: DefinitionSight,
    risk: str = "exec",
    *,
    caller: Caller = CALLER,
    approval: ApprovalSettings = MANUAL,
) -> Facts:
    settings = PolicySettings(approval=approval)
    asked = Asked("mcp_git_log", {"n": 1}, declared_risk=risk, capabilities=("mcp.call",))
    return gather(asked, caller, settings, Surroundings(look_at_definition=lambda tool: sight))


def test_the_digest_of_a_call_covers_the_definition() -> None:
    known = facts(KNOWN)
    assert digest(known.call) != digest(facts(CHANGED).call)
    assert digest(replace(known.call, definition="")) == digest(facts(DefinitionSight()).call)


@pytest.mark.parametrize("risk", ["read_only", "write", "exec"])
def test_a_changed_definition_asks_a_person_whatever_the_operator_said_of_the_risk(risk: str) -> None:
    decision = decide(facts(CHANGED, risk))
    assert (decision.verdict, decision.step) == (Verdict.ASK, StepName.HUMAN)
    assert "changed since it was approved" in decision.reason
    assert facts(CHANGED, risk).risk is RiskLevel.EXEC


def test_no_model_decides_on_a_changed_definition() -> None:
    smart = ApprovalSettings(mode="smart")
    for found in (facts(CHANGED, approval=smart), answered(facts(CHANGED, approval=smart), "APPROVE")):
        assert (decide(found).verdict, decide(found).step) == (Verdict.ASK, StepName.HUMAN)
    assert decide(answered(facts(KNOWN, approval=smart), "APPROVE")).verdict is Verdict.ALLOW


def test_a_dangerous_tool_stays_dangerous() -> None:
    assert facts(CHANGED, "dangerous").risk is RiskLevel.DANGEROUS


def test_the_allowlist_covers_only_an_approved_definition() -> None:
    entry = AllowEntry("mcp_git_log", {"n": "*"})
    asked = Asked("mcp_git_log", {"n": "1"}, declared_risk="exec")
    settings = PolicySettings(approval=ApprovalSettings(allowlist=(entry,)))

    def step(sight: DefinitionSight) -> StepName:
        around = Surroundings(look_at_definition=lambda tool: sight)
        return decide(gather(asked, CALLER, settings, around)).step

    assert step(KNOWN) is StepName.GRANT
    assert step(CHANGED) is StepName.HUMAN


@pytest.mark.parametrize("cron_authorized", [False, True])
@pytest.mark.parametrize("risk", ["read_only", "exec"])
def test_a_changed_definition_is_denied_where_nobody_is_asked(cron_authorized: bool, risk: str) -> None:
    unattended = replace(CALLER, unattended=True, cron_authorized=cron_authorized)
    decision = decide(facts(CHANGED, risk, caller=unattended))
    assert (decision.verdict, decision.step) == (Verdict.DENY, StepName.UNATTENDED)


@pytest.mark.parametrize("risk", ["read_only", "exec"])
def test_a_withheld_tool_is_denied_even_with_mode_off(risk: str) -> None:
    decision = decide(facts(WITHHELD, risk, approval=ApprovalSettings(mode="off")))
    assert (decision.verdict, decision.step) == (Verdict.DENY, StepName.HARD_GUARD)
    assert "does not pass the scan" in decision.reason
