"""Another computer over a real SSH server: whom it trusts, what it says, and what a broken line leaves."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from echo_bot.errors import StartError
from echo_bot.execution.group import MARK_NAME
from echo_bot.execution.protocol import CommandSpec, Outcome, RunningProcess
from echo_bot.execution.remote import RUNS_A_CONNECTION, RemoteExecutor, RemoteHost
from echo_bot.testing.waiting import eventually
from tests.execution.real_sshd import RealServer, real_server

Run = Callable[..., Awaitable[tuple[str, Outcome]]]


@pytest.fixture
def server() -> Iterator[RealServer]:
    """A server of its own, for the test to end."""
    with real_server() as running:
        yield running


def sleeping(workspace: Path) -> CommandSpec:
    return CommandSpec(("bash", "-c", "(setsid sleep 60 &); sleep 60 & echo $$; wait"), str(workspace), 60)


async def pid_of(process: RunningProcess) -> int:
    async for chunk in process.output():
        return int(chunk.data)
    raise AssertionError("no output")


def marked(pid: int) -> list[int]:
    """All processes with the mark that `pid` has."""
    environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    mark = next(entry for entry in environ if entry.startswith(MARK_NAME.encode()))
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _carries(name, mark)]


def _carries(pid: str, mark: bytes) -> bool:
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param({"host": ""}, "execution.remote.host is empty", id="no host"),
        pytest.param({"user": ""}, "execution.remote.user is empty", id="no user"),
        pytest.param({"key_path": ""}, "ssh-keygen -t ed25519", id="no key named"),
        pytest.param({"key_path": "/no/key"}, "there is no file /no/key", id="no key"),
        pytest.param({"known_hosts": ""}, "ssh-keyscan 127.0.0.1", id="no known host"),
        pytest.param({"host": "127.0.0.1:ssh"}, "ends in no port number", id="a port that is none"),
        pytest.param({"host": "127.0.0.1:1"}, "is not reached over SSH", id="nobody there"),
        pytest.param({"key_path": "{other_key}"}, "authorized_keys", id="a key that is not let in"),
        pytest.param(
            {"key_path": "{known_hosts}"}, "no private key that can be used", id="a key that is none"
        ),
        pytest.param({"key_path": "{locked_key}"}, "without a passphrase", id="a key with a passphrase"),
        pytest.param({"known_hosts": "{empty}"}, "the host key of", id="a host nobody knows"),
        pytest.param({"known_hosts": "{changed}"}, "the host key of", id="a host key that changed"),
    ],
)
async def test_what_does_not_fit_is_said_and_nothing_runs(
    change: dict[str, str], says: str, shared_server: RealServer, workspace: Path, tmp_path: Path
) -> None:
    files = {name: str(shared_server.folder / name) for name in ("other_key", "known_hosts")}
    files |= {name: str(tmp_path / name) for name in ("empty", "changed", "locked_key")}
    Path(files["empty"]).touch()
    other = (shared_server.folder / "other_key.pub").read_text()
    Path(files["changed"]).write_text(f"[127.0.0.1]:{shared_server.port} {other}")
    shutil.copy(shared_server.folder / "key", files["locked_key"])
    subprocess.run(("ssh-keygen", "-q", "-p", "-N", "secret", "-f", files["locked_key"]), check=True)
    values = {key: value.format(**files) for key, value in change.items()}
    executor = RemoteExecutor(replace(shared_server.remote, **values), str(workspace), {})
    ready, why = await executor.ready()
    assert not ready
    assert says in why
    with pytest.raises(StartError):
        await executor.start(CommandSpec(("touch", "ran"), str(workspace), 5))
    await executor.close()
    assert not (workspace / "ran").exists()


async def test_a_workspace_that_is_not_there_is_said(shared_server: RealServer) -> None:
    executor = RemoteExecutor(shared_server.remote, "/no/such place", {})
    ready, why = await executor.ready()
    await executor.close()
    assert not ready
    assert why.endswith("mkdir -p '/no/such place'")


async def test_no_agent_is_asked_and_none_forwarded(
    remote: RemoteExecutor, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls: list[object] = []
    agent = await asyncio.start_unix_server(lambda *ends: calls.append(ends), str(tmp_path / "agent"))
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    text, _ = await run(remote, "env; ls /tmp/ssh-* 2>/dev/null")
    agent.close()
    assert not calls
    assert "SSH_" not in text


async def test_the_operators_names_go_along_and_nothing_else(
    shared_server: RealServer, workspace: Path, run: Run
) -> None:
    passed = {"PATH": "/only/here", "HOME": "/only/here", "CHOSEN": "it's so"}
    executor = RemoteExecutor(shared_server.remote, str(workspace), passed)
    text, _ = await run(executor, "env")
    await executor.close()
    assert "CHOSEN=it's so" in text
    assert "/only/here" not in text


async def test_no_argument_shows_the_command(remote: RemoteExecutor, run: Run, workspace: Path) -> None:
    """Anybody on the other computer may read command lines; the value is in the environment alone."""
    text, _ = await run(
        remote, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '", env={"PASSWORD": "hunter-two-three"}
    )
    assert "hunter-two-three" not in text


async def test_more_commands_than_a_connection_bears(remote: RemoteExecutor, workspace: Path) -> None:
    spec = CommandSpec(("cat",), str(workspace), 30)
    processes = [await remote.start(spec, keep_stdin_open=True) for _ in range(RUNS_A_CONNECTION + 2)]
    assert len(remote._links) == 2
    for process in processes:
        await process.close_stdin()
    assert [(await process.wait()).exit_code for process in processes] == [0] * len(processes)
    assert [link.runs for link in remote._links] == [0, 0]


async def test_a_line_that_breaks_loses_the_run_and_ends_it_over_there(
    remote: RemoteExecutor, workspace: Path, run: Run
) -> None:
    process = await remote.start(sleeping(workspace))
    pid = await pid_of(process)
    everyone = marked(pid)
    assert len(everyone) >= 3
    remote._links[0].abort()
    assert (await process.wait()).killed_by == "lost"
    await eventually(lambda: not any(map(_lives, everyone)), "the end of all", timeout=10)
    assert (await run(remote, "echo again"))[0] == "again\n"


async def test_a_bot_that_is_killed_leaves_nothing_over_there(
    shared_server: RealServer, workspace: Path
) -> None:
    script = (
        "import asyncio\n"
        "from echo_bot.execution.remote import RemoteExecutor, RemoteHost\n"
        "from echo_bot.execution.protocol import CommandSpec, Limits\n"
        "async def main():\n"
        f"    executor = RemoteExecutor({shared_server.remote!r}, {str(workspace)!r}, {{}})\n"
        f"    process = await executor.start({sleeping(workspace)!r})\n"
        "    async for chunk in process.output():\n"
        "        print(chunk.data.decode(), flush=True)\n"
        "asyncio.run(main())\n"
    )
    words = (sys.executable, "-c", script)
    bot = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    assert bot.stdout is not None
    everyone = marked(int(await bot.stdout.readline()))
    bot.kill()
    await bot.wait()
    await eventually(lambda: not any(map(_lives, everyone)), "the end of all", timeout=10)


async def test_a_server_that_is_away_is_tried_again_more_and_more_rarely(
    server: RealServer, workspace: Path, run: Run
) -> None:
    executor = RemoteExecutor(server.remote, str(workspace), {})
    assert (await run(executor, "echo first"))[0] == "first\n"
    server.stop()
    await eventually(lambda: not any(link.is_open for link in executor._links), "the loss", timeout=10)
    spec = CommandSpec(("true",), str(workspace), 5)
    with pytest.raises(StartError, match="is not reached"):
        await executor.start(spec)
    with pytest.raises(StartError, match="tried again in 1 s"):
        await executor.start(spec)
    executor._not_before = 0.0
    with pytest.raises(StartError, match="is not reached"):
        await executor.start(spec)
    with pytest.raises(StartError, match="tried again in 2 s"):
        await executor.start(spec)
    server.start()
    executor._not_before = 0.0
    assert (await run(executor, "echo second"))[0] == "second\n"
    assert executor._failures == 0
    await executor.close()


async def test_what_a_login_prints_is_no_output(server: RealServer, workspace: Path, run: Run) -> None:
    config = server.folder / "config"
    config.write_text(config.read_text() + 'ForceCommand echo welcome; eval "$SSH_ORIGINAL_COMMAND"\n')
    server.stop()
    server.start()
    executor = RemoteExecutor(server.remote, str(workspace), {})
    assert (await run(executor, "echo only this"))[0] == "only this\n"
    await executor.close()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("host", ("host", 22)),
        ("host:2222", ("host", 2222)),
        ("10.0.0.1:22", ("10.0.0.1", 22)),
        ("fe80::1", ("fe80::1", 22)),
        ("[fe80::1]", ("fe80::1", 22)),
        ("[fe80::1]:2222", ("fe80::1", 2222)),
    ],
)
def test_a_host_may_name_its_port(written: str, meant: tuple[str, int]) -> None:
    assert RemoteHost(written, "user", "/key", "/hosts").name_and_port == meant


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
