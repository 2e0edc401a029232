"""Redirections: what is read, what is written, and where the output ends up."""

from __future__ import annotations

from typing import Protocol

from echo_bot.policy.guards.shell import effects
from echo_bot.policy.guards.shell.expand import Runner, expand_text
from echo_bot.policy.guards.shell.invocation import Invocation
from echo_bot.policy.guards.shell.marks import UNKNOWN, is_plain, shown
from echo_bot.policy.guards.shell.paths import Place, resolve
from echo_bot.policy.guards.shell.plumbing import Plumbing
from echo_bot.policy.guards.shell.state import State
from echo_bot.policy.guards.shell.stream import Stream
from echo_bot.policy.guards.shell.syntax import Node, Redirect, Script
from echo_bot.policy.guards.shell.trampoline import Steps, call


class Walk(Runner, effects.Findings, Protocol):
    """What redirections need from the evaluation of the command they stand at."""

    home: str
    longest: int
    waiting_outputs: list[Script]

    def span_of(self, start: int, end: int) -> tuple[int, int]: ...

    def node(self, node: Node, state: State, stdin: Stream) -> Steps[str]: ...

    def subshell(self, state: State) -> State: ...

    def kept(self, value: str) -> str: ...

    def limited(self, text: str) -> str: ...


def connected(walk: Walk, redirects: tuple[Redirect, ...], state: State) -> Steps[Plumbing]:
    """Judge a command's redirections, from left to right."""
    plumbing = Plumbing()
    for node in redirects:
        yield from redirect(walk, node, state, plumbing)
    return plumbing


def redirect(walk: Walk, node: Redirect, state: State, plumbing: Plumbing) -> Steps[None]:
    """Judge one redirection and connect what it names."""
    where = walk.span_of(node.start, node.end)
    if node.body is not None or node.operator in ("<<", "<<-"):
        text = "" if node.body is None else (yield from expand_text(node.body, state, walk))
        walk.longest = max(walk.longest, 0 if node.body is None else node.body.end - node.body.start)
        plumbing.connect(node.descriptor, shown(text, walk.home), state)
        return
    count = len(walk.waiting_outputs)
    target = yield from expand_text(node.target, state, walk, is_pattern=True)
    if node.operator == "<<<":
        plumbing.connect(node.descriptor, shown(target, walk.home) + "\n", state)
        return
    if len(walk.waiting_outputs) > count:
        plumbing.scripts.extend(walk.waiting_outputs[count:])
        del walk.waiting_outputs[count:]
        return
    if node.operator in (">&", "<&") and (target.rstrip("-").isdigit() or target == "-"):
        plumbing.duplicate(node, target)
        if node.operator == "<&" and (known := state.files.get(f"/dev/fd/{target.rstrip('-')}")) is not None:
            plumbing.connect(node.descriptor, known, state)
        return
    inv = Invocation(["redirection"], state, Stream(), where)
    if node.operator in ("<", "<>", "<&"):
        effects.read(walk, inv, target)
        content = state.files.get(resolve(target, inv.place), UNKNOWN)
        if target in ("/dev/null",):
            content = ""
        plumbing.connect(node.descriptor, content, state)
    if node.operator not in ("<", "<&"):
        effects.write(walk, inv, target, unknown_asks=True)
        if node.descriptor in ("", "1"):
            plumbing.target = (target, node.operator in (">>", "&>>"))


def written(walk: Walk, plumbing: Plumbing, output: str, state: State) -> Steps[str]:
    """Where the output went: a file that is remembered, another command, or on."""
    for script in plumbing.scripts:
        yield from call(walk.node(script, walk.subshell(state), Stream(output)))
    if plumbing.target is None:
        return output
    target, appends = plumbing.target
    if target in ("/dev/stdout", "/dev/fd/1"):
        return output
    path = resolve(target, Place(state.cwd, state.home, state.links))
    if is_plain(path):
        before = state.files.get(path, UNKNOWN + "\n") if appends else ""
        state.files[path] = walk.kept(walk.limited(before + output))
    return ""
