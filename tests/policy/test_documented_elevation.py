"""Who may run code where: every caller, host and value of tools.exec.security, by the documents' rule.

Elevation is needed by exec, execute_code and process, and only on a local or remote host or where
tools.exec.security is full. Admins always have it; anybody else by `allow_from`, while it is enabled.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

from echo_bot.cli.explaining import facts_of, read_case
from echo_bot.config.loader import config_from_keys
from echo_bot.config.policy import policy_settings
from echo_bot.policy.decision import Decision
from echo_bot.policy.settings import PolicySettings
from echo_bot.policy.steps import decide

TELEGRAM = {"channel": "telegram", "sender_id": "42", "chat_id": "42"}
ALLOW_FROM = "permissions.elevated.allow_from"
ENABLED = "permissions.elevated.enabled"
ADMINS = "permissions.admin_users"

CALLERS: dict[str, tuple[dict[str, object], bool]] = {
    "a stranger": ({}, False),
    "a stranger while others are listed": ({ENABLED: True, ALLOW_FROM: {"telegram": ["7"]}}, False),
    "a listed sender while elevation is off": ({ALLOW_FROM: {"telegram": ["42"]}}, False),
    "a listed sender": ({ENABLED: True, ALLOW_FROM: {"telegram": ["42"]}}, True),
    "a sender under a star of the channel": ({ENABLED: True, ALLOW_FROM: {"telegram": ["*"]}}, True),
    "a sender listed for every channel": ({ENABLED: True, ALLOW_FROM: {"*": ["42"]}}, True),
    "a sender under two stars": ({ENABLED: True, ALLOW_FROM: {"*": ["*"]}}, True),
    "a sender listed for another channel": ({ENABLED: True, ALLOW_FROM: {"slack": ["42"]}}, False),
    "an admin while elevation is off": ({ADMINS: ["telegram:42"]}, True),
    "an admin by a bare id": ({ADMINS: ["42"], ENABLED: True}, True),
}  # fmt: skip
"""What the configuration says of the sender, and whether that elevates."""

HOSTS = {"sandbox": False, "container": False, "local": True, "remote": True}
"""Where the call lands, and whether that place is for elevated callers only."""

CALLS: dict[str, tuple[dict[str, object], bool]] = {
    "exec": ({"tool": "exec", "args": {"command": "make"}}, True),
    "execute_code": ({"tool": "execute_code", "args": {"code": "print(1)", "language": "python"}}, True),
    "process start": ({"tool": "process", "args": {"action": "start", "command": "make"}}, True),
    "skill_run": ({"tool": "skill_run", "args": {"name": "a", "script": "b.py"}}, False),
    "delegate_task": ({"tool": "delegate_task", "args": {"goal": "tidy up"}}, False),
    "write_file": ({"tool": "write_file", "args": {"path": "a.txt", "content": "b"}}, False),
    "cronjob delete": (
        {"tool": "cronjob", "args": {"action": "delete", "name": "nightly"}},
        False,
    ),
}  # fmt: skip
"""A call, and whether its tool is one that elevation is about."""

STOPPED_BY_SECURITY_DENY = {"exec", "execute_code", "process start", "skill_run"}


def expected_step(caller: str, host: str, security: str, call: str) -> str:
    if security == "deny" and call in STOPPED_BY_SECURITY_DENY:
        return "exec_security"
    is_about_it = CALLS[call][1] and (HOSTS[host] or security == "full")
    if is_about_it and not CALLERS[caller][1]:
        return "elevation"
    return "risk_tier" if call == "write_file" else "human"


@cache
def settings(caller: str, host: str, security: str) -> PolicySettings:
    keys = {**CALLERS[caller][0], "tools.exec.host": host, "tools.exec.security": security}
    return policy_settings(config_from_keys(keys))


def decided(asked: dict[str, object], where: PolicySettings) -> Decision:
    return decide(facts_of(read_case({"id": "", **asked}), where))


def said(row: tuple[str, str, str, str]) -> str:
    caller, host, security, call = row
    step = expected_step(*row)
    how = {"elevation": "may not", "exec_security": "cannot, for nothing is run,"}.get(step, "may")
    return f"{caller} {how} {call} on {host} under security {security}"


ROWS = list(product(CALLERS, HOSTS, ("deny", "allowlist", "full"), CALLS))


@pytest.mark.parametrize("row", ROWS, ids=said)
def test_elevation(row: tuple[str, str, str, str]) -> None:
    caller, host, security, call = row
    decision = decided({"event": TELEGRAM, "call": CALLS[call][0]}, settings(caller, host, security))
    assert decision.step == expected_step(*row), decision


AUTO = [
    ("a stranger", "sandbox", "human", "ask"),
    ("a stranger", "local", "elevation", "deny"),
    ("an admin while elevation is off", "sandbox", "human", "ask"),
    ("an admin while elevation is off", "local", "human", "ask"),
]


@pytest.mark.parametrize(
    ("caller", "lands", "step", "verdict"),
    AUTO,
    ids=[f"{caller} under host auto where it lands on {lands}" for caller, lands, *_ in AUTO],
)
def test_host_auto_counts_as_where_it_lands(caller: str, lands: str, step: str, verdict: str) -> None:
    asked: dict[str, object] = {"event": TELEGRAM, "call": CALLS["exec"][0], "executor": lands}
    decision = decided(asked, settings(caller, "auto", "allowlist"))
    assert (decision.step, decision.verdict) == (step, verdict)


def test_only_a_person_passes_an_unsandboxed_call_at_the_terminal() -> None:
    asked: dict[str, object] = {"call": CALLS["exec"][0], "executor": "local"}
    unchosen = decided(asked, settings("a stranger", "auto", "allowlist"))
    assert (unchosen.step, unchosen.verdict) == ("human", "ask")
    chosen = decided(asked, settings("a stranger", "local", "allowlist"))
    assert (chosen.step, chosen.verdict) == ("cli", "allow")
