"""What a command in the sandbox cannot do. Every test runs the real bubblewrap."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from echo_bot.errors import StartError
from echo_bot.execution.protocol import CommandSpec, Limits, Outcome
from echo_bot.execution.sandbox import SandboxExecutor

Run = Callable[..., Awaitable[tuple[str, Outcome]]]
MakeSandbox = Callable[..., Awaitable[SandboxExecutor]]


async def test_what_it_writes_to_the_workspace_stays(
    sandbox: SandboxExecutor, home: Path, workspace: Path, run: Run
) -> None:
    text, outcome = await run(sandbox, "mkdir out && echo kept > out/file && cat out/file")
    assert (text, outcome.exit_code) == ("kept\n", 0)
    assert (workspace / "out" / "file").read_text() == "kept\n"


async def test_bot_state_is_absent(sandbox: SandboxExecutor, home: Path, state: Path, run: Run) -> None:
    text, _ = await run(sandbox, f"cat {state}/state.db; ls -A {state}; grep -rs SECRET {home}; true")
    assert "SECRET" not in text


async def test_bot_state_inside_the_workspace_is_absent(
    make_sandbox: MakeSandbox, workspace: Path, run: Run
) -> None:
    inside = workspace / "state"
    inside.mkdir()
    (inside / "state.db").write_text("SECRET-INSIDE")
    executor = await make_sandbox(state=[inside])
    text, _ = await run(executor, "cat state/state.db; mv state other; rm -rf state; true")
    assert "SECRET" not in text
    assert (inside / "state.db").read_text() == "SECRET-INSIDE"


@pytest.mark.parametrize(
    "name",
    [".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".kube", ".docker"],
    ids=lambda name: f"~/{name}",
)
async def test_credential_folders_are_absent(
    name: str, sandbox: SandboxExecutor, home: Path, workspace: Path, run: Run
) -> None:
    for above in (home, workspace):
        (above / name).mkdir(parents=True, exist_ok=True)
        (above / name / "secret").write_text("SECRET")
    text, _ = await run(sandbox, f"cat ~/{name}/secret ./{name}/secret; ls -A ~/{name} ./{name}; true")
    assert "SECRET" not in text
    assert "secret" not in text.replace("/secret: No such file", "")


@pytest.mark.parametrize("name", [".netrc", ".git-credentials", ".npmrc", ".pypirc", ".pgpass"])
async def test_credential_files_are_absent(
    name: str, sandbox: SandboxExecutor, home: Path, workspace: Path, run: Run
) -> None:
    for above in (home, workspace):
        (above / name).write_text("SECRET")
    text, _ = await run(sandbox, f"cat ~/{name} ./{name}; echo gone > {name}; rm -f {name}; true")
    assert "SECRET" not in text
    assert (workspace / name).read_text() == "SECRET"


async def test_a_link_to_a_credential_folder_does_not_help(
    sandbox: SandboxExecutor, home: Path, workspace: Path, run: Run
) -> None:
    (workspace / "innocent").symlink_to(home / ".ssh")
    assert "SECRET" not in (await run(sandbox, "cat innocent/id_ed25519; true"))[0]


async def test_nothing_outside_the_workspace_can_be_written(
    sandbox: SandboxExecutor, home: Path, workspace: Path, run: Run
) -> None:
    files = (
        f"{home}/x ~/.bashrc /etc/x /usr/x /x /sys/x /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname"
    )
    text, _ = await run(sandbox, f"for f in {files}; do (exec 3>>$f) && echo WROTE $f; done; true")
    assert "WROTE" not in text
    assert not (home / "x").exists()


async def test_state_deep_in_the_workspace_cannot_be_moved_into_sight(
    make_sandbox: MakeSandbox, workspace: Path, run: Run
) -> None:
    state = workspace / "data" / "bot" / "state"
    state.mkdir(parents=True)
    (state / "state.db").write_text("SECRET-DEEP")
    executor = await make_sandbox(state=[state])
    await run(executor, "mv data moved; mv data/bot moved; mv data/bot/state moved; ls")
    text, _ = await run(executor, "grep -rs SECRET . && echo FOUND; echo new > data/file && cat data/file")
    assert text == "new\n"
    assert state.exists()


async def test_the_program_inside_the_workspace_is_read_only(
    make_sandbox: MakeSandbox, workspace: Path, run: Run
) -> None:
    program = workspace / "echo_bot"
    program.mkdir()
    (program / "app.py").write_text("original")
    executor = await make_sandbox(program=[program])
    text, _ = await run(executor, "echo x > echo_bot/app.py; rm -rf echo_bot; mv echo_bot other; true")
    assert "Read-only" in text
    assert (program / "app.py").read_text() == "original"


@pytest.mark.parametrize(
    "name",
    [
        ".env",
        ".bashrc",
        "sub/.env",
        ".git/config",
        ".git/hooks/pre-commit",
        "sub/.git/config",
        ".vscode/tasks.json",
    ],
)
async def test_persistence_files_are_read_only(
    name: str, sandbox: SandboxExecutor, home: Path, workspace: Path, run: Run
) -> None:
    file = workspace / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("original")
    text, _ = await run(sandbox, f"cat {name}; echo x > {name}; rm -f {name}; mv {name} other; true")
    assert text.startswith("original")
    assert file.read_text() == "original"


async def test_hooks_cannot_be_planted_where_there_are_none(
    sandbox: SandboxExecutor, home: Path, workspace: Path, run: Run
) -> None:
    git = workspace / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    await run(
        sandbox, "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; mv .git old; mkdir -p .git/hooks"
    )
    assert list((git / "hooks").iterdir()) == []
    assert not (workspace / "old").exists()


async def test_git_can_still_commit(sandbox: SandboxExecutor, home: Path, workspace: Path, run: Run) -> None:
    text, outcome = await run(sandbox, "git init -q . && echo made")
    if "made" not in text:
        pytest.skip("git is not installed")
    text, outcome = await run(
        sandbox,
        "echo a > a && git add a && git -c user.name=a -c user.email=a@b commit -qm one && git log --oneline",
    )
    assert outcome.exit_code == 0, text
    assert text.endswith(" one\n")


async def test_the_hosts_loopback_is_out_of_reach(sandbox: SandboxExecutor, run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        connect = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo CONNECTED"
        assert "CONNECTED" not in (await run(sandbox, connect))[0]
        assert "CONNECTED" in (await run(sandbox, connect, network=True))[0]


async def test_abstract_sockets_of_the_host_are_out_of_reach(sandbox: SandboxExecutor, run: Run) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0echo-bot-test-{os.getpid()}")
        assert f"echo-bot-test-{os.getpid()}" not in (await run(sandbox, "cat /proc/net/unix"))[0]


async def test_the_sockets_of_daemons_are_out_of_sight(sandbox: SandboxExecutor, run: Run) -> None:
    text, _ = await run(sandbox, "find /run/ /var/run/ /tmp/ /dev/shm/ -type s -o -type f")
    assert text == ""


async def test_host_processes_are_neither_seen_nor_ended(sandbox: SandboxExecutor, run: Run) -> None:
    text, _ = await run(sandbox, f"kill -9 {os.getpid()} && echo KILLED; ls /proc | grep -c '^[0-9]*$'")
    assert "KILLED" not in text
    assert int(text.split()[-1]) < 10


async def test_root_has_no_capabilities_and_no_password_file(sandbox: SandboxExecutor, run: Run) -> None:
    text, _ = await run(sandbox, "grep -E 'Cap(Eff|Prm|Bnd)' /proc/self/status; cat /etc/shadow")
    assert {line.split()[1] for line in text.splitlines()[:3]} == {"0" * 16}
    assert "root:" not in text


async def test_tmp_is_private_and_bounded(sandbox: SandboxExecutor, run: Run, tmp_path: Path) -> None:
    text, _ = await run(
        sandbox,
        "ls /tmp; dd if=/dev/zero of=/tmp/big bs=1M count=20 2>&1; echo x > /tmp/mine && echo WROTE",
        limits=Limits(file_mb=8),
    )
    assert "No space left" in text or "File size limit" in text
    assert not Path("/tmp/big").exists()


async def test_the_environment_is_clean_and_on_no_command_line(
    workspace: Path, sandbox: SandboxExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ECHO_BOT_CREDENTIAL_KEY", "SECRET-KEY")
    env = {"EXTRA": "SECRET-EXTRA", "LD_PRELOAD": str(workspace / "evil.so")}
    spec = CommandSpec(("bash", "-c", "env; read -r line"), str(workspace), 20, env=env)
    process = await sandbox.start(spec, keep_stdin_open=True)
    outer = Path(f"/proc/{process.pid}")
    try:
        assert b"SECRET" not in (outer / "cmdline").read_bytes()
        assert {line.split(b"=")[0] for line in (outer / "environ").read_bytes().split(b"\0")} <= {
            b"PATH",
            b"ECHO_BOT_RUN",
            b"",
        }
        await process.write(b"\n")
        text = b"".join([chunk.data async for chunk in process.output() if chunk.stream == "stdout"]).decode()
    finally:
        await process.kill()
    names = {line.partition("=")[0] for line in text.splitlines()}
    assert names <= {
        "PATH",
        "HOME",
        "LANG",
        "TERM",
        "TMPDIR",
        "EXTRA",
        "LD_PRELOAD",
        "PWD",
        "SHLVL",
        "_",
        "OLDPWD",
    }
    assert "SECRET-EXTRA" in text


@pytest.mark.parametrize("env", [{"A": "x\0--bind\0/\0/"}, {"A\0--share-net": "x"}, {"A": "\ud800"}])
async def test_an_environment_cannot_smuggle_in_arguments(
    env: dict[str, str], workspace: Path, sandbox: SandboxExecutor
) -> None:
    with pytest.raises(StartError):
        await sandbox.start(CommandSpec(("true",), str(workspace), 5, env=env))


async def test_no_new_user_namespace_inside(sandbox: SandboxExecutor, run: Run) -> None:
    assert "NESTED" not in (await run(sandbox, "unshare --user true && echo NESTED; true"))[0]


@pytest.mark.parametrize(
    ("command", "limits"),
    [
        pytest.param(
            "python3 -c 'x = bytearray(200 << 20)'", Limits(memory_mb=64), id="one process's memory"
        ),
        pytest.param(
            "for i in 1 2 3; do python3 -c 'import time; x = b\"a\" * 4*10**7; time.sleep(60)' & done; wait",
            Limits(memory_mb=100),
            id="the memory of all together",
        ),
        pytest.param("for i in $(seq 40); do sleep 60 & done; wait", Limits(processes=20), id="processes"),
        pytest.param("while :; do :; done", Limits(cpu_seconds=1), id="CPU time"),
        pytest.param("head -c 9M /dev/zero > big", Limits(file_mb=1), id="file size"),
    ],
)
async def test_limits_hold(command: str, limits: Limits, sandbox: SandboxExecutor, run: Run) -> None:
    text, outcome = await run(sandbox, command, limits=limits, timeout=50)
    assert outcome.killed_by == "limit" or outcome.exit_code not in (0, None), text
    assert outcome.seconds < 45


async def test_a_hidden_folder_is_no_folder_to_run_in(state: Path, sandbox: SandboxExecutor) -> None:
    with pytest.raises(StartError, match="choose one in the workspace"):
        await sandbox.start(CommandSpec(("true",), str(state), 5))


async def test_it_ends_when_the_bot_is_killed(workspace: Path, sandbox: SandboxExecutor) -> None:
    """A bot in a process of its own is killed without a chance to clean up."""
    script = f"""
import asyncio
from echo_bot.execution.layout import SandboxLayout
from echo_bot.execution.protocol import CommandSpec
from echo_bot.execution.sandbox import SandboxExecutor
async def main():
    executor = SandboxExecutor(SandboxLayout({str(workspace)!r}), {{"PATH": "/usr/bin:/bin"}})
    await executor.ready()
    process = await executor.start(CommandSpec(("bash", "-c", "echo up; sleep 60"), {str(workspace)!r}, 60))
    async for chunk in process.output():
        print(chunk.data.decode(), flush=True)
asyncio.run(main())
"""
    bot = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    assert bot.stdout is not None
    assert await asyncio.wait_for(bot.stdout.readline(), 20) == b"up\n"
    bot.kill()
    await bot.wait()
