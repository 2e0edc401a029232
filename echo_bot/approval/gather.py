"""The one place where facts are made: for the running gate, for `explain` and for its batches."""

from __future__ import annotations

import json
import logging
import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from echo_bot.approval.looks import Look, Seen, look
from echo_bot.approval.request import Choice
from echo_bot.approval.touched import touched_paths
from echo_bot.files import real_rules
from echo_bot.policy.access import is_restricted_by_star
from echo_bot.policy.allowlist import allows
from echo_bot.policy.arguments import arguments_problem
from echo_bot.policy.call import Arguments, BoundFile, Call, Executor, canonical_json
from echo_bot.policy.catalogue import PROCESS_READING, ToolEntry, canonical_name, is_mcp_name, registered
from echo_bot.policy.decision import Finding, Verdict
from echo_bot.policy.definitions import DefinitionSight, LookAtDefinition
from echo_bot.policy.facts import DEFINITION_CHANGED, Caller, Facts, SmartAnswer
from echo_bot.policy.guards.paths import PathRules
from echo_bot.policy.profiles import filter_reason
from echo_bot.policy.quorum import needed
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.schemas import JsonSchema
from echo_bot.policy.settings import PolicySettings
from echo_bot.policy.targets import parse_target
from echo_bot.skills.sight import LookAtSkill, SkillSight

_LOG = logging.getLogger(__name__)

Bind = Callable[[str], BoundFile]
"""Reads one file (absolute path) and says what an approval is bound to."""

_LANDING = frozenset({"exec", "execute_code", "skill_run"})
_DIFFED = frozenset({"write_file", "edit_file", "patch"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as somebody asks for it. Names outside the catalogue exist by what their tool declares.

    For a built-in pass no declaration: the catalogue knows it, and what is declared makes it stricter.
    """

    tool: str
    args: object
    declared_risk: str | None = None
    capabilities: tuple[str, ...] = ()
    parameters: JsonSchema | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the machine knows and the configuration does not.

    `auto_lands_on`: where `tools.exec.host: auto` runs code here. `bind` reads the files an approval is bound
    to; without it none is read and none is bound. `typed_before`: what a process got since its last newline.
    `look_at_skill` says of a call what is known of the skill that it names, `look_at_definition` of a tool
    how its definition stands, which a server gave.
    """

    auto_lands_on: Executor = Executor.SANDBOX
    bind: Bind | None = None
    typed_before: Callable[[str], str] = lambda process_id: ""
    look_at_skill: LookAtSkill = lambda tool, args: SkillSight()
    look_at_definition: LookAtDefinition = lambda tool: DefinitionSight()


ASSUMED = Surroundings()
"""A working sandbox, and no file touched."""


def gather(
    asked: Asked, caller: Caller, settings: PolicySettings, surroundings: Surroundings = ASSUMED
) -> Facts:
    """All facts of one call. Never raises for a bad call: what is wrong with it is a fact.

    The caller adds what must be waited for: `replace(facts, granted=True)` when the store has a grant for
    `digest(facts.call)` and this owner, and `answered(facts, text)` once the approval model was asked.
    """
    name = canonical_name(asked.tool)
    tool = _registered(name, asked, settings)
    args = asked.args if isinstance(asked.args, Mapping) else {}
    bare = Facts(
        caller=caller, settings=settings, call=Call(name, args, settings.places.workspace), tool=tool
    )
    if tool is None:
        return bare
    filtered_by = filter_reason(tool, settings.tools)
    if filtered_by is not None:
        return replace(bare, filtered_by=filtered_by)
    problem = _problem(tool, asked.args, settings)
    skill = SkillSight() if problem else surroundings.look_at_skill(name, args)
    if problem or skill.problem:
        return replace(bare, arguments_error=problem or skill.problem)
    definition = surroundings.look_at_definition(name)
    if definition.changed:
        # What the operator said of its risk was said of another definition.
        tool = replace(tool, static_risk=RiskLevel.EXEC)
    return _judged(replace(bare, tool=tool), tool, surroundings, skill, definition)


def offers(facts: Facts) -> tuple[Choice, ...]:
    """The decisions a card offers for this call, in card order."""
    lasting = (Choice.SESSION, Choice.HOUR, Choice.ALWAYS) if facts.grantable else ()
    return (Choice.ONCE, *lasting, Choice.DENY, Choice.DENY_REASON)


def may_be_edited(facts: Facts) -> bool:
    """Of a dangerous call, or one that several people must approve, only this very call is decided."""
    return facts.risk is not RiskLevel.DANGEROUS and quorum_of(facts) == 1


def quorum_of(facts: Facts) -> int:
    """How many people must approve this call."""
    return needed(facts.settings.approval, facts.risk)


def simple_commands(facts: Facts) -> tuple[str, ...]:
    """The simple commands the shell guard saw, one a line, for the card."""
    return tuple(command.text for command in facts.commands)


def answered(facts: Facts, text: str | None) -> Facts:
    """The facts with the approval model's answer; None when it is unavailable."""
    return replace(facts, smart=SmartAnswer(text))


def path_rules(caller: Caller, settings: PolicySettings) -> PathRules:
    """The path policy for this caller: a sender admitted only by "*" is kept to the workspace.

    Unattended calls are denied by the gate's own step, so here a sensitive write stays a soft finding.
    """
    places = settings.places
    starred = is_restricted_by_star(caller.sender, settings.access, caller.paired)
    rules = PathRules(
        workspace=places.workspace,
        restrict_to_workspace=places.restrict_to_workspace or starred,
        safe_write_root=places.safe_write_root,
        home=places.home,
        protected=places.protected,
        protected_write=places.protected_write,
    )
    return real_rules(rules)


def _registered(name: str, asked: Asked, settings: PolicySettings) -> ToolEntry | None:
    declared = asked.declared_risk
    tool = registered(
        name, declared_risk=declared, capabilities=asked.capabilities, parameters=asked.parameters
    )
    if tool is None or declared is not None or not is_mcp_name(name):
        return tool
    by_operator = (
        risk for server, risk in settings.tools.mcp_risks.items() if name.startswith(f"mcp_{server}_")
    )
    return replace(tool, declared_risk=next(by_operator, tool.declared_risk))


def _problem(tool: ToolEntry, args: object, settings: PolicySettings) -> str:
    problem = arguments_problem(tool.name, args, tool.parameters)
    if problem or not isinstance(args, Mapping):
        return problem
    try:
        canonical_json(dict(args))
        json.dumps(dict(args), ensure_ascii=False).encode()  # half a character is no text: nothing stores it
    except (TypeError, ValueError, RecursionError) as error:
        return f"{tool.name}: the arguments cannot be written as JSON ({error})"
    language = args.get("language")
    if tool.name == "execute_code" and language not in settings.tools.code_languages:
        enabled = ", ".join(settings.tools.code_languages) or "none"
        return f"{tool.name}: language {language} is not enabled (tools.code_exec.languages: {enabled})"
    return _target_problem(tool.name, args, settings)


def _target_problem(tool: str, args: Arguments, settings: PolicySettings) -> str:
    target = args.get("target")
    if tool not in ("message", "notify", "cronjob") or not isinstance(target, str):
        return ""
    try:
        parse_target(target, settings.targets)
    except ValueError as error:
        return f"{tool}: target {error}"
    return ""


def _judged(
    bare: Facts,
    tool: ToolEntry,
    surroundings: Surroundings,
    skill: SkillSight,
    definition: DefinitionSight,
) -> Facts:
    """The facts of a valid call: where it lands, what the guards say, what may be granted."""
    call = replace(_call(bare, surroundings), definition=definition.digest)
    if skill.folder:
        call = replace(call, cwd=skill.folder)
    settings = bare.settings
    seen = _seen(bare.caller, settings, call, tool, surroundings)
    report = seen.shell
    if skill.denial:
        denied = Finding("skill_refused", Verdict.DENY, skill.denial, field="name")
        seen = replace(seen, findings=(*seen.findings, denied))
    seen = replace(seen, findings=(*seen.findings, *_of_definition(definition)))
    call = replace(call, bound_files=_bound(call, seen, surroundings.bind, skill.folder))
    facts = replace(
        bare,
        call=call,
        findings=seen.findings,
        commands=report.commands if report else (),
        needs_network=report is not None and report.needs_network,
        allowlisted=allows(settings.approval.allowlist, call.tool, call.args, report),
    )
    if facts.risk is RiskLevel.READ_ONLY:
        facts = replace(facts, findings=facts.hard_findings)
    return replace(facts, grantable=_is_grantable(facts, seen))


def _of_definition(definition: DefinitionSight) -> Iterator[Finding]:
    if definition.withheld:
        yield Finding("definition_withheld", Verdict.DENY, definition.withheld)
    elif definition.changed:
        yield Finding(DEFINITION_CHANGED, Verdict.ASK, definition.changed)


def _seen(
    caller: Caller, settings: PolicySettings, call: Call, tool: ToolEntry, surroundings: Surroundings
) -> Seen:
    at = Look(
        call=call,
        tool=tool,
        caller=caller,
        settings=settings,
        path_rules=path_rules(caller, settings),
        host_was_chosen=settings.exec_host is not None,
        typed_before=surroundings.typed_before(str(call.args.get("process_id", ""))),
    )
    try:
        return look(at)
    except Exception:  # noqa: BLE001 - a guard that fails must deny, whatever it raised
        _LOG.exception("guard_failed", extra={"tool": call.tool})
        sentence = "a guard failed on this call, so it is refused; the log has the details"
        return Seen((Finding("guard_failed", Verdict.DENY, sentence),))


def _call(bare: Facts, surroundings: Surroundings) -> Call:
    args, workspace = bare.call.args, bare.settings.places.workspace
    cwd, env = args.get("cwd"), args.get("env")
    runs = bare.call.tool in ("exec", "process")
    return replace(
        bare.call,
        cwd=posixpath.normpath(posixpath.join(workspace, cwd))
        if runs and isinstance(cwd, str)
        else workspace,
        env={name: str(value) for name, value in env.items()} if runs and isinstance(env, dict) else {},
        executor=_executor(bare.call, bare.settings, surroundings),
    )


def _executor(call: Call, settings: PolicySettings, surroundings: Surroundings) -> Executor:
    lands = call.tool in _LANDING or (
        call.tool == "process" and call.args.get("action") not in PROCESS_READING
    )
    if not lands:
        return Executor.NONE
    return surroundings.auto_lands_on if settings.exec_host is None else settings.exec_host


def _bound(call: Call, seen: Seen, bind: Bind | None, skill: str) -> tuple[BoundFile, ...]:
    """The files whose content an approval of this call covers; of a `skill` all that its folder holds."""
    if bind is None:
        return ()
    if seen.shell is not None:
        named = seen.shell.script_files
    elif skill:
        named = (skill,)
    else:
        named = tuple(touched.path for touched in touched_paths(call.tool, call.args) if call.tool in _DIFFED)
    return tuple(bind(posixpath.join(call.cwd, path)) for path in dict.fromkeys(named))


def _is_grantable(facts: Facts, seen: Seen) -> bool:
    """A grant is never offered for a dangerous call, for code given to an interpreter, or for an unread file.

    Nor where several people must approve: one of them cannot do so for all. What a process makes of a line
    depends on what it is, which the call does not say.
    """
    call = facts.call
    types_into_process = call.tool == "process" and call.args.get("action") == "write"
    carries_code = seen.shell is not None and seen.shell.carries_code
    unread = any(not bound.is_content for bound in call.bound_files)
    bars = (facts.risk is RiskLevel.DANGEROUS, types_into_process, carries_code, unread, quorum_of(facts) > 1)
    return not any(bars)
