"""The gate's order, pinned; and what every step's answer carries."""

from __future__ import annotations

from dataclasses import replace

import pytest

from echo_bot.events import Address, Identity
from echo_bot.policy import steps
from echo_bot.policy.call import Call, Executor
from echo_bot.policy.catalogue import CATALOGUE, ToolEntry
from echo_bot.policy.decision import ApprovalSource, Decision, Finding, StepName, Verdict
from echo_bot.policy.facts import UNSANDBOXED, Caller, Facts, SmartAnswer
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import ApprovalSettings, PolicySettings

CALLER = Caller(Identity("telegram", "42"), Address("telegram", "1000"))
EXEC = Facts(
    caller=CALLER,
    settings=PolicySettings(),
    call=Call("exec", {"command": "make"}, "/w", Executor.SANDBOX),
    tool=CATALOGUE["exec"],
)
HARD = Finding("root_rm", Verdict.DENY, "it deletes a system folder.")
SOFT = Finding("recursive_delete", Verdict.ASK, "it deletes a folder and all in it.")


def test_the_order_is_this() -> None:
    assert [step.__name__ for step in steps.STEPS] == [
        "context",
        "unknown_tool",
        "filtered",
        "invalid",
        "hard_guard",
        "auto_deny",
        "exec_security",
        "elevation",
        "unattended",
        "risk_tier",
        "auto_approve",
        "cli",
        "trusted_channel",
        "mode_off",
        "grant",
        "smart",
        "nested",
        "human",
    ]


def test_every_step_stands_under_its_own_name() -> None:
    assert [step.__name__ for step in steps.STEPS] == [name.value for name in StepName]


def test_a_refusal_carries_the_findings_in_words() -> None:
    assert steps.decide(replace(EXEC, findings=(HARD, SOFT))) == Decision(
        Verdict.DENY, StepName.HARD_GUARD, "it deletes a system folder", RiskLevel.EXEC
    )


def test_a_question_carries_the_findings_in_words() -> None:
    assert steps.decide(replace(EXEC, findings=(SOFT,))) == Decision(
        Verdict.ASK, StepName.HUMAN, "it deletes a folder and all in it", RiskLevel.EXEC
    )


def test_the_model_is_asked_once_it_is_its_turn() -> None:
    smart = replace(EXEC, settings=PolicySettings(approval=ApprovalSettings(mode="smart")))
    decision = steps.decide(smart)
    assert (decision.verdict, decision.step) == (Verdict.ASK, StepName.SMART)
    answered = replace(smart, smart=SmartAnswer("APPROVE"))
    assert steps.decide(answered) == Decision(
        Verdict.ALLOW, StepName.SMART, "the approval model approved", RiskLevel.EXEC, ApprovalSource.AUTO
    )
    unavailable = steps.decide(replace(smart, smart=SmartAnswer(None)))
    assert (unavailable.verdict, unavailable.reason) == (Verdict.DENY, "approval model unavailable")


def test_the_trace_ends_with_the_decision() -> None:
    asked = steps.trace(replace(EXEC, findings=(HARD,)))
    assert [name for name, _ in asked] == [
        StepName.CONTEXT,
        StepName.UNKNOWN_TOOL,
        StepName.FILTERED,
        StepName.INVALID,
        StepName.HARD_GUARD,
    ]
    assert [decision for _, decision in asked[:-1]] == [None] * 4
    assert asked[-1][1] == steps.decide(replace(EXEC, findings=(HARD,)))


def test_no_step_says_human() -> None:
    for facts in (EXEC, replace(EXEC, granted=True, grantable=True), replace(EXEC, allowlisted=True)):
        assert steps.decide(facts).approval_source in (None, ApprovalSource.AUTO)


@pytest.mark.parametrize("granted", [True, False])
def test_a_stored_grant_for_a_call_that_is_never_offered_one_is_ignored(granted: bool) -> None:
    facts = replace(EXEC, granted=granted, grantable=False)
    assert steps.decide(facts).verdict is Verdict.ASK


def test_the_elevation_reason_names_the_keys_and_the_sandbox() -> None:
    unsandboxed = Finding(UNSANDBOXED, Verdict.ASK, "no sandbox")
    facts = replace(EXEC, call=replace(EXEC.call, executor=Executor.LOCAL), findings=(unsandboxed,))
    reason = steps.decide(facts).reason
    for named in (
        "bubblewrap",
        "tools.exec.host: local",
        "permissions.admin_users",
        "permissions.elevated.enabled",
    ):
        assert named in reason


@pytest.mark.parametrize(
    ("name", "tool", "says"),
    [
        ("exec", CATALOGUE["exec"], "Commands need a person's yes"),
        ("execute_code", CATALOGUE["execute_code"], "Programs need a person's yes"),
        ("process", CATALOGUE["process"], "Background processes need a person's yes"),
        ("skill_run", CATALOGUE["skill_run"], "Calls that run code need a person's yes"),
        ("exec", None, "A dangerous call needs a person's yes, each time"),
    ],
    ids=["commands", "code", "processes", "any other tool that runs code", "a dangerous call"],
)
def test_a_question_without_a_finding_says_in_plain_words_why(
    name: str, tool: ToolEntry | None, says: str
) -> None:
    decision = steps.human(replace(EXEC, call=replace(EXEC.call, tool=name), tool=tool))
    assert decision is not None
    assert decision.reason == says


def test_a_refusal_for_want_of_a_sandbox_names_what_helps() -> None:
    finding = Finding(UNSANDBOXED, Verdict.ASK, "no sandbox works here")
    call = replace(EXEC.call, executor=Executor.LOCAL)
    reason = steps.decide(replace(EXEC, call=call, findings=(finding,))).reason
    for words in (
        "telegram:42 is not elevated",
        "install bubblewrap",
        "permissions.admin_users",
        "tools.exec.host: local alone is not enough",
    ):
        assert words in reason
