"""The shell guard: what a command would do, judged from its text alone."""

from __future__ import annotations

from collections.abc import Mapping

from echo_bot.policy.guards.shell.report import ShellReport, SimpleCommand

__all__ = ["ShellReport", "SimpleCommand", "judge_code", "judge_command"]


def judge_command(command: str, *, cwd: str, home: str, env: Mapping[str, str]) -> ShellReport:
    """Judge what `bash -c command` would do in `cwd` with `env` assigned before; nothing is run or read."""
    # The rule tables are loaded with the first judged command: programs that judge none start without them.
    from echo_bot.policy.guards.shell.judge import judge_shell

    return judge_shell(command, cwd, home, env)


def judge_code(code: str, language: str, *, cwd: str, home: str, env: Mapping[str, str]) -> ShellReport:
    """Judge a program: bash as a command, python and javascript by literal effects of the hard kinds."""
    if language == "bash":
        return judge_command(code, cwd=cwd, home=home, env=env)
    from echo_bot.policy.guards.shell.judge import judge_foreign_code

    return judge_foreign_code(code, language, cwd, home)
