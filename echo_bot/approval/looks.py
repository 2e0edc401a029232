"""What each guard looks at: from a tool's arguments to the findings of every guard they concern."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from echo_bot.approval.own_state import judge_own_state
from echo_bot.approval.touched import is_url, judge_paths
from echo_bot.policy.call import Call, Executor, JsonValue
from echo_bot.policy.capabilities import NETWORK_OUTBOUND, WRITING
from echo_bot.policy.catalogue import CATALOGUE, ToolEntry
from echo_bot.policy.decision import Finding, Verdict
from echo_bot.policy.facts import UNSANDBOXED, Caller
from echo_bot.policy.guards.memory import scan_memory
from echo_bot.policy.guards.network import NetworkRules, judge_url
from echo_bot.policy.guards.paths import PathRules
from echo_bot.policy.guards.secrets import MASK
from echo_bot.policy.guards.shell import judge_code, judge_command
from echo_bot.policy.guards.shell.report import ShellReport
from echo_bot.policy.settings import PolicySettings
from echo_bot.policy.targets import judge_target

STARTS_CODE = frozenset({"exec", "execute_code", "skill_run"})


@dataclass(frozen=True, slots=True)
class Look:
    """One call as the guards see it. `typed_before` is what a process got since its last newline."""

    call: Call
    tool: ToolEntry
    caller: Caller
    settings: PolicySettings
    path_rules: PathRules
    host_was_chosen: bool = True
    typed_before: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the guards saw: findings of all of them, and the shell guard's whole report on shell code."""

    findings: tuple[Finding, ...] = ()
    shell: ShellReport | None = None


def look(at: Look) -> Seen:
    """Ask every guard that this call concerns. Raises what a guard raises: the caller makes it a denial."""
    shell = _shell(at)
    findings = list(shell.findings) if shell else []
    findings.extend(judge_own_state(at.call, shell, at.path_rules))
    for guard in GUARDS:
        findings.extend(guard(at))
    return Seen(tuple(findings), shell)


def starts_code(call: Call) -> bool:
    """Would this call start code, or type it into a running process?"""
    if call.tool == "process":
        return call.args.get("action") in ("start", "write")
    return call.tool in STARTS_CODE


def _shell(at: Look) -> ShellReport | None:
    """The shell guard on a command, a program, or the line that a process is given."""
    call, home = at.call, at.settings.places.home
    match call.tool, call.args:
        case "exec", {"command": str(command)}:
            return judge_command(command, cwd=call.cwd, home=home, env=call.env)
        case "process", {"action": "start", "command": str(command)}:
            return judge_command(command, cwd=call.cwd, home=home, env=call.env)
        case "process", {"action": "write", "text": str(text)}:
            return judge_command(at.typed_before + text, cwd=call.cwd, home=home, env={})
        case "execute_code", {"code": str(code), "language": str(language)}:
            return judge_code(code, language, cwd=call.cwd, home=home, env={})
        case _:
            return None


def _sandbox(at: Look) -> Iterator[Finding]:
    if not at.host_was_chosen and at.call.executor is Executor.LOCAL and starts_code(at.call):
        yield Finding(UNSANDBOXED, Verdict.ASK, "no sandbox works here: it would run on this computer itself")


def _paths(at: Look) -> Iterable[Finding]:
    places = at.settings.places
    return judge_paths(at.call.tool, at.call.args, places.workspace, at.path_rules, places.spill)


def _urls(at: Look) -> Iterator[Finding]:
    tools = at.settings.tools
    rules = NetworkRules(policy=tools.network_policy, allow=tools.network_allow)
    for name, url in _urls_of(at):
        for finding in judge_url(url, rules):
            yield replace(finding, field=name)


def _urls_of(at: Look) -> Iterator[tuple[str, str]]:
    """Every address the call would have fetched, by argument name."""
    args = at.call.args
    match at.call.tool:
        case "web_fetch":
            yield "url", str(args.get("url", ""))
        case "vision_analyze" if is_url(str(args.get("image", ""))):
            yield "image", str(args["image"])
        case "skill_install" if args.get("source") != "local" or is_url(str(args.get("location", ""))):
            yield "location", str(args.get("location", ""))
        case name if name not in CATALOGUE and NETWORK_OUTBOUND in at.tool.capabilities:
            yield from ((key, text) for key, text in _texts(args) if is_url(text))
        case _:
            return


def _memory(at: Look) -> Iterator[Finding]:
    """Text that is kept and read by a model later."""
    args = at.call.args
    if at.call.tool == "memory" and args.get("action") in ("add", "replace"):
        kept = {name: value for name, value in args.items() if name != "action"}
    elif at.call.tool == "skill_manage":
        kept = {name: value for name, value in args.items() if name not in ("action", "name")}
    else:
        return
    for name, text in _texts(kept):
        yield from scan_memory(text, name)


def _masked(at: Look) -> Iterator[Finding]:
    """A model that copies our mask token into a file would destroy the secret that stands there."""
    if not at.tool.capabilities & WRITING:
        return
    for name, text in _texts(at.call.args):
        if MASK in text:
            yield Finding(
                "masked_secret",
                Verdict.DENY,
                f"{name} holds {MASK}, which stands for a hidden secret; writing it would lose the secret",
                field=name,
            )


def _targets(at: Look) -> Iterable[Finding]:
    target = at.call.args.get("target")
    if at.call.tool not in ("message", "notify", "cronjob") or not isinstance(target, str):
        return ()
    settings = at.settings
    return judge_target(target, at.caller.address, settings.targets, settings.allowed_targets)


def _texts(value: JsonValue | Mapping[str, JsonValue], name: str = "") -> Iterator[tuple[str, str]]:
    """Every string inside, with the argument it stands in."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, name or key)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, name)


def _script_arguments(at: Look) -> Iterator[Finding]:
    """Files that no command may name must not be named to a skill's script either."""
    args = at.call.args.get("args")
    if at.call.tool != "skill_run" or not isinstance(args, list):
        return
    words = shlex.join(["./script", *map(str, args)])
    for finding in judge_command(words, cwd=at.call.cwd, home=at.settings.places.home, env={}).findings:
        if finding.verdict is Verdict.DENY:
            yield replace(finding, field="args")


GUARDS: tuple[Callable[[Look], Iterable[Finding]], ...] = (
    _sandbox,
    _paths,
    _urls,
    _memory,
    _masked,
    _targets,
    _script_arguments,
)
"""All are asked; the strictest finding counts. The shell guard comes before them."""
