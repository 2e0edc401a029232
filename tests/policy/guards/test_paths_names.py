"""Every name rule keeps the promise of its own examples."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.policy.guards.sensitive_names import RULES, NameRule, expression, fold, is_within, matching_rule

HOME = "/home/me"
MATCHES = [(rule, text) for rule in RULES for text in rule.match.split()]
NO_MATCHES = [(rule, text) for rule in RULES for text in rule.not_match.split()]


def name_of(value: object) -> str:
    return f"{value.where}: {value.what}" if isinstance(value, NameRule) else str(value)


def matches_alone(rule: NameRule, text: str) -> bool:
    place = fold(text).removeprefix({"home": "~/", "system": "/", "anywhere": ""}[rule.where])
    start = "(?:^|/)" if rule.where == "anywhere" else "^"
    return re.search(f"{start}(?:{expression(rule)})$", place) is not None


@pytest.mark.parametrize(("rule", "text"), MATCHES, ids=name_of)
def test_a_rule_matches_its_examples(rule: NameRule, text: str) -> None:
    path = HOME + text[1:] if text.startswith("~") else text
    assert matches_alone(rule, text)
    assert matching_rule(fold(path), HOME, for_reading=rule.credential) is not None


@pytest.mark.parametrize(("rule", "text"), NO_MATCHES, ids=name_of)
def test_a_rule_does_not_match_its_counterexamples(rule: NameRule, text: str) -> None:
    assert not matches_alone(rule, text)


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_every_rule_has_examples_both_ways(rule: NameRule) -> None:
    assert rule.match.split()
    assert rule.not_match.split()


def test_start_up_files_may_be_read() -> None:
    assert matching_rule("/home/me/.bashrc", HOME, for_reading=True) is None
    assert matching_rule("/home/me/.bashrc", HOME, for_reading=False) is not None


@pytest.mark.parametrize("name", ["id_ed25519.pub", "known_hosts", "config"])
def test_what_is_no_secret_beside_ssh_keys_may_be_read_and_not_written(name: str) -> None:
    assert matching_rule(f"/home/me/.ssh/{name}", HOME, for_reading=True) is None
    assert matching_rule(f"/home/me/.ssh/{name}", HOME, for_reading=False) is not None
    assert matching_rule(f"/root/.ssh/{name}", HOME, for_reading=True) is not None


@pytest.mark.parametrize("home", ["/root", "/home/other", "/users/other"])
def test_any_home_counts_as_a_home(home: str) -> None:
    assert matching_rule(f"{home}/.aws/x", HOME, for_reading=True) is not None


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("/a/b", "/a/b", True),
        ("/a/b/c", "/a/b", True),
        ("/a/bc", "/a/b", False),
        ("/a/b /c", "/a/b", False),
        ("/anything", "/", True),
    ],
)
def test_within_goes_by_component(path: str, folder: str, expected: bool) -> None:
    assert is_within(path, folder) is expected


PIECES = ["git~1", "a", ".", " ", "::$", "/", "/", "B", "data", "é", "ﬀ"]


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_each_part_is_folded(path: str) -> None:
    assert fold(path) == "/".join(map(folded_part, path.split("/")))


def folded_part(part: str) -> str:
    text = unicodedata.normalize("NFKC", part).casefold()
    bare = text.split("::$")[0].rstrip(" .") or text
    return ".git" if bare == "git~1" else bare
