"""The guard's way through one text: parse, walk, report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from echo_bot.policy.decision import Verdict
from echo_bot.policy.guards.shell.dispatch import dispatch
from echo_bot.policy.guards.shell.environment import is_sensitive_name, judge_environment
from echo_bot.policy.guards.shell.foreign import judge_foreign
from echo_bot.policy.guards.shell.invocation import Invocation
from echo_bot.policy.guards.shell.machine import Machine
from echo_bot.policy.guards.shell.marks import cleaned
from echo_bot.policy.guards.shell.parser import parse
from echo_bot.policy.guards.shell.report import ShellReport
from echo_bot.policy.guards.shell.state import State, initial_state
from echo_bot.policy.guards.shell.stream import Stream
from echo_bot.policy.guards.shell.syntax import Node, Script
from echo_bot.policy.guards.shell.trampoline import Steps, Stopped, call, run


def judge_shell(command: str, cwd: str, home: str, env: Mapping[str, str]) -> ShellReport:
    """Judge a text as a shell program."""
    text = cleaned(command)
    machine = Machine(text, home, dispatch)
    if "\0" in text:
        machine.find("unparsed", Verdict.ASK, "The command holds a NUL character.", None)
        machine.complete = False
        return _report(machine)
    state = initial_state(cleaned(cwd), home, {name: cleaned(value) for name, value in env.items()})
    parsed = parse(text)
    steps = [_environment(machine, state, env)]
    steps += [machine.node(node, state, Stream()) for line in parsed.lines for node in _commands(line)]
    steps.append(_traps(machine, state))
    if parsed.error:
        machine.find(
            "unparsed", Verdict.ASK, f"This is no readable shell text: {parsed.error}.", (0, len(text))
        )
        machine.complete = False
    return _finished(machine, steps)


def judge_foreign_code(code: str, language: str, cwd: str, home: str) -> ShellReport:
    """Judge a program of another language by its literal effects of the hard kinds."""
    text = cleaned(code)
    machine = Machine(text, home, dispatch, only_hard=True)
    inv = Invocation([language], initial_state(cleaned(cwd), home, {}), Stream(), (0, len(text)))
    return _finished(machine, [judge_foreign(machine, inv, text, [])])


def _commands(line: Node) -> tuple[Node, ...]:
    return line.commands if isinstance(line, Script) else (line,)


def _traps(machine: Machine, state: State) -> Steps[str]:
    """What traps do when the shells end, with the values that their variables have by then."""
    for text, where in state.traps:
        yield from call(machine.code(text, where.copy(), Stream(), (0, len(machine.text))))
    return ""


def _environment(machine: Machine, state: State, env: Mapping[str, str]) -> Steps[str]:
    """The assignments that the call makes before the command."""
    inv = Invocation(["environment"], state, Stream(), (0, 0))
    for name in env:
        if is_sensitive_name(name):
            machine.find("system_config", Verdict.ASK, f"Sets {name}, which steers other programs.", None)
    yield from judge_environment(machine, inv, {name: cleaned(value) for name, value in env.items()})
    return ""


def _finished(machine: Machine, steps: Sequence[Steps[str]]) -> ShellReport:
    """Run the walk. When the budget ends inside one command, those behind it still get a share each."""
    share = 24 + 4 * len(machine.text) // max(len(steps), 1)
    only_hard = machine.only_hard
    for step in steps:
        try:
            run(step)
        except Stopped:
            machine.find("unparsed", Verdict.ASK, "The command is too entangled to be judged whole.", None)
            machine.complete = False
            machine.budget = share
            machine.fixed_span, machine.only_hard = None, only_hard
    return _report(machine)


def _report(machine: Machine) -> ShellReport:
    findings = tuple(
        sorted(machine.findings.values(), key=lambda finding: finding.verdict is not Verdict.DENY)
    )
    return ShellReport(
        findings=findings,
        commands=tuple(machine.commands),
        complete=machine.complete,
        needs_network=any(finding.kind == "network_outbound" for finding in findings),
        script_files=tuple(machine.script_files),
        carries_code=machine.carries_code,
    )
