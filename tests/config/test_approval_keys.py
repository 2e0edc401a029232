"""The keys of who decides, how many and where: what the policy gets, what is complained about."""

from __future__ import annotations

import pytest

from echo_bot.config.checks import Objection, check
from echo_bot.config.loader import config_from_keys
from echo_bot.config.policy import policy_settings
from echo_bot.events import Address
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import ApprovalSettings
from echo_bot.policy.targets import Target

HEAD = "permissions.approval."


def approval(**keys: object) -> ApprovalSettings:
    return policy_settings(config_from_keys(dotted(keys))).approval


def dotted(keys: dict[str, object]) -> dict[str, object]:
    return {HEAD + key if "." not in key else key: value for key, value in keys.items()}


def objections(**keys: object) -> list[Objection]:
    return [found for found in check(config_from_keys(dotted(keys))) if found.key.startswith(HEAD)]


def test_the_policy_gets_every_key() -> None:
    made = approval(
        **{
            "quorum": {"dangerous": 2},
            "remind_after_seconds": 30,
            "escalate_to": ["ops"],
            "route": ["here", "ops"],
        },
        **{"delivery.targets": {"ops": "slack:C1:9"}},
    )
    ops = Target("address", Address("slack", "C1", "9"))
    assert made.quorum == {RiskLevel.DANGEROUS: 2}
    assert made.remind_after_seconds == 30
    assert made.escalate_to == (ops,)
    assert made.route == (Target("here"), ops)
    assert approval(route="dm").route == "dm"


@pytest.mark.parametrize(
    ("keys", "key", "refuses"),
    [
        ({"route": ["nowhere"]}, "route.0", True),
        ({"route": ["here", "telegram:"]}, "route.1", True),
        ({"escalate_to": ["boss"]}, "escalate_to.0", True),
        ({"escalate_to": ["*"]}, "escalate_to", True),
        ({"quorum": {"exec": 3}}, "quorum.exec", False),
        ({"quorum": {"exec": 2}, "requester_may_approve": {"exec": False}}, "quorum.exec", False),
        ({"quorum": {"exec": 2}, "approvers": ["cli:local", "web:local"]}, "quorum.exec", False),
        ({"quorum": {"exec": 3}, "approvers": ["telegram:1", "telegram:2"]}, "quorum.exec", False),
        ({"remind_after_seconds": 120}, "remind_after_seconds", False),
    ],
)
def test_what_cannot_work_is_complained_about(keys: dict[str, object], key: str, refuses: bool) -> None:
    [found] = objections(**keys)
    assert (found.key, found.refuses) == (HEAD + key, refuses)


@pytest.mark.parametrize(
    "keys",
    [
        {"route": "origin"},
        {"route": ["here", "owner", "telegram:1"]},
        {"quorum": {"exec": 1}},
        {"quorum": {"exec": 2}},
        {"quorum": {"exec": 2}, "approvers": ["telegram:1", "telegram:2"]},
        {"quorum": {"exec": 2}, "permissions.admin_users": ["telegram:1"]},
        {"remind_after_seconds": 120, "timeouts": {"dangerous": 600}},
    ],
)
def test_what_works_is_not(keys: dict[str, object]) -> None:
    assert objections(**keys) == []
