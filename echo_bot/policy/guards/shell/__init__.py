"""The shell guard: what a command would do, judged from its text alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal as TypingLiteral

from echo_bot.policy.decision import Verdict
from echo_bot.policy.guards.shell.dispatch import dispatch
from echo_bot.policy.guards.shell.environment import is_sensitive_name, judge_environment
from echo_bot.policy.guards.shell.foreign import judge_foreign
from echo_bot.policy.guards.shell.machine import BudgetSpent, Invocation, Machine, Stream
from echo_bot.policy.guards.shell.marks import cleaned
from echo_bot.policy.guards.shell.parser import parse
from echo_bot.policy.guards.shell.report import ShellReport, SimpleCommand
from echo_bot.policy.guards.shell.state import State, initial_state
from echo_bot.policy.guards.shell.trampoline import Steps, call, run

__all__ = ["ShellReport", "SimpleCommand", "judge_code", "judge_command"]

Language = TypingLiteral["bash", "python", "javascript"]


def judge_command(command: str, *, cwd: str, home: str, env: Mapping[str, str]) -> ShellReport:
    """Judge what `bash -c command` would do in `cwd`, with `env` assigned before. Never raises, runs or reads nothing."""
    text = cleaned(command)
    machine = Machine(text, home, dispatch)
    if "\0" in text:
        machine.find("unparsed", Verdict.ASK, "The command holds a NUL character.", None)
        return _report(machine, complete=False)
    state = initial_state(cleaned(cwd), home, {name: cleaned(value) for name, value in env.items()})
    return _finished(machine, _command(machine, text, state, env))


def judge_code(code: str, language: str, *, cwd: str, home: str, env: Mapping[str, str]) -> ShellReport:
    """Judge a program: bash as a command; python and javascript by their literal effects of the hard kinds."""
    if language == "bash":
        return judge_command(code, cwd=cwd, home=home, env=env)
    text = cleaned(code)
    machine = Machine(text, home, dispatch, only_hard=True)
    state = initial_state(cleaned(cwd), home, {})
    inv = Invocation([language], state, Stream(), (0, len(text)))
    return _finished(machine, judge_foreign(machine, inv, text, []))


def _command(machine: Machine, text: str, state: State, env: Mapping[str, str]) -> Steps[None]:
    inv = Invocation(["environment"], state, Stream(), (0, 0))
    for name in env:
        if is_sensitive_name(name):
            machine.find("system_config", Verdict.ASK, f"Sets {name}, which changes what other programs run.", None)
    yield from judge_environment(machine, inv, {name: cleaned(value) for name, value in env.items()})
    parsed = parse(text)
    for line in parsed.lines:
        yield from call(machine.node(line, state, Stream()))
    if parsed.error:
        machine.find("unparsed", Verdict.ASK, f"This is no readable shell text: {parsed.error}.", (0, len(text)))
        machine.complete = False


def _finished(machine: Machine, steps: Steps[None]) -> ShellReport:
    """Run the walk; when its budget ends, what was found stands and the rest is a question."""
    try:
        run(steps)
    except BudgetSpent:
        machine.find("unparsed", Verdict.ASK, "The command is too entangled to be judged whole.", None)
        return _report(machine, complete=False)
    return _report(machine, complete=machine.complete)


def _report(machine: Machine, *, complete: bool) -> ShellReport:
    findings = tuple(sorted(machine.findings.values(), key=lambda finding: finding.verdict is not Verdict.DENY))
    return ShellReport(
        findings=findings,
        commands=tuple(machine.commands),
        complete=complete,
        needs_network=any(finding.kind == "network_outbound" for finding in findings),
        script_files=tuple(machine.script_files),
        carries_code=machine.carries_code,
    )
