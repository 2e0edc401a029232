"""The rules that ask, by program."""

from __future__ import annotations

from echo_bot.policy.guards.shell.rules import Rule
from echo_bot.policy.guards.shell.softrules import (
    frameworks,
    history,
    infrastructure,
    network,
    services,
    settings,
    system,
)

SOFT_RULES: tuple[Rule, ...] = (
    *services.RULES,
    *frameworks.RULES,
    *history.RULES,
    *infrastructure.RULES,
    *system.RULES,
    *settings.RULES,
    *network.RULES,
)


def by_program() -> dict[str, tuple[Rule, ...]]:
    """Every program's rules, in the order of the families."""
    found: dict[str, list[Rule]] = {}
    for rule in SOFT_RULES:
        for program in rule.programs:
            found.setdefault(program, []).append(rule)
    return {program: tuple(rules) for program, rules in found.items()}
