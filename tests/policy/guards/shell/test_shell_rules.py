"""Every soft rule proves itself by its own examples."""

from __future__ import annotations

import pytest

from echo_bot.policy.guards.shell.rules import Rule, options_for
from echo_bot.policy.guards.shell.softrules import SOFT_RULES


def fires(rule: Rule, example: str) -> bool:
    name, *args = example.split()
    return name in rule.programs and rule.fires(options_for(name, args))


@pytest.mark.parametrize("rule", SOFT_RULES, ids=lambda rule: f"{rule.kind}: {rule.match[0]}")
def test_the_rule_fires_for_its_examples_alone(rule: Rule) -> None:
    assert [example for example in rule.match if not fires(rule, example)] == []
    assert [example for example in rule.not_match if fires(rule, example)] == []
