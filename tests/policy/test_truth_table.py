"""Unattended × authorised × risk × policy × nested × judge, for every finding, cover, convenience and place.

`TABLE` is written from the documents (the approval flow; D10-D17, D22, D32), never from the code: the first
line that fits a call says what becomes of it. Both `decide` and `explain --cases` must agree with it. `lands`
is where an exec call would run; `judge` what the model says, or the mode under which none is asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import islice, product
from typing import Any

import pytest

from echo_bot.approval.gate import is_authorised
from echo_bot.cli.explaining import explain_cases
from echo_bot.events import Address, Identity
from echo_bot.policy.call import Call, Executor
from echo_bot.policy.catalogue import CATALOGUE, ToolEntry
from echo_bot.policy.decision import ApprovalSource, Finding, Verdict
from echo_bot.policy.facts import Caller, Facts, SmartAnswer
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import AccessSettings, ApprovalSettings, PolicySettings
from echo_bot.policy.steps import decide

TABLE = """
presence    authorised risk       policy     caller   judge       finding     cover     convenience  lands     verdict step
*           *          exec       *          *        *           *           *         *            refused   deny  elevation
unattended  *          read_only  *          *        *           *           *         *            *         allow unattended
unattended  *          dangerous  *          *        *           *           *         *            *         deny  unattended
unattended  *          *          *          *        *           eyes        *         *            *         deny  unattended
unattended  yes        *          *          *        *           *           *         *            *         allow unattended
unattended  *          *          deny       *        *           *           *         *            *         deny  unattended
unattended  *          write      allow_safe *        *           *           *         *            *         allow unattended
unattended  *          exec       allow_safe *        *           none        grant     *            *         allow unattended
unattended  *          exec       allow_safe *        *           none        allowlist *            *         allow unattended
unattended  *          exec       allow_safe *        *           *           *         *            *         deny  unattended
attended    *          read_only  *          *        *           *           *         *            *         allow risk_tier
attended    *          write      *          *        *           none        *         *            *         allow risk_tier
attended    *          dangerous  *          worker   *           *           *         *            *         deny  nested
attended    *          dangerous  *          *        *           *           *         *            *         ask   human
attended    *          *          *          *        *           *           *         auto_approve *         allow auto_approve
attended    *          *          *          main     *           none        *         terminal     *         allow cli
attended    *          *          *          *        *           none        *         trusted      *         allow trusted_channel
attended    *          *          *          *        off         *           *         *            *         allow mode_off
attended    *          *          *          *        *           *           grant     *            *         allow grant
attended    *          *          *          *        *           none        allowlist *            *         allow grant
attended    *          *          *          *        *           unsandboxed allowlist *            *         allow grant
attended    *          exec       *          *        approves    *           *         *            *         allow smart
attended    *          exec       *          *        denies      *           *         *            *         deny  smart
attended    *          exec       *          *        absent      *           *         *            *         deny  smart
attended    *          *          *          worker   *           *           *         *            *         deny  nested
attended    *          *          *          *        *           *           *         *            *         ask   human
"""  # noqa: E501 - a table


@dataclass(frozen=True, slots=True)
class Situation:
    """One call: a value for every column of the table."""

    presence: str
    authorised: str
    risk: str
    policy: str
    caller: str
    judge: str
    finding: str = "none"
    cover: str = "none"
    convenience: str = "none"
    lands: str = "sandbox"

    @property
    def values(self) -> list[str]:
        return [getattr(self, column.name) for column in fields(self)]


HEAD, *LINES = [line.split() for line in TABLE.strip().splitlines()]


def expected(situation: Situation) -> tuple[str, str]:
    """The verdict and the step that the first fitting line names."""
    for line in LINES:
        *wanted, verdict, step = line
        if all(want in ("*", value) for want, value in zip(wanted, situation.values, strict=True)):
            return verdict, step
    raise AssertionError(situation)


MAIN = {
    "presence": ("attended", "unattended"),
    "authorised": ("no", "yes"),
    "risk": ("read_only", "write", "exec", "dangerous"),
    "policy": ("deny", "allow_safe"),
    "caller": ("main", "worker"),
    "judge": ("approves", "denies", "escalates", "absent", "manual", "off"),
}
FURTHER = {
    "finding": ("none", "soft", "eyes", "unsandboxed"),
    "cover": ("none", "grant", "allowlist", "void"),
    "convenience": ("none", "auto_approve", "terminal", "trusted"),
    "lands": ("sandbox", "elevated", "refused"),
}
SITUATIONS = [Situation(*values) for values in product(*MAIN.values())]


def variants(of: Situation) -> Iterator[Situation]:
    """The same call with every finding, cover, convenience and place."""
    for values in product(*FURTHER.values()):
        yield replace(of, **dict(zip(FURTHER, values, strict=True)))


def sentence(of: Situation) -> str:
    whose = "a worker's" if of.caller == "worker" else "a"
    job = f"{of.presence} and {'' if of.authorised == 'yes' else 'not '}authorised"
    judge = {
        "approves": "with a model that approves",
        "denies": "with a model that denies",
        "escalates": "with a model that escalates",
        "absent": "with no model to be had",
        "manual": "in mode manual",
        "off": "in mode off",
    }[of.judge]
    verdict, step = expected(of)
    end = {"allow": "passes", "deny": "is denied", "ask": "asks"}[verdict]
    return f"{whose} plain {of.risk} call, {job}, under {of.policy}, {judge}, {end} at {step}"


SENTENCES = [sentence(situation) for situation in SITUATIONS]


@pytest.mark.parametrize("situation", SITUATIONS, ids=SENTENCES)
def test_the_gate_decides_as_the_documents_say(situation: Situation) -> None:
    for variant in variants(situation):
        facts = facts_of(variant)
        decision = decide(facts)
        assert (decision.verdict.value, decision.step.value) == expected(variant), variant
        passed = decision.verdict is Verdict.ALLOW
        assert decision.approval_source is (ApprovalSource.AUTO if passed else None)
        assert is_authorised(facts, decision) == (passed and was_authorised(variant)), variant


@pytest.mark.parametrize(
    ("number", "situation"), list(enumerate(SITUATIONS)), ids=[f"explained: {each}" for each in SENTENCES]
)
def test_explain_agrees(number: int, situation: Situation) -> None:
    """With real calls, of which each situation has a share of the variants that exist."""
    possible = [variant for variant in variants(situation) if call_of(variant) is not None]
    for variant in islice(possible, number % 23, None, 23):
        (answer,) = explain_cases([json.dumps(case_of(variant))])
        assert (answer["verdict"], answer["step"]) == expected(variant), (variant, answer)


def was_authorised(of: Situation) -> bool:
    """D38: a grant, the operator's allowlist or a cron authorisation passed it."""
    _, step = expected(of)
    if step == "unattended":
        return of.risk != "read_only" and (of.authorised == "yes" or of.risk == "exec")
    return step == "grant"


FINDINGS = {
    "none": (),
    "soft": (Finding("recursive_delete", Verdict.ASK, "it deletes a folder."),),
    "eyes": (Finding("foreign_target", Verdict.ASK, "it goes elsewhere."),),
    "unsandboxed": (Finding("unsandboxed", Verdict.ASK, "no sandbox works here."),),
}
SAYS = {"approves": "APPROVE", "denies": "DENY", "escalates": "ESCALATE"}


def facts_of(of: Situation) -> Facts:
    channel = "cli" if of.convenience == "terminal" else "telegram"
    name = "exec" if of.risk == "exec" else "own_tool"
    risk = RiskLevel(of.risk)
    tool = CATALOGUE["exec"] if of.risk == "exec" else ToolEntry(name, frozenset(), {}, declared_risk=risk)
    approval = ApprovalSettings(
        mode=mode_of(of),  # type: ignore[arg-type]  # one of the three words
        auto_approve=("exec", "own_tool") if of.convenience == "auto_approve" else (),
        trusted_channels=("telegram",) if of.convenience == "trusted" else (),
        unattended_policy=of.policy,  # type: ignore[arg-type]  # one of the two words
    )
    access = AccessSettings(admin_users=(f"{channel}:42",) if of.lands == "elevated" else ())
    return Facts(
        caller=Caller(
            Identity(channel, "42"),
            Address(channel, "1000"),
            unattended=of.presence == "unattended",
            cron_authorized=of.authorised == "yes",
            nested=of.caller == "worker",
            interactive=channel == "cli",
        ),
        settings=PolicySettings(approval=approval, access=access),
        call=Call(name, {}, "/w", Executor.SANDBOX if of.lands == "sandbox" else Executor.LOCAL),
        tool=tool,
        findings=FINDINGS[of.finding],
        granted=of.cover in ("grant", "void"),
        grantable=of.cover == "grant",
        allowlisted=of.cover == "allowlist",
        smart=SmartAnswer(SAYS.get(of.judge)),
    )


def mode_of(of: Situation) -> str:
    return of.judge if of.judge in ("manual", "off") else "smart"


CALLS: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {
    ("read_only", "none"): ("read_file", {"path": "README.md"}),
    ("write", "none"): ("write_file", {"path": "notes.txt", "content": "hello"}),
    ("write", "eyes"): ("message", {"text": "hi", "target": "telegram:999"}),
    ("exec", "none"): ("exec", {"command": "make build"}),
    ("exec", "soft"): ("exec", {"command": "rm -r build"}),
    ("exec", "unsandboxed"): ("exec", {"command": "make build"}),
    ("dangerous", "none"): ("skill_manage", {"action": "delete", "name": "old"}),
    ("dangerous", "eyes"): (
        "cronjob",
        {
            "action": "create",
            "name": "d",
            "schedule": "@daily",
            "instruction": "hi",
            "target": "telegram:999",
        },
    ),
}


def call_of(of: Situation) -> tuple[str, dict[str, Any]] | None:
    """A call that is in this situation, where there is one."""
    if of.cover == "void":
        code = ("exec", {"command": "python3 -c 'print(1)'"})
        return code if (of.risk, of.finding) == ("exec", "soft") and of.lands == "sandbox" else None
    if (of.finding == "unsandboxed") != (of.lands != "sandbox") and of.finding == "unsandboxed":
        return None
    return CALLS.get((of.risk, of.finding))


def case_of(of: Situation) -> dict[str, Any]:
    found = call_of(of)
    assert found is not None
    tool, args = found
    channel = "cli" if of.convenience == "terminal" else "telegram"
    config: dict[str, Any] = {
        "permissions.approval.mode": mode_of(of),
        "permissions.approval.unattended_policy": of.policy,
        "permissions.admin_users": [f"{channel}:42"] if of.lands == "elevated" else ["telegram:4"],
        "permissions.approval.auto_approve": [tool] if of.convenience == "auto_approve" else [],
        "permissions.approval.trusted_channels": [channel] if of.convenience == "trusted" else [],
        "permissions.approval.allowlist": [{"tool": tool, "args": args}] if of.cover == "allowlist" else [],
    }
    if of.finding != "unsandboxed":
        config["tools.exec.host"] = "sandbox" if of.lands == "sandbox" else "local"
    return {
        "id": 1,
        "config": config,
        "event": {
            "channel": channel,
            "sender_id": "42",
            "chat_id": "1000",
            "unattended": of.presence == "unattended",
            "cron_authorized": of.authorised == "yes",
        },
        "nested": of.caller == "worker",
        "executor": "sandbox" if of.lands == "sandbox" else "local",
        "grants": [{"tool": tool, "args": args}] if of.cover in ("grant", "void") else [],
        "smart": SAYS.get(of.judge),
        "call": {"tool": tool, "args": args},
    }


def test_every_line_of_the_table_is_the_first_for_some_situation() -> None:
    left = {tuple(line) for line in LINES}
    for situation in SITUATIONS:
        for variant in variants(situation):
            first = next(
                line
                for line in LINES
                if all(w in ("*", v) for w, v in zip(line[:-2], variant.values, strict=True))
            )
            left.discard(tuple(first))
    assert left == set()


def test_the_columns_are_those_of_a_situation() -> None:
    columns = [each.name for each in fields(Situation)]
    assert [*columns, "verdict", "step"] == HEAD
    assert [*MAIN, *FURTHER] == columns
    assert len(set(SENTENCES)) == len(SITUATIONS)
