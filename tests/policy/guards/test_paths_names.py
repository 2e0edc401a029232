"""Every name rule keeps the promise of its own examples."""

from __future__ import annotations

import pytest

from echo_bot.policy.guards.sensitive_names import RULES, NameRule, fold, is_within, matching_rule

HOME = "/home/me"
EXAMPLES = [(rule, text, True) for rule in RULES for text in rule.match.split()] + [
    (rule, text, False) for rule in RULES for text in rule.not_match.split()
]


@pytest.mark.parametrize(
    ("rule", "text", "matches"), EXAMPLES, ids=lambda value: str(getattr(value, "what", value))
)
def test_a_rule_matches_its_examples_and_not_its_counterexamples(
    rule: NameRule, text: str, matches: bool
) -> None:
    found = matching_rule(
        fold(text.replace("~", HOME, 1) if text.startswith("~") else text), HOME, for_reading=False
    )
    assert (found is not None and found.what == rule.what) if matches else found is None


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.where}: {rule.what}")
def test_every_rule_has_examples_both_ways(rule: NameRule) -> None:
    assert rule.match.split()
    assert rule.not_match.split()


def test_start_up_files_may_be_read() -> None:
    assert matching_rule("/home/me/.bashrc", HOME, for_reading=True) is None
    assert matching_rule("/home/me/.bashrc", HOME, for_reading=False) is not None


def test_any_home_counts_as_a_home() -> None:
    for path in ("/root/.aws/x", "/home/other/.aws/x", "/users/other/.aws/x"):
        assert matching_rule(path, HOME, for_reading=True) is not None


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("/a/b", "/a/b", True),
        ("/a/b/c", "/a/b", True),
        ("/a/bc", "/a/b", False),
        ("/a/b /c", "/a/b", False),
        ("/anything", "/", True),
    ],
    ids=lambda value: str(value),
)
def test_within_goes_by_component(path: str, folder: str, expected: bool) -> None:
    assert is_within(path, folder) is expected
