"""A command line that a program would start on its own: judged as shell text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell.marks import is_open, shown
from echo_bot.policy.guards.shell.trampoline import Steps, call

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine


def started(machine: Machine, inv: Invocation, text: str) -> Steps[None]:
    """Judge text as a shell command line that the program would start."""
    if text.strip() and not is_open(text[:1]):
        machine.charge(5 + len(text))
        yield from call(machine.code(shown(text, machine.home), inv.state.copy(), inv.stdin, inv.span))
    elif text:
        machine.ask("pipe_to_shell", f"Which program {inv.name} starts is not known before.", inv)
