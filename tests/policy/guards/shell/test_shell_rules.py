"""Every rule proves itself by its own examples."""

from __future__ import annotations

import pytest

from echo_bot.policy.decision import Verdict
from echo_bot.policy.guards.shell import ShellReport, judge_command
from echo_bot.policy.guards.shell.hard import HARD_RULES, HardRule
from echo_bot.policy.guards.shell.rules import Rule, options_for
from echo_bot.policy.guards.shell.softrules import SOFT_RULES


def fires(rule: Rule, example: str) -> bool:
    name, *args = example.split()
    return name in rule.programs and rule.fires(options_for(name, args))


def judge(command: str) -> ShellReport:
    return judge_command(command, cwd="/srv/projects/echo/workspace", home="/home/user", env={})


def denied_kinds(command: str) -> set[str]:
    return {finding.kind for finding in judge(command).findings if finding.verdict is Verdict.DENY}


@pytest.mark.parametrize("rule", SOFT_RULES, ids=lambda rule: f"{rule.kind}: {rule.match[0]}")
def test_the_rule_fires_for_its_examples_alone(rule: Rule) -> None:
    assert [example for example in rule.match if not fires(rule, example)] == []
    assert [example for example in rule.not_match if fires(rule, example)] == []


@pytest.mark.parametrize("rule", HARD_RULES, ids=lambda rule: f"{rule.kind}: {rule.match[0]}")
def test_the_guard_denies_the_examples_of_a_hard_rule_alone(rule: HardRule) -> None:
    assert rule.match
    assert rule.not_match
    assert [example for example in rule.match if rule.kind not in denied_kinds(example)] == []
    assert [example for example in rule.not_match if denied_kinds(example)] == []


def test_every_program_of_a_hard_rule_has_a_judge() -> None:
    assert [rule.sentence for rule in HARD_RULES if bool(rule.programs) != (rule.judge is not None)] == []


@pytest.mark.parametrize(
    ("command", "verdict", "kind"),
    [
        ("find / -name '*' -delete", Verdict.DENY, "root_rm"),
        ("find / -iname '*' -exec rm {} +", Verdict.DENY, "root_rm"),
        ("find / -regex '.*' -delete", Verdict.DENY, "root_rm"),
        ("find / -name '*.tmp' -delete", Verdict.ASK, "recursive_delete"),
        ("vim -es '+%!rm -rf /etc' +q f", Verdict.DENY, "root_rm"),
        ("ex -sc '1,$!rm -rf /etc' f", Verdict.DENY, "root_rm"),
        ("irb <<< 'system(\"rm -rf /etc\")'", Verdict.DENY, "root_rm"),
        ("jshell <<< 'x()'", Verdict.ASK, "inline_interpreter"),
        ("echo x | iex", Verdict.ASK, "inline_interpreter"),
        ("kubectl debug n --image=x -- rm -rf /", Verdict.ASK, "root_rm"),
        ("oc debug node/n -- chroot /host reboot", Verdict.ASK, "shutdown"),
        ("unzip a.zip -d /", Verdict.ASK, "system_config"),
        ("tar -xzf a.tgz --directory=/usr", Verdict.ASK, "system_config"),
        ("cpio -idm -D / < a", Verdict.ASK, "system_config"),
    ],
)
def test_another_way_to_the_same_effect_is_found(command: str, verdict: Verdict, kind: str) -> None:
    assert (kind, verdict) in {(finding.kind, finding.verdict) for finding in judge(command).findings}


@pytest.mark.parametrize(
    "command",
    [
        "unzip a.zip -d out",
        "tar xzf a.tgz -C out",
        "vim -c '%s/a/b/' f",
        "jshell x.jsh",
        "swift build",
        "find . -name '*'",
    ],
)
def test_its_look_alikes_are_allowed(command: str) -> None:
    assert judge(command).findings == ()
