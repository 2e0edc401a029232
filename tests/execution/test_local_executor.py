"""Commands on the host: what they get, and that they end with everything they started."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from echo_bot.errors import StartError
from echo_bot.execution.local import LocalExecutor
from echo_bot.execution.protocol import CommandSpec, Limits, Outcome, RunningProcess
from echo_bot.execution.waiter import can_wait, waited
from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually

Run = Callable[..., Awaitable[tuple[str, Outcome]]]


def bash(command: str, folder: Path, timeout: float = 20) -> CommandSpec:
    return CommandSpec(("bash", "--noprofile", "--norc", "-c", command), str(folder), timeout)


async def first_line(process: RunningProcess) -> bytes:
    async for chunk in process.output():
        return chunk.data
    return b""


async def test_it_is_ready_where_bash_is(local: LocalExecutor) -> None:
    assert (await local.ready())[0]
    ready, why = await LocalExecutor({"PATH": "/nowhere"}).ready()
    assert not ready
    assert "apt install bash" in why


async def test_output_comes_in_order_of_arrival(local: LocalExecutor, run: Run) -> None:
    text, outcome = await run(local, "for i in 1 2 3; do echo out$i; echo err$i >&2; done; exit 3")
    assert text.split() == ["out1", "err1", "out2", "err2", "out3", "err3"]
    assert (outcome.exit_code, outcome.killed_by) == (3, "")


async def test_streams_are_told_apart_unless_merged(local: LocalExecutor, workspace: Path) -> None:
    process = await local.start(bash("echo out; echo err >&2", workspace))
    chunks = {chunk.stream: chunk.data async for chunk in process.output()}
    assert chunks == {"stdout": b"out\n", "stderr": b"err\n"}
    await process.wait()


async def test_output_comes_while_it_runs(local: LocalExecutor, workspace: Path) -> None:
    process = await local.start(bash("echo early; read -r line", workspace), keep_stdin_open=True)
    assert await asyncio.wait_for(first_line(process), 5) == b"early\n"
    await process.kill()


async def test_the_environment_is_clean(
    local: LocalExecutor, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TELEGRAM_TOKEN", "SECRET")
    text, _ = await run(local, "env", env={"EXTRA": "given"})
    names = {line.partition("=")[0] for line in text.splitlines()}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {
        *("PATH", "HOME", "LANG", "TERM", "TMPDIR"),
        *("EXTRA", "ECHO_BOT_RUN"),
    }


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("sleep 60", id="the command itself"),
        pytest.param("sleep 60 & sleep 60", id="a background child"),
        pytest.param("setsid sleep 60 & wait", id="a child in its own session"),
        pytest.param("(setsid bash -c 'sleep 60 & sleep 60' &); sleep 60", id="orphans in their own session"),
        pytest.param("trap '' TERM; setsid bash -c 'trap \"\" TERM; sleep 60' & sleep 60", id="deaf to TERM"),
        pytest.param("kill -STOP $$", id="a stopped one"),
        pytest.param(
            "(setsid env -i sleep 60 &); (env -i setsid bash -c 'sleep 60 & sleep 60' &); sleep 60",
            id="orphans in their own session with an empty environment",
        ),
        pytest.param("kill -STOP $PPID; sleep 60", id="one that stops who waits for it"),
    ],
)
async def test_a_timeout_ends_every_member(command: str, local: LocalExecutor, run: Run) -> None:
    """The check after every test finds whatever was left."""
    _, outcome = await run(local, command, timeout=0.3)
    assert (outcome.exit_code, outcome.killed_by) == (None, "timeout")
    assert outcome.seconds < 45


async def test_what_a_finished_command_left_running_is_ended(local: LocalExecutor, run: Run) -> None:
    started = time.monotonic()
    text, outcome = await run(local, "sleep 60 & (setsid sleep 60 >/dev/null 2>&1 &); echo done")
    assert (text, outcome.exit_code) == ("done\n", 0)
    assert time.monotonic() - started < 45


async def test_a_polite_command_may_clean_up(local: LocalExecutor, workspace: Path) -> None:
    process = await local.start(
        bash("trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.01; done", workspace)
    )
    output = process.output()
    assert (await anext(output)).data == b"up\n"
    await process.kill()
    assert b"bye\n" in [chunk.data async for chunk in output]
    assert (await process.wait()).killed_by == "stop"


async def test_stopping_needs_nobody_to_read(local: LocalExecutor, workspace: Path) -> None:
    process = await local.start(bash("yes", workspace))
    await process.kill()
    assert (await process.wait()).killed_by == "stop"


async def test_unread_output_is_held_in_bounded_memory(local: LocalExecutor, workspace: Path) -> None:
    process = await local.start(bash("head -c 30M /dev/zero; echo end >&2", workspace))
    size = 0
    async for chunk in process.output():
        size += len(chunk.data)
        assert process._stream._buffered < 3 << 20
    assert size == (30 << 20) + 4
    assert (await process.wait()).exit_code == 0


async def test_all_output_arrives_at_a_slow_reader(local: LocalExecutor, workspace: Path) -> None:
    process = await local.start(bash("head -c 3M /dev/zero", workspace))
    await asyncio.wait({asyncio.ensure_future(process.wait())}, timeout=0.2)
    assert sum([len(chunk.data) async for chunk in process.output()]) == 3 << 20
    assert (await process.wait()).exit_code == 0


async def test_input_is_given_and_ended(local: LocalExecutor, run: Run) -> None:
    data = b"x" * 300_000
    text, outcome = await run(local, "wc -c", stdin=data)
    assert (text.strip(), outcome.exit_code) == ("300000", 0)


async def test_input_nobody_reads_does_no_harm(local: LocalExecutor, run: Run) -> None:
    assert (await run(local, "true", stdin=b"x" * 300_000))[1].exit_code == 0


async def test_a_conversation(local: LocalExecutor, workspace: Path) -> None:
    process = await local.start(
        bash("while read -r line; do echo got $line; done", workspace), keep_stdin_open=True
    )
    output = process.output()
    for word in (b"one", b"two"):
        await process.write(word + b"\n")
        assert (await anext(output)).data == b"got " + word + b"\n"
    await process.close_stdin()
    assert (await process.wait()).exit_code == 0
    with pytest.raises(BrokenPipeError):
        await process.write(b"more\n")


async def test_a_signal_reaches_the_whole_group(local: LocalExecutor, workspace: Path) -> None:
    command = "trap 'echo caught' USR1; bash -c 'echo inner; read x'; echo over"
    process = await local.start(bash(command, workspace), keep_stdin_open=True)
    output = process.output()
    assert (await anext(output)).data == b"inner\n"
    await process.signal(signal.SIGUSR1)
    rest = b"".join([chunk.data async for chunk in output])
    assert b"caught\nover\n" in rest
    await process.wait()


@pytest.mark.parametrize(
    ("command", "limits"),
    [
        pytest.param(
            "python3 -c 'x = bytearray(200 << 20)'", Limits(memory_mb=64), id="memory of one process"
        ),
        pytest.param("for i in $(seq 40); do sleep 60 & done; wait", Limits(processes=20), id="processes"),
        pytest.param("head -c 9M /dev/zero > big", Limits(file_mb=1), id="file size"),
    ],
)
async def test_limits_hold(command: str, limits: Limits, local: LocalExecutor, run: Run) -> None:
    text, outcome = await run(local, command, limits=limits, timeout=50)
    assert outcome.killed_by == "limit" or outcome.exit_code not in (0, None), text
    assert outcome.seconds < 45


async def test_node_and_its_large_address_space_fit_the_default_limits(
    local: LocalExecutor, run: Run
) -> None:
    text, outcome = await run(local, "command -v node >/dev/null || exit 9; node -e 'console.log(6*7)'")
    if outcome.exit_code == 9:
        pytest.skip("node is not installed")
    assert text == "42\n"


async def test_an_unknown_program_is_exit_code_127(local: LocalExecutor, workspace: Path) -> None:
    process = await local.start(CommandSpec(("no-such-program",), str(workspace), 5))
    assert b"no-such-program" in b"".join([chunk.data async for chunk in process.output()])
    assert (await process.wait()).exit_code == 127


@pytest.mark.parametrize(
    ("folder", "env"),
    [("/no/such/folder", {}), ("/", {"A=B": "x"}), ("/", {"A": "\0"}), ("/", {"A": "\ud800"})],
)
async def test_what_cannot_be_started_says_so(folder: str, env: dict[str, str], local: LocalExecutor) -> None:
    with pytest.raises(StartError, match="could not be started"):
        await local.start(CommandSpec(("true",), folder, 5, env=env))


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux hands orphans to another than the first process"
)
async def test_an_orphan_in_disguise_has_the_bot_among_its_ancestors(
    local: LocalExecutor, workspace: Path
) -> None:
    """The command line asks that before it changes an approval."""
    code = (
        "from echo_bot.bus.process import ancestors; import sys; print(*ancestors(), file=open('line', 'w'))"
    )
    command = f'(env -i PYTHONPATH={os.getcwd()} setsid {sys.executable} -c "{code}" &) ; read -r line'
    process = await local.start(bash(command, workspace), keep_stdin_open=True)
    line = await eventually(lambda: _read(workspace / "line"), "the orphan", timeout=10)
    await process.kill()
    assert str(os.getpid()) in line.split()


async def test_one_that_kills_who_waits_for_it_is_ended(local: LocalExecutor, run: Run) -> None:
    _, outcome = await run(local, "kill -9 $PPID; sleep 60")
    assert outcome.exit_code == 137


def _read(path: Path) -> str:
    return path.read_text().strip() if path.exists() else ""


@pytest.mark.skipif(not can_wait(), reason="Linux alone has processes that adopt")
@pytest.mark.parametrize("is_heard", [True, False])
def test_what_waits_for_a_command_ends_by_itself_once_the_bot_is_gone(is_heard: bool) -> None:
    read, write = os.pipe()
    if not is_heard:
        os.close(read)
    with subprocess.Popen(
        waited(("sh", "-c", "exit 3")),
        preexec_fn=lambda: os.dup2(write, 9),
        close_fds=False,
        start_new_session=True,
    ) as waiter:
        os.close(write)
        if is_heard:
            assert os.read(read, 16) == b"3\n"
            os.close(read)
            _, status = os.waitpid(waiter.pid, os.WUNTRACED)
            assert os.WIFSTOPPED(status)
            waiter.kill()
        assert waiter.wait(PATIENCE_SECONDS) == (-signal.SIGKILL if is_heard else 1)
