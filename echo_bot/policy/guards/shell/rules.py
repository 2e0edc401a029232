"""A rule: program, leading words and options as data, with the examples that prove it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from echo_bot.policy.decision import Verdict
from echo_bot.policy.guards.shell.options import Options, OptionTable, names, read_options


@dataclass(frozen=True, slots=True)
class Rule:
    """Fires when a command of `programs` has the operands `words` in order and one of `flags`.

    Each entry of `words` names alternatives separated by "|"; "*" stands for any operand. `unless` are
    options that make the command harmless. `match` and `not_match` are examples: a test runs each of them.
    """

    kind: str
    programs: frozenset[str]
    sentence: str
    words: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()
    unless: frozenset[str] = frozenset()
    verdict: Verdict = Verdict.ASK
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()

    def fires(self, options: Options) -> bool:
        if self.unless and options.has_exactly(*self.unless):
            return False
        if self.flags and not options.has(*self.flags):
            return False
        return _words_match(self.words, options.rest)


def _words_match(words: tuple[str, ...], operands: list[str]) -> bool:
    if len(operands) < len(words):
        return False
    for pattern, operand in zip(words, operands, strict=False):
        if not any(_word_matches(one, operand.lower()) for one in pattern.split("|")):
            return False
    return True


def _word_matches(pattern: str, operand: str) -> bool:
    """`*` is any operand; `%` inside a word is any text."""
    if "%" in pattern:
        return re.fullmatch(re.escape(pattern).replace("%", ".*"), operand, re.DOTALL) is not None
    return pattern in ("*", operand)


_HELP = "help version usage"
DRY_RUN = "help version dry-run n"
"""Options with which a program only says what it would do."""


def rule(
    kind: str,
    programs: str,
    sentence: str,
    words: str = "",
    flags: str = "",
    unless: str = _HELP,
    *,
    hard: bool = False,
    match: Iterable[str] = (),
    not_match: Iterable[str] = (),
) -> Rule:
    return Rule(
        kind,
        names(programs),
        sentence,
        tuple(words.split()),
        names(flags),
        names(unless),
        Verdict.DENY if hard else Verdict.ASK,
        tuple(match),
        tuple(not_match),
    )


def option_table(program: str) -> OptionTable:
    """Options of a program that take a value, so that they are not taken for operands."""
    return VALUE_OPTIONS.get(program, _NO_VALUES)


_NO_VALUES = OptionTable()
VALUE_OPTIONS: dict[str, OptionTable] = {
    "git": OptionTable("Cc", names("git-dir work-tree namespace exec-path config-env")),
    "kubectl": OptionTable(
        "nslfoc",
        names("namespace context cluster user kubeconfig server token as selector filename output container"),
    ),
    "oc": OptionTable(
        "nslfo", names("namespace context cluster user kubeconfig server token as selector filename output")
    ),
    "helm": OptionTable("nf", names("namespace kube-context kubeconfig values set")),
    "docker": OptionTable("Hlc", names("host log-level context config")),
    "podman": OptionTable("", names("url connection log-level root runroot")),
    "docker-compose": OptionTable("fpH", names("file project-name host project-directory profile")),
    "aws": OptionTable(
        "", names("region profile output endpoint-url query color ca-bundle cli-read-timeout")
    ),
    "gcloud": OptionTable("", names("project account configuration format zone region verbosity")),
    "gsutil": OptionTable("o", names("")),
    "az": OptionTable("gno", names("subscription output query resource-group name")),
    "terraform": OptionTable("", names("chdir var var-file target state"), single_dash=True),
    "tofu": OptionTable("", names("chdir var var-file target state"), single_dash=True),
    "systemctl": OptionTable(
        "HMtpns", names("host machine type property lines signal kill-who root state output")
    ),
    "service": OptionTable(),
    "supervisorctl": OptionTable("csup", names("configuration serverurl username password")),
    "crontab": OptionTable("u"),
    "iptables": OptionTable(
        "tjpsdiomw", names("table jump protocol source destination in-interface out-interface match")
    ),
    "ip6tables": OptionTable(
        "tjpsdiomw", names("table jump protocol source destination in-interface out-interface match")
    ),
    "pulumi": OptionTable("sC", names("stack cwd config")),
    "npm": OptionTable("", names("prefix registry tag workspace")),
    "gh": OptionTable("R", names("repo hostname")),
    "ip": OptionTable("nf", names("netns family")),
    "nft": OptionTable("f", names("file")),
    "rclone": OptionTable("", names("config transfers")),
    "restic": OptionTable("rp", names("repo password-file")),
    "sysctl": OptionTable("", names("pattern")),
    "date": OptionTable("dfrs", names("date file reference set"), glued="I"),
    "vagrant": OptionTable(),
    "redis-cli": OptionTable("hpans", names("user pass")),
}


def options_for(program: str, args: list[str]) -> Options:
    return read_options(args, option_table(program))
