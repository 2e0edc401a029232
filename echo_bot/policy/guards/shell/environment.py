"""Environment variables that change what other programs run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell.marks import shown
from echo_bot.policy.guards.shell.options import names
from echo_bot.policy.guards.shell.paths import resolve
from echo_bot.policy.guards.shell.trampoline import Steps, call

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

RUNS_TEXT = names(
    "PAGER EDITOR VISUAL BROWSER MANPAGER GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR "
    "GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS "
    "GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND SSH_ASKPASS SUDO_ASKPASS LESSOPEN LESSCLOSE "
    "PROMPT_COMMAND FCEDIT SUDO_EDITOR PS1 PS2 BORG_RSH RESTIC_PASSWORD_COMMAND "
    "SYSTEMD_PAGER SYSTEMD_EDITOR KUBE_EDITOR PSQL_PAGER PSQL_EDITOR MANOPT TAR_OPTIONS "
    "RSYNC_RSH CVS_RSH SVN_SSH SVN_EDITOR "
    "HG_EDITOR HGEDITOR AWS_PAGER BAT_PAGER DELTA_PAGER GH_PAGER GH_EDITOR CROSS_RUNNER "
    "MAKEFLAGS RUSTC_WRAPPER "
    "ZDOTDIR_CMD PS0 PS4 CARGO_BUILD_RUSTC_WRAPPER DEBUGINFOD_CMD "
    "NPM_CONFIG_SCRIPT_SHELL npm_config_script_shell "
    "GIT_CONFIG_VALUE_0 GIT_CONFIG_VALUE_1"
)
LOADS_CODE = names(
    "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH "
    "BASH_ENV ENV PYTHONSTARTUP PYTHONPATH "
    "PYTHONHOME PYTHONINSPECT NODE_OPTIONS NODE_PATH PERL5OPT PERL5LIB PERL5DB RUBYOPT "
    "RUBYLIB JAVA_TOOL_OPTIONS "
    "_JAVA_OPTIONS GCONV_PATH CLASSPATH SHELLOPTS BASHOPTS PS4"
)
_ALWAYS_ASK = names(
    "LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV ENV PYTHONSTARTUP PERL5OPT "
    "PERL5DB RUBYOPT JAVA_TOOL_OPTIONS "
    "_JAVA_OPTIONS GCONV_PATH PROMPT_COMMAND"
)
_PREFIXES_OF_CALL = ("LD_", "DYLD_", "PYTHON", "GIT_", "BASH_", "PERL5", "RUBY", "NPM_CONFIG_", "SSH_ASKPASS")


def judge_environment(machine: Machine, inv: Invocation, env: Mapping[str, str]) -> Steps[None]:
    """Assignments in front of a command, or exported."""
    for name, value in env.items():
        if name in _ALWAYS_ASK:
            machine.ask("system_config", f"Sets {name}, which loads code into other programs.", inv)
        if name in ("BASH_ENV", "ENV"):
            yield from call(machine.expanded_text(shown(value, machine.home), inv.state))
            content = inv.state.files.get(resolve(value, inv.place), "")
            yield from call(machine.code(content, inv.state.copy(), inv.stdin, inv.span))
        if name in RUNS_TEXT and value:
            text = (
                shown(value, machine.home).lstrip("|-")
                if name.startswith("LESS")
                else shown(value, machine.home)
            )
            if name in ("PS0", "PS1", "PS2", "PS4"):
                yield from call(machine.expanded_text(text, inv.state))
            else:
                yield from call(machine.code(text, inv.state.copy(), inv.stdin, inv.span))


def is_sensitive_name(name: str) -> bool:
    """A variable that a call may only change with a person's consent."""
    return (
        name in RUNS_TEXT
        or name in LOADS_CODE
        or name in ("PATH", "IFS", "HOME")
        or name.startswith(_PREFIXES_OF_CALL)
    )
