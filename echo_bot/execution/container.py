"""Commands in a container each, made by Docker or Podman and removed when the command is over.

A container kept for a session would start faster, but what a command leaves in it would meet the next one,
and ending one command would take guessing which of its processes belong to it.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from echo_bot.bus.process import ProcessId, here
from echo_bot.errors import StartError
from echo_bot.execution.beneath import close_all, open_all
from echo_bot.execution.container_body import LABEL, NOBODY, Nature, User, body, user_for
from echo_bot.execution.container_run import ContainerMembers, ContainerStream
from echo_bot.execution.engine import Engine, EngineError
from echo_bot.execution.environment import DEFAULT_PATH, check_environment
from echo_bot.execution.layout import Mount, SandboxLayout, is_visible
from echo_bot.execution.planning import appeared, bound_inside, plan_for, resolved
from echo_bot.execution.protocol import CommandSpec
from echo_bot.execution.running import Running, begin_input
from echo_bot.policy.call import Executor
from echo_bot.policy.guards.sensitive_names import is_within

PROBE_SECONDS = 60.0
_PROBE = "command -v bash >/dev/null || exit 91; [ -w . ] || exit 92"
_NO_BASH, _NOT_WRITABLE = 91, 92


def usual_sockets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Where engines listen when nothing else is said, those of this user first."""
    own = environ.get("XDG_RUNTIME_DIR", "")
    names = (f"{own}/podman/podman.sock", f"{own}/docker.sock") if own else ()
    return (*names, "/var/run/docker.sock", "/run/podman/podman.sock")


@dataclass(frozen=True, slots=True)
class Known:
    """What a probe found out."""

    engine: Engine
    nature: Nature
    user: User


class ContainerExecutor:
    """`environment` is the clean one, of which the image's PATH, HOME and TMPDIR take the place.

    `sockets` are tried in order; the first that exists counts.
    """

    kind = Executor.CONTAINER

    def __init__(
        self, image: str, sockets: Sequence[str], layout: SandboxLayout, environment: Mapping[str, str]
    ) -> None:
        self._image = image
        self._sockets = sockets
        self._layout = resolved(layout)
        self._environment = environment
        self._owner = str(ProcessId.current())
        self._left: set[str] = set()
        self._known: Known | None = None
        self._readiness: tuple[bool, str] | None = None
        self._probing = asyncio.Lock()

    async def ready(self) -> tuple[bool, str]:
        """A good answer is kept; after a bad one it is tried again."""
        async with self._probing:
            if self._readiness is None or not self._readiness[0]:
                self._readiness = await self._probe()
            return self._readiness

    async def start(self, spec: CommandSpec, *, keep_stdin_open: bool = False) -> Running:
        """Raises StartError when no container can be made or the folder is not to be seen inside."""
        ready, why = await self.ready()
        if not ready or self._known is None:
            raise StartError(why)
        return await self._start(self._known, spec, keep_stdin_open)

    async def close(self) -> None:
        if self._known is not None:
            await self._known.engine.close()
            self._known, self._readiness = None, None

    async def _probe(self) -> tuple[bool, str]:
        await self.close()
        if not self._image:
            return False, (
                "execution.container.image is empty; name an image with bash that the engine has, "
                "for example docker.io/library/debian:stable"
            )
        path = await asyncio.to_thread(_first_existing, self._sockets)
        if not path:
            return False, (
                f"no container engine listens at {' or '.join(self._sockets)}; start one "
                "(systemctl --user start podman.socket) or set execution.container.socket"
            )
        if self._layout.workspace in ("/", *self._layout.hidden):
            return False, (
                f"the workspace {self._layout.workspace} cannot be shown alone; choose another folder"
            )
        engine = Engine(path)
        try:
            return await self._try(engine)
        except StartError as error:
            return False, str(error)
        finally:
            if self._known is None:
                await engine.close()

    async def _try(self, engine: Engine) -> tuple[bool, str]:
        nature = await self._nature(engine)
        await _remove_left(engine)
        owner = os.stat(self._layout.workspace)
        user = user_for(nature, (os.getuid(), os.getgid()), (owner.st_uid, owner.st_gid))
        known = Known(engine, nature, user)
        spec = CommandSpec(("/bin/sh", "-c", _PROBE), self._layout.workspace, PROBE_SECONDS, merged=True)
        process = await self._start(known, spec, keep_stdin_open=False)
        said = b"".join([chunk.data async for chunk in process.output()]).decode(errors="replace").strip()
        outcome = await process.wait()
        if outcome.exit_code == _NO_BASH:
            return False, f"the image {self._image} has no bash; choose one that has it"
        if outcome.exit_code not in (0, _NOT_WRITABLE):
            return False, f"a container of {self._image} does not work: {said or outcome}"
        self._known = known
        name = "Podman" if nature.is_podman else "Docker"
        if outcome.exit_code == _NOT_WRITABLE:
            return True, f"ready in a {name} container, {self._read_only_because(user)}"
        return True, f"ready in a {name} container"

    def _read_only_because(self, user: User) -> str:
        advice = "; run Echo Bot as the workspace's owner, not as root" if user.uid == NOBODY else ""
        return f"but its user {user.uid} cannot write the workspace{advice}"

    async def _nature(self, engine: Engine) -> Nature:
        parts = (await engine.version()).get("Components") or ()
        is_podman = any("podman" in str(part.get("Name", "")).lower() for part in parts)
        options = " ".join(map(str, (await engine.info()).get("SecurityOptions") or ()))
        try:
            image = await engine.image(self._image)
        except EngineError as error:
            if error.status != 404:
                raise
            fetch = "podman" if is_podman else "docker"
            raise EngineError(
                f"the image {self._image} is not there, and nothing is fetched unasked; "
                f"run: {fetch} pull {shlex.quote(self._image)}",
                404,
            ) from error
        variables = dict(
            entry.partition("=")[::2] for entry in (image.get("Config") or {}).get("Env") or () if entry
        )
        return Nature(
            is_podman=is_podman,
            is_rootless="name=rootless" in options,
            has_selinux="name=selinux" in options,
            path=variables.get("PATH") or DEFAULT_PATH,
        )

    async def _start(self, known: Known, spec: CommandSpec, keep_stdin_open: bool) -> Running:
        plan = await asyncio.to_thread(plan_for, self._layout)
        cwd = await asyncio.to_thread(os.path.realpath, spec.cwd)
        is_inside = is_within(cwd, self._layout.workspace) and is_visible(cwd, plan.mounts)
        if not is_inside or not await asyncio.to_thread(os.path.isdir, cwd):
            raise StartError(f"the folder {spec.cwd} is not in the container; choose one in the workspace")
        identities = await asyncio.to_thread(self._identities, plan.mounts)
        has_input = keep_stdin_open or bool(spec.stdin)
        request = body(
            self._image,
            known.nature,
            known.user,
            spec,
            workspace=self._layout.workspace,
            plan=plan.mounts,
            identities=identities,
            env=self._clean(known.nature, spec),
            owner=self._owner,
            has_input=has_input,
        )
        request["WorkingDir"] = cwd
        await self._remove_left_behind(known.engine)
        container = await known.engine.create(request)
        kept = AsyncExitStack()
        try:
            attached = await kept.enter_async_context(known.engine.attached(container))
            await known.engine.start(container)
        except BaseException:
            await asyncio.shield(_undo(known.engine, container, kept))
            raise
        stream = ContainerStream(known.engine, container, attached, has_input=has_input)
        members = ContainerMembers(known.engine, container, stream, kept, self._left)
        running = Running(0, stream, members, spec, lambda: appeared(self._layout, plan))
        begin_input(stream, spec, has_input=has_input, keep_stdin_open=keep_stdin_open)
        return running

    async def _remove_left_behind(self, engine: Engine) -> None:
        """What could not be removed while the engine was away."""
        for container in tuple(self._left):
            await engine.remove(container)
            self._left.discard(container)

    def _clean(self, nature: Nature, spec: CommandSpec) -> dict[str, str]:
        own = {"PATH": nature.path, "HOME": "/tmp", "TMPDIR": "/tmp"}
        check_environment(spec.env)
        return {**self._environment, **own, **spec.env}

    def _identities(self, plan: tuple[Mount, ...]) -> dict[str, str]:
        """Elsewhere than on Linux an engine runs in a machine of its own, with numbers of its own."""
        if sys.platform != "linux":
            return {}
        handles = open_all(self._layout.workspace, bound_inside(self._layout, plan))
        try:
            facts = {path: os.stat(handle) for path, handle in handles.items()}
        finally:
            close_all(handles.values())
        return {path: f"{fact.st_dev}:{fact.st_ino}" for path, fact in facts.items()}


def _first_existing(paths: Sequence[str]) -> str:
    return next((path for path in paths if os.path.exists(path)), "")


async def _undo(engine: Engine, container: str, kept: AsyncExitStack) -> None:
    await kept.aclose()
    await engine.remove(container)


async def _remove_left(engine: Engine) -> None:
    """Containers whose bot is gone without having removed them."""
    for container, owner in (await engine.labelled(LABEL)).items():
        if _is_gone(ProcessId.parse(owner)):
            await engine.remove(container)


def _is_gone(owner: ProcessId | None) -> bool:
    """A process of an earlier boot of this machine is gone too; of another machine nothing is known."""
    if owner is None:
        return True
    node, boot, *_ = here().split(" ")
    owner_node, owner_boot, *_ = (*owner.place.split(" "), "")
    return owner.is_alive() is False or (owner_node == node and owner_boot != boot)
