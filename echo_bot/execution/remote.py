"""Commands on another computer over SSH: known host key, one key file, nothing forwarded."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from echo_bot.backoff import backoff
from echo_bot.errors import StartError
from echo_bot.execution.environment import check_environment
from echo_bot.execution.protocol import CommandSpec, LostError
from echo_bot.execution.remote_scripts import as_line, lacking, probe, start
from echo_bot.execution.running import Running, begin_input
from echo_bot.policy.call import Executor

if TYPE_CHECKING:
    from echo_bot.execution.remote_link import RemoteLink

log = structlog.get_logger(__name__)

RUNS_A_CONNECTION = 7
"""An SSH server allows ten channels a connection; the guardian has one, and so has a probe."""
CONNECT_SECONDS = 15.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_OWN_NAMES = frozenset({"PATH", "HOME", "LANG", "TERM", "TMPDIR"})
_NO_PACKAGE = "the package asyncssh is missing; run: pip install 'echo-bot[sandbox]'"


@dataclass(frozen=True, slots=True)
class RemoteHost:
    """`host` may end in `:port`; an IPv6 address with a port stands in brackets. The files are absolute."""

    host: str
    user: str
    key_path: str
    known_hosts: str

    @property
    def name_and_port(self) -> tuple[str, int]:
        """Raises ValueError for a port that is no number."""
        if self.host.startswith("["):
            name, _, port = self.host[1:].partition("]")
            return name, int(port.removeprefix(":") or 22)
        if self.host.count(":") == 1:
            name, _, port = self.host.partition(":")
            return name, int(port)
        return self.host, 22


class RemoteExecutor:
    """`workspace` has to exist there under the same path: what guards and cards say then holds there too."""

    kind = Executor.REMOTE

    def __init__(self, remote: RemoteHost, workspace: str, environment: Mapping[str, str]) -> None:
        self._remote = remote
        self._workspace = workspace
        self._environment = {name: text for name, text in environment.items() if name not in _OWN_NAMES}
        self._links: list[RemoteLink] = []
        self._connecting, self._probing = asyncio.Lock(), asyncio.Lock()
        self._is_ready = False
        self._runs = 0
        self._failures = 0
        self._not_before = 0.0
        self._complaint = ""

    async def ready(self) -> tuple[bool, str]:
        """A good answer is kept; after a bad one it is tried again, more and more rarely."""
        async with self._probing:
            if not self._is_ready and (missing := await self._what_is_missing()):
                return False, missing
            self._is_ready = True
        return True, f"ready on {self._remote.host} over SSH, not confined there"

    async def start(self, spec: CommandSpec, *, keep_stdin_open: bool = False) -> Running:
        """Raises StartError when the computer is not reached or the folder is not there."""
        ready, why = await self.ready()
        if not ready:
            raise StartError(why)
        check_environment(spec.env)
        link = await self._free_link()
        link.runs += 1
        try:
            return await self._start(link, spec, keep_stdin_open)
        except BaseException:
            link.runs -= 1
            raise

    async def close(self) -> None:
        links, self._links = self._links, []
        await asyncio.gather(*(link.close() for link in links))

    async def _start(self, link: RemoteLink, spec: CommandSpec, keep_stdin_open: bool) -> Running:
        import asyncssh

        from echo_bot.execution.remote_link import ANSWER_SECONDS
        from echo_bot.execution.remote_members import RemoteMembers

        self._runs += 1
        mark = f"{link.name}.{self._runs}"
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                stream = await link.open(mark)
                stream.feed(as_line(start(spec, mark, self._environment)))
                pid = await stream.began
                await link.began(pid)
        except StartError as error:
            raise StartError(f"{spec.cwd} on {self._remote.host}: {error}") from error
        except (OSError, asyncssh.Error, LostError, TimeoutError) as error:
            link.abort()
            raise StartError(f"{self._remote.host} did not start the command: {_said(error)}") from error
        running = Running(pid, stream, RemoteMembers(link, pid, mark, stream), spec)
        begin_input(stream, spec, has_input=True, keep_stdin_open=keep_stdin_open)
        return running

    async def _what_is_missing(self) -> str:
        try:
            return await asyncio.to_thread(self._missing) or await self._look()
        except StartError as error:
            return str(error)

    def _missing(self) -> str:
        """What the configuration lacks, before anything is connected to; "" when it is all there."""
        for key in ("host", "user", "key_path", "known_hosts"):
            if not getattr(self._remote, key):
                return f"execution.remote.{key} is empty" + _how_to_get(key, self._remote)
        for key in ("key_path", "known_hosts"):
            path = getattr(self._remote, key)
            if not os.path.isfile(path):
                return f"execution.remote.{key}: there is no file {path}" + _how_to_get(key, self._remote)
        try:
            self._remote.name_and_port  # noqa: B018 - raises
        except ValueError:
            return f"execution.remote.host: {self._remote.host} ends in no port number"
        try:
            import asyncssh  # noqa: F401
        except ImportError:
            return _NO_PACKAGE
        return ""

    async def _look(self) -> str:
        """What the other computer lacks; "" when it is all there."""
        import asyncssh

        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                link = await self._free_link()
                missing = lacking(await link.say(probe(self._workspace)))
        except (OSError, asyncssh.Error, TimeoutError) as error:
            return f"{self._remote.host} does not answer: {_said(error)}"
        if "proc" in missing:
            return f"{self._remote.host} has no /proc; it has to run Linux"
        if "folder" in missing:
            login = f"{self._remote.user}@{self._remote.host}"
            return (
                f"the workspace {self._workspace} does not exist on {self._remote.host}; make it there: "
                f"ssh {login} mkdir -p {shlex.quote(self._workspace)}"
            )
        return (
            f"{self._remote.host} lacks {' and '.join(missing)}; install what is missing" if missing else ""
        )

    async def _free_link(self) -> RemoteLink:
        """A connection with room for one more command. Raises StartError, at once while it has to wait."""
        async with self._connecting:
            self._links = [link for link in self._links if link.is_open]
            for link in self._links:
                if link.runs < RUNS_A_CONNECTION:
                    return link
            now = asyncio.get_running_loop().time()
            if now < self._not_before:
                wait = self._not_before - now
                raise StartError(f"{self._complaint}; it is tried again in {wait:.0f} s at the earliest")
            try:
                link = await self._connect()
            except StartError as error:
                pause = backoff(self._failures, _FIRST_PAUSE, _LONGEST_PAUSE)
                self._failures += 1
                self._not_before = asyncio.get_running_loop().time() + pause
                self._complaint = str(error)
                raise
            self._failures, self._not_before = 0, 0.0
            self._links.append(link)
            return link

    async def _connect(self) -> RemoteLink:
        import asyncssh

        from echo_bot.execution.remote_link import RemoteLink

        name, port = self._remote.name_and_port
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                connection = await asyncssh.connect(
                    name,
                    port,
                    username=self._remote.user,
                    client_keys=[self._remote.key_path],
                    known_hosts=self._remote.known_hosts,
                    config=None,
                    preferred_auth="publickey",
                    password_auth=False,
                    kbdint_auth=False,
                    host_based_auth=False,
                    gss_host=None,
                    agent_path=None,
                    agent_forwarding=False,
                    x11_forwarding=False,
                    send_env=(),
                    keepalive_interval=15,
                    keepalive_count_max=3,
                )
                return await RemoteLink.over(connection)
        except asyncssh.HostKeyNotVerifiable as error:
            raise StartError(
                f"the host key of {self._remote.host} is not in {self._remote.known_hosts}; before you put "
                "it there, compare it with the server's own: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub"
            ) from error
        except asyncssh.PermissionDenied as error:
            raise StartError(
                f"{self._remote.host} does not let {self._remote.user} in with {self._remote.key_path}; "
                "add its public part to ~/.ssh/authorized_keys there"
            ) from error
        except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
            raise StartError(
                f"{self._remote.key_path} is no private key that can be used; make one without a passphrase: "
                f"ssh-keygen -t ed25519 -N '' -f {shlex.quote(self._remote.key_path)}"
            ) from error
        except (OSError, asyncssh.Error, TimeoutError) as error:
            raise StartError(f"{self._remote.host} is not reached over SSH: {_said(error)}") from error


def _how_to_get(key: str, remote: RemoteHost) -> str:
    match key:
        case "known_hosts":
            host = remote.host.partition(":")[0] or "HOST"
            return (
                f"; get the host's key with: ssh-keyscan {host} > FILE, and compare it with the server's own"
            )
        case "key_path":
            return "; make a key with: ssh-keygen -t ed25519 -N '' -f FILE"
    return ""


def _said(error: BaseException) -> str:
    return str(error) or type(error).__name__
