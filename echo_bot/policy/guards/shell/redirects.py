"""Redirections: what is read, what is written, and where the output ends up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import effects
from echo_bot.policy.guards.shell.expand import expand_text
from echo_bot.policy.guards.shell.invocation import Invocation
from echo_bot.policy.guards.shell.marks import UNKNOWN, is_plain, shown
from echo_bot.policy.guards.shell.paths import Place, resolve
from echo_bot.policy.guards.shell.plumbing import Plumbing
from echo_bot.policy.guards.shell.state import State
from echo_bot.policy.guards.shell.stream import Stream
from echo_bot.policy.guards.shell.syntax import Redirect
from echo_bot.policy.guards.shell.trampoline import Steps, call

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.machine import Machine


def connected(machine: Machine, redirects: tuple[Redirect, ...], state: State) -> Steps[Plumbing]:
    """Judge a command's redirections, from left to right."""
    plumbing = Plumbing()
    for node in redirects:
        yield from redirect(machine, node, state, plumbing)
    return plumbing


def redirect(machine: Machine, node: Redirect, state: State, plumbing: Plumbing) -> Steps[None]:
    """Judge one redirection and connect what it names."""
    where = machine.span_of(node.start, node.end)
    if node.body is not None or node.operator in ("<<", "<<-"):
        text = "" if node.body is None else (yield from expand_text(node.body, state, machine))
        machine.longest = max(machine.longest, 0 if node.body is None else node.body.end - node.body.start)
        plumbing.connect(node.descriptor, shown(text, machine.home), state)
        return
    count = len(machine.waiting_outputs)
    target = yield from expand_text(node.target, state, machine, is_pattern=True)
    if node.operator == "<<<":
        plumbing.connect(node.descriptor, shown(target, machine.home) + "\n", state)
        return
    if len(machine.waiting_outputs) > count:
        plumbing.scripts.extend(machine.waiting_outputs[count:])
        del machine.waiting_outputs[count:]
        return
    if node.operator in (">&", "<&") and (target.rstrip("-").isdigit() or target == "-"):
        plumbing.duplicate(node, target)
        if node.operator == "<&" and (known := state.files.get(f"/dev/fd/{target.rstrip('-')}")) is not None:
            plumbing.connect(node.descriptor, known, state)
        return
    inv = Invocation(["redirection"], state, Stream(), where)
    if node.operator in ("<", "<>", "<&"):
        effects.read(machine, inv, target)
        content = state.files.get(resolve(target, inv.place), UNKNOWN)
        if target in ("/dev/null",):
            content = ""
        plumbing.connect(node.descriptor, content, state)
    if node.operator not in ("<", "<&"):
        effects.write(machine, inv, target, unknown_asks=True)
        if node.descriptor in ("", "1"):
            plumbing.target = (target, node.operator in (">>", "&>>"))


def written(machine: Machine, plumbing: Plumbing, output: str, state: State) -> Steps[str]:
    """Where the output went: a file that is remembered, another command, or on."""
    for script in plumbing.scripts:
        yield from call(machine.node(script, machine._subshell(state), Stream(output)))
    if plumbing.target is None:
        return output
    target, appends = plumbing.target
    if target in ("/dev/stdout", "/dev/fd/1"):
        return output
    path = resolve(target, Place(state.cwd, state.home, state.links))
    if is_plain(path):
        before = state.files.get(path, UNKNOWN + "\n") if appends else ""
        state.files[path] = machine.kept(machine.limited(before + output))
    return ""
