"""How a sandboxed run starts and ends, and what is said where there is no sandbox."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest
import typing_extensions

from echo_bot.errors import StartError
from echo_bot.execution.bubblewrap import arguments, why_not
from echo_bot.execution.layout import SandboxLayout
from echo_bot.execution.protocol import CommandSpec, Outcome
from echo_bot.execution.sandbox import SandboxExecutor

Run = Callable[..., Awaitable[tuple[str, Outcome]]]


@pytest.mark.parametrize(
    "command",
    ["sleep 60", "setsid sleep 60 & wait", "(setsid bash -c 'trap \"\" TERM; sleep 60' &); sleep 60"],
)
async def test_a_timeout_ends_every_member(command: str, sandbox: SandboxExecutor, run: Run) -> None:
    _, outcome = await run(sandbox, command, timeout=0.3)
    assert (outcome.exit_code, outcome.killed_by) == (None, "timeout")


async def test_what_a_finished_command_left_running_is_ended(sandbox: SandboxExecutor, run: Run) -> None:
    text, outcome = await run(sandbox, "sleep 60 & (setsid sleep 60 &); echo done; exit 4")
    assert (text, outcome.exit_code) == ("done\n", 4)


async def test_a_polite_command_may_clean_up(sandbox: SandboxExecutor, workspace: Path) -> None:
    command = "trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.01; done"
    process = await sandbox.start(CommandSpec(("bash", "-c", command), str(workspace), 20))
    output = process.output()
    assert (await anext(output)).data == b"up\n"
    await process.kill()
    assert b"bye\n" in [chunk.data async for chunk in output]


async def test_a_signal_reaches_the_command(sandbox: SandboxExecutor, workspace: Path) -> None:
    command = "trap 'echo caught; exit 5' INT; echo up; while :; do sleep 0.01; done"
    process = await sandbox.start(CommandSpec(("bash", "-c", command), str(workspace), 20))
    output = process.output()
    assert (await anext(output)).data == b"up\n"
    await process.signal(signal.SIGINT)
    assert b"caught\n" in [chunk.data async for chunk in output]
    assert (await process.wait()).exit_code == 5


async def test_stopping_at_once_leaves_nothing(sandbox: SandboxExecutor, workspace: Path) -> None:
    """bwrap may be killed before its child has asked to die with it; the mark still leads to it."""
    for milliseconds in range(12):
        process = await sandbox.start(CommandSpec(("sleep", "60"), str(workspace), 20))
        await asyncio.wait({asyncio.ensure_future(process.wait())}, timeout=milliseconds / 1000)
        await process.kill()
        assert (await process.wait()).killed_by == "stop"


async def test_many_at_once(sandbox: SandboxExecutor, run: Run) -> None:
    results = await asyncio.gather(*(run(sandbox, f"echo {number}") for number in range(12)))
    assert [text for text, _ in results] == [f"{number}\n" for number in range(12)]


async def test_a_workspace_under_tmp_works(tmp_path: Path, environment: dict[str, str]) -> None:
    executor = SandboxExecutor(SandboxLayout(str(tmp_path)), environment)
    if not (await executor.ready())[0]:
        pytest.skip("no sandbox here")
    process = await executor.start(CommandSpec(("touch", "made"), str(tmp_path), 20))
    assert (await process.wait()).exit_code == 0
    assert (tmp_path / "made").exists()


async def test_without_bubblewrap_it_says_how_to_get_it(workspace: Path, environment: dict[str, str]) -> None:
    executor = SandboxExecutor(SandboxLayout(str(workspace)), environment, bwrap="no-such-bwrap")
    ready, why = await executor.ready()
    assert not ready
    assert "apt install bubblewrap" in why
    assert "tools.exec.host" in why
    with pytest.raises(StartError, match="bubblewrap"):
        await executor.start(CommandSpec(("true",), str(workspace), 5))


async def test_a_bubblewrap_that_fails_is_not_ready(
    workspace: Path, environment: dict[str, str], home: Path
) -> None:
    broken = home / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    executor = SandboxExecutor(SandboxLayout(str(workspace)), environment, bwrap=str(broken))
    ready, why = await executor.ready()
    assert not ready
    assert "No permissions to create a new namespace" in why
    broken.unlink()
    assert await executor.ready() == (False, why), "the first answer is kept"
    assert "not installed" in (await executor.probe())[1]


async def test_an_older_bubblewrap_gets_a_more_lenient_call(
    workspace: Path, environment: dict[str, str], home: Path
) -> None:
    older = home / "bwrap"
    older.write_text(
        "#!/bin/sh\nif tr '\\0' ' ' </dev/fd/$2 | grep -q -- --disable-userns; then exit 1; fi\nexit 0\n"
    )
    older.chmod(0o755)
    executor = SandboxExecutor(SandboxLayout(str(workspace)), environment, bwrap=str(older))
    assert (await executor.ready())[0]


@pytest.mark.parametrize("hidden", [(), ("/srv",)])
async def test_a_workspace_that_cannot_be_shown_alone_is_not_ready(
    hidden: tuple[str, ...], environment: dict[str, str]
) -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    layout = SandboxLayout(hidden[0] if hidden else "/", hidden=hidden)
    ready, why = await SandboxExecutor(layout, environment).ready()
    assert not ready
    assert "choose another folder" in why


@pytest.mark.parametrize(
    ("said", "facts", "named"),
    [
        pytest.param(
            "bwrap: setting up uid map: Permission denied",
            {"kernel/apparmor_restrict_unprivileged_userns": "1"},
            "AppArmor",
            id="AppArmor",
        ),
        pytest.param(
            "x", {"kernel/unprivileged_userns_clone": "0"}, "sysctl kernel.unprivileged", id="Debian switch"
        ),
        pytest.param("x", {"user/max_user_namespaces": "0"}, "max_user_namespaces", id="none allowed"),
        pytest.param("bwrap: Unknown option --size", {}, "0.8 or later", id="too old"),
        pytest.param("bwrap: Can't mount proc on /newroot/proc: EPERM", {}, "masks /proc", id="masked /proc"),
        pytest.param(
            "bwrap: Creating new namespace failed", {}, "container or the kernel", id="anything else"
        ),
        pytest.param("", {}, "no message", id="silence"),
    ],
)
def test_the_sentence_names_the_cause(said: str, facts: Mapping[str, str], named: str) -> None:
    sentence = why_not(said, facts)
    assert named in sentence
    assert sentence.endswith("or set tools.exec.host to local")


def test_network_is_shared_only_when_asked() -> None:
    def words(network: bool) -> list[str]:
        return arguments((), (), env={}, cwd="/", network=network, private_bytes=1, handles={})

    assert "--unshare-net" in words(False)
    assert "--unshare-net" not in words(True)


def _python_for_everybody() -> str | None:
    """An interpreter that another user may run; a virtual environment in a home folder is none."""
    own = os.path.realpath(sys.executable)
    return own if not own.startswith("/root/") else shutil.which("python3", path="/usr/bin:/bin")


@pytest.mark.parametrize("user", ["root", "nobody"])
async def test_an_undumpable_bot_still_has_its_sandbox(user: str, tmp_path: Path) -> None:
    """Hardening closes the bot's /proc entries even to itself; children must not notice, whoever runs it."""
    python = _python_for_everybody()
    if (
        os.geteuid() != 0
        or shutil.which("setpriv") is None
        or shutil.which("bwrap") is None
        or python is None
    ):
        pytest.skip("needs root, setpriv and bubblewrap")
    entry = pwd.getpwnam(user)
    shutil.copytree(
        Path(__file__).parents[2] / "echo_bot",
        tmp_path / "lib" / "echo_bot",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    shutil.copy(typing_extensions.__file__, tmp_path / "lib")
    script = tmp_path / "bot.py"
    script.write_text(_HARDENED_BOT)
    for path in (tmp_path, *tmp_path.parents):
        if path.is_relative_to("/tmp") and path != Path("/tmp"):
            path.chmod(0o755)
    switch = ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups", "--"]
    bot = await asyncio.create_subprocess_exec(
        *switch,
        *(python, "-B", str(script)),
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path / "lib"), "SECRET": "SECRET-KEY"},
        cwd="/",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert bot.stdout is not None
    text = (await asyncio.wait_for(bot.stdout.read(), 30)).decode()
    await bot.wait()
    assert "hardened True True" in text, text
    assert "sandbox 0 b'in\\n'" in text, text
    assert "local 0 b'in\\n'" in text, text
    assert "timeout timeout" in text, text
    if user != "root":
        assert "SECRET" not in text
        assert "Permission denied" in text


_HARDENED_BOT = """
import asyncio, os, tempfile
from echo_bot.execution.environment import clean_environment
from echo_bot.execution.hardening import harden_process, is_hardened
from echo_bot.execution.layout import SandboxLayout
from echo_bot.execution.local import LocalExecutor
from echo_bot.execution.protocol import CommandSpec
from echo_bot.execution.sandbox import SandboxExecutor

async def run(executor, command, timeout=10):
    process = await executor.start(CommandSpec(("bash", "-c", command), folder, timeout, merged=True))
    text = b"".join([chunk.data async for chunk in process.output()])
    return await process.wait(), text

async def main():
    env = clean_environment(os.environ, home=folder, tmpdir="/tmp")
    sandbox, local = SandboxExecutor(SandboxLayout(folder), env), LocalExecutor(env)
    print(await sandbox.ready())
    for name, executor in (("sandbox", sandbox), ("local", local)):
        outcome, text = await run(executor, "echo in")
        print(name, outcome.exit_code, text)
    print("timeout", (await run(sandbox, "sleep 60", 0.2))[0].killed_by)
    print((await run(local, f"cat /proc/{os.getpid()}/environ | tr -d '\\\\0'"))[1].decode())

print("hardened", harden_process(), is_hardened())
with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main())
"""


async def test_a_workspace_that_is_not_there_is_no_fault_of_the_kernel(tmp_path: Path) -> None:
    executor = SandboxExecutor(SandboxLayout(str(tmp_path / "lisbn")), {"PATH": "/usr/bin:/bin"})
    ready, why = await executor.ready()
    assert not ready
    assert "lisbn is no folder; make it" in why
    assert "namespaces" not in why
