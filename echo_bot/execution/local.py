"""Commands on this machine, unconfined: own session, clean environment, limits, an end for every member."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Mapping

from echo_bot.execution.group import MARK_NAME, HostGroup, boot_ticks
from echo_bot.execution.limits import limited
from echo_bot.execution.protocol import CommandSpec
from echo_bot.execution.running import Running, spawn
from echo_bot.execution.waiter import Report, can_wait, waited
from echo_bot.policy.call import Executor


class LocalExecutor:
    """`environment` is the clean one; a run's own changes are laid over it. `make_mark` names a run."""

    kind = Executor.LOCAL

    def __init__(
        self, environment: Mapping[str, str], *, make_mark: Callable[[], str] = lambda: secrets.token_hex(8)
    ) -> None:
        self._environment = environment
        self._make_mark = make_mark

    async def ready(self) -> tuple[bool, str]:
        if os.name != "posix":
            return False, "commands on the local host need a POSIX system; run Echo Bot on Linux or macOS"
        if shutil.which("bash", path=self._environment.get("PATH")) is None:
            return False, "bash is not on PATH; install it (Debian: apt install bash)"
        return True, "ready on the local host, without a sandbox"

    async def close(self) -> None:
        """It holds none."""

    async def start(self, spec: CommandSpec, *, keep_stdin_open: bool = False) -> Running:
        """Raises StartError when the folder or the shell is missing."""
        mark, since = self._make_mark(), boot_ticks()
        command = limited(spec.argv, spec.limits, count_processes=False)
        return await spawn(
            waited(command) if can_wait() else command,
            spec,
            lambda pid: HostGroup(pid, mark, since),
            env={**self._environment, **spec.env, MARK_NAME: mark},
            cwd=spec.cwd,
            keep_stdin_open=keep_stdin_open,
            report=Report() if can_wait() else None,
        )
