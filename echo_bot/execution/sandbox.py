"""Commands in a bubblewrap sandbox: workspace writable, the rest read-only, state absent, no network."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from collections.abc import Mapping

from echo_bot.errors import StartError
from echo_bot.execution.beneath import close_all, open_all
from echo_bot.execution.bubblewrap import NAMESPACE_VARIANTS, arguments, why_not
from echo_bot.execution.environment import check_environment
from echo_bot.execution.group import MARK_NAME, SandboxGroup, boot_ticks
from echo_bot.execution.layout import Mount, SandboxLayout, is_visible
from echo_bot.execution.limits import limited
from echo_bot.execution.machine import counts_processes, knows_handles, read_switches
from echo_bot.execution.planning import Plan, appeared, bound_inside, plan_for, resolved
from echo_bot.execution.protocol import CommandSpec, Outcome
from echo_bot.execution.running import Running, spawn
from echo_bot.policy.call import Executor

PROBE_SECONDS = 10.0
_PRIVATE_MB = 256
_MISSING = (
    "bubblewrap is not installed (Debian: apt install bubblewrap); "
    "without it, set tools.exec.host to local to run commands on this machine unconfined"
)


class SandboxExecutor:
    """One layout, many runs. `environment` is the clean one; a run's own changes are laid over it."""

    kind = Executor.SANDBOX

    def __init__(
        self, layout: SandboxLayout, environment: Mapping[str, str], *, bwrap: str = "bwrap"
    ) -> None:
        self._layout = resolved(layout)
        self._environment = {**environment, "TMPDIR": "/tmp"}
        self._bwrap = bwrap
        self._namespaces: tuple[str, ...] = NAMESPACE_VARIANTS[0]
        self._mounts_handles = False
        self._readiness: tuple[bool, str] | None = None
        self._probing = asyncio.Lock()

    async def ready(self) -> tuple[bool, str]:
        """The first answer is kept; `probe` asks anew."""
        async with self._probing:
            return self._readiness or await self._probe()

    async def probe(self) -> tuple[bool, str]:
        """Run `true` in the sandbox, as strict as this machine allows."""
        async with self._probing:
            return await self._probe()

    async def close(self) -> None:
        """It holds none."""

    async def start(self, spec: CommandSpec, *, keep_stdin_open: bool = False) -> Running:
        """Raises StartError when no sandbox can be made or the folder is not to be seen inside."""
        ready, why = await self.ready()
        if not ready:
            raise StartError(why)
        return await self._start(spec, self._namespaces, keep_stdin_open)

    async def _probe(self) -> tuple[bool, str]:
        self._readiness = await self._try_variants()
        return self._readiness

    async def _try_variants(self) -> tuple[bool, str]:
        if shutil.which(self._bwrap) is None:
            return False, _MISSING
        if self._layout.workspace in ("/", *self._layout.hidden):
            return (
                False,
                f"the workspace {self._layout.workspace} cannot be shown alone; choose another folder",
            )
        if not await asyncio.to_thread(os.path.isdir, self._layout.workspace):
            return (
                False,
                f"the workspace {self._layout.workspace} is no folder; make it, or name another",
            )
        self._mounts_handles = await asyncio.to_thread(knows_handles, self._bwrap)
        complaint = ""
        for namespaces in NAMESPACE_VARIANTS:
            outcome, said = await self._run_true(namespaces)
            if outcome is not None and outcome.exit_code == 0:
                self._namespaces = namespaces
                return True, "ready in a bubblewrap sandbox"
            complaint = complaint or said
        return False, why_not(complaint, await asyncio.to_thread(read_switches))

    async def _run_true(self, namespaces: tuple[str, ...]) -> tuple[Outcome | None, str]:
        spec = CommandSpec(("true",), self._layout.workspace, PROBE_SECONDS, merged=True)
        try:
            process = await self._start(spec, namespaces, keep_stdin_open=False)
        except StartError as error:
            return None, str(error)
        said = b"".join([chunk.data async for chunk in process.output()])
        return await process.wait(), said.decode(errors="replace")

    async def _start(self, spec: CommandSpec, namespaces: tuple[str, ...], keep_stdin_open: bool) -> Running:
        bwrap = shutil.which(self._bwrap)
        if bwrap is None:
            raise StartError(_MISSING)
        check_environment(spec.env)
        plan = await asyncio.to_thread(plan_for, self._layout)
        if not is_visible(await asyncio.to_thread(os.path.realpath, spec.cwd), plan.mounts):
            raise StartError(
                f"the folder {spec.cwd} is not to be seen in the sandbox; choose one in the workspace"
            )
        if not await asyncio.to_thread(os.path.isdir, spec.cwd):
            raise StartError(f"the folder {spec.cwd} does not exist")
        handles = await asyncio.to_thread(self._open, plan.mounts)
        try:
            return await self._spawn(bwrap, spec, namespaces, plan, handles, keep_stdin_open)
        finally:
            close_all(handles.values())

    async def _spawn(
        self,
        bwrap: str,
        spec: CommandSpec,
        namespaces: tuple[str, ...],
        plan: Plan,
        handles: dict[str, int],
        keep_stdin_open: bool,
    ) -> Running:
        words = arguments(
            namespaces,
            plan.mounts,
            env={**self._environment, **spec.env},
            cwd=spec.cwd,
            network=spec.network,
            private_bytes=min(spec.limits.file_mb, _PRIVATE_MB) << 20,
            handles=handles,
        )
        inside = limited(spec.argv, spec.limits, count_processes=counts_processes(namespaces))
        mark, since = secrets.token_hex(8), boot_ticks()
        args_fd = _memory_file(words)
        try:
            return await spawn(
                (bwrap, "--args", str(args_fd), "--", *inside),
                spec,
                lambda pid: SandboxGroup(pid, mark, since),
                env={"PATH": self._environment["PATH"], MARK_NAME: mark},
                cwd="/",
                pass_fds=(args_fd, *handles.values()),
                keep_stdin_open=keep_stdin_open,
                look_after=lambda: appeared(self._layout, plan),
            )
        finally:
            os.close(args_fd)

    def _open(self, plan: tuple[Mount, ...]) -> dict[str, int]:
        """What commands of other runs may exchange under our hands: everything bound inside the workspace."""
        if not self._mounts_handles:
            return {}
        return open_all(self._layout.workspace, bound_inside(self._layout, plan))


def _memory_file(words: list[str]) -> int:
    """The arguments as a file in memory: everybody on the machine may read a command line.

    A NUL ends an argument there, so one inside a value would smuggle in arguments: StartError.
    """
    if any("\0" in word for word in words):
        raise StartError("a NUL character in the environment or folder cannot be passed to a command")
    try:
        text = b"".join(word.encode("utf-8", "surrogateescape") + b"\0" for word in words)
    except UnicodeEncodeError as error:
        raise StartError(f"the environment or folder of the command is no valid text: {error}") from error
    fd = os.memfd_create("bwrap-args")
    with open(fd, "wb", closefd=False) as file:
        file.write(text)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
