"""Executors to test with, and a check after every test that no process was left behind."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from echo_bot.execution.container import ContainerExecutor
from echo_bot.execution.container_body import NOBODY
from echo_bot.execution.engine import Engine
from echo_bot.execution.environment import clean_environment
from echo_bot.execution.group import MARK_NAME, boot_ticks
from echo_bot.execution.layout import PRIVATE_FOLDERS, default_layout
from echo_bot.execution.local import LocalExecutor
from echo_bot.execution.proctree import ProcessKey, descendants, key, read_processes
from echo_bot.execution.protocol import CommandSpec, ExecutorBackend, Limits, Outcome
from echo_bot.execution.remote import RemoteExecutor
from echo_bot.execution.sandbox import SandboxExecutor
from echo_bot.policy.guards.sensitive_names import is_within
from echo_bot.testing.waiting import PATIENCE_SECONDS
from tests.execution.real_engine import IMAGE, RealEngine, has_engine, real_engine
from tests.execution.real_sshd import RealServer, has_server, real_server

READY = (True, "ready in a Podman container")
PATH = "/usr/local/bin:/usr/bin:/bin"


Run = Callable[..., Awaitable[tuple[str, Outcome]]]
MakeSandbox = Callable[..., Awaitable[SandboxExecutor]]


def _left_over(since: int) -> set[ProcessKey]:
    """Our own descendants, and orphans of any run; what belongs to another test worker has a parent still."""
    processes = read_processes()
    own = descendants(processes, [os.getpid()])
    orphans = [p for p in processes.values() if p.parent == 1 and p.started >= since and _is_marked(p.pid)]
    return {key(p) for p in (*own, *orphans) if p.started >= since}


def _is_marked(pid: int) -> bool:
    try:
        return f"{MARK_NAME}=".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Iterator[None]:
    since = boot_ticks()
    yield
    left, deadline = _left_over(since), time.monotonic() + PATIENCE_SECONDS
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left &= _left_over(since)
    assert not left, f"left running: {left}"


@pytest.fixture
def home() -> Iterator[Path]:
    """A home folder outside /tmp: all of that is private to a sandbox, and tests would prove nothing."""
    with tempfile.TemporaryDirectory(dir=_visible_folder(), prefix=".home-") as folder:
        yield Path(folder)


def _visible_folder() -> Path:
    """A folder that a sandbox shows: this one, unless the checkout itself lies in a private one."""
    for candidate in (Path(__file__).parent, Path.home(), Path("/var/lib"), Path("/opt")):
        is_private = any(is_within(str(candidate.resolve()), private) for private in PRIVATE_FOLDERS)
        if not is_private and os.access(candidate, os.W_OK):
            return candidate
    pytest.fail("no writable folder outside /tmp: set HOME to one")


@pytest.fixture
def workspace(home: Path) -> Path:
    folder = home / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def state(home: Path) -> Path:
    folder = home / ".echo-bot"
    folder.mkdir()
    (folder / "state.db").write_text("SECRET-STATE")
    return folder


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    return clean_environment({"PATH": PATH}, home=str(home), tmpdir="/tmp")


@pytest.fixture
def make_sandbox(home: Path, workspace: Path, environment: dict[str, str]) -> MakeSandbox:
    """`await make_sandbox(state=[…], program=[…])`; skips where no sandbox works."""

    async def make(state: Sequence[Path] = (), program: Sequence[Path] = ()) -> SandboxExecutor:
        layout = default_layout(str(workspace), str(home), map(str, state), map(str, program))
        executor = SandboxExecutor(layout, environment)
        ready, why = await executor.ready()
        if not ready:
            pytest.skip(why)
        return executor

    return make


@pytest.fixture
async def sandbox(make_sandbox: MakeSandbox, state: Path) -> SandboxExecutor:
    return await make_sandbox(state=[state])


@pytest.fixture
def local(environment: dict[str, str]) -> LocalExecutor:
    return LocalExecutor(environment)


def _do_without(what: str) -> None:
    """Named at the end of a run at home; in CI, which installs it, a failure."""
    if os.environ.get("CI"):
        pytest.fail(f"these tests need {what}")
    pytest.skip(f"needs {what}")


@pytest.fixture(scope="session")
def engine() -> Iterator[RealEngine]:
    if not has_engine():
        _do_without("a container engine (Debian: apt install podman runc)")
    with real_engine() as running:
        yield running


@pytest.fixture
async def container(
    engine: RealEngine, workspace: Path, state: Path, home: Path, environment: dict[str, str]
) -> AsyncIterator[ContainerExecutor]:
    """Of a workspace that the container's user may write: for root that is not root itself."""
    if os.getuid() == 0:
        os.chown(workspace, NOBODY, NOBODY)
    layout = default_layout(str(workspace), str(home), [str(state)], [])
    executor = ContainerExecutor(IMAGE, [engine.socket], layout, environment)
    if engine.known is not None:  # every test would run a container more to hear the same
        executor._known, executor._readiness = replace(engine.known, engine=Engine(engine.socket)), READY
    yield executor
    engine.known = executor._known or engine.known
    await executor.close()


@pytest.fixture(scope="session")
def shared_server() -> Iterator[RealServer]:
    if not has_server():
        _do_without("an SSH server (Debian: apt install openssh-server)")
    with real_server() as running:
        yield running


@pytest.fixture
async def remote(
    shared_server: RealServer, workspace: Path, environment: dict[str, str]
) -> AsyncIterator[RemoteExecutor]:
    executor = RemoteExecutor(shared_server.remote, str(workspace), environment)
    yield executor
    await executor.close()


@pytest.fixture
def run(workspace: Path) -> Run:
    """`await run(executor, "command line", …)`: to its end, both streams in one."""

    async def run_command(
        executor: ExecutorBackend,
        command: str,
        *,
        timeout: float = 20,
        env: dict[str, str] | None = None,
        network: bool = False,
        limits: Limits | None = None,
        cwd: str = "",
        stdin: bytes = b"",
    ) -> tuple[str, Outcome]:
        spec = CommandSpec(
            ("bash", "--noprofile", "--norc", "-c", command),
            cwd or str(workspace),
            timeout,
            env=env or {},
            network=network,
            limits=limits or Limits(),
            stdin=stdin,
            merged=True,
        )
        process = await executor.start(spec)
        try:
            data = b"".join([chunk.data async for chunk in process.output()])
            return data.decode(errors="replace"), await process.wait()
        finally:
            await process.kill()

    return run_command
