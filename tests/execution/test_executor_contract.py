"""What every executor does alike: on this machine, in the sandbox, in a container, on another computer."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from echo_bot.errors import StartError
from echo_bot.execution.collect import run_to_end
from echo_bot.execution.protocol import CommandSpec, ExecutorBackend, Limits, Outcome, RunningProcess
from echo_bot.execution.stream import HIGH_BYTES
from echo_bot.policy.call import Executor
from echo_bot.testing.waiting import eventually

Run = Callable[..., Awaitable[tuple[str, Outcome]]]


@pytest.fixture(params=["local", "sandbox", "container", "remote"])
def executor(request: pytest.FixtureRequest) -> ExecutorBackend:
    backend: ExecutorBackend = request.getfixturevalue(request.param)
    return backend


def bash(command: str, folder: Path, timeout: float = 20, *, merged: bool = True) -> CommandSpec:
    argv = ("bash", "--noprofile", "--norc", "-c", command)
    return CommandSpec(argv, str(folder), timeout, merged=merged)


async def all_of(process: RunningProcess) -> bytes:
    return b"".join([chunk.data async for chunk in process.output()])


def is_running(token: str) -> bool:
    """Does any process of this machine, also in a container, have this word on its command line?"""
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and token.encode() in Path(f"/proc/{name}/cmdline").read_bytes():
                return True
        except OSError:
            continue
    return False


@pytest.fixture
def token() -> str:
    """A duration of `sleep` that no other process has."""
    return f"60.{secrets.randbelow(10**9):09}"


async def test_it_is_ready_and_says_so(executor: ExecutorBackend) -> None:
    ready, why = await executor.ready()
    assert ready
    assert why.startswith("ready")


async def test_the_exit_code_and_both_streams_in_order(executor: ExecutorBackend, run: Run) -> None:
    text, outcome = await run(executor, "for i in 1 2 3; do echo out$i; echo err$i >&2; done; exit 3")
    assert text.split() == ["out1", "err1", "out2", "err2", "out3", "err3"]
    assert (outcome.exit_code, outcome.killed_by) == (3, "")


async def test_streams_are_told_apart_unless_merged(executor: ExecutorBackend, workspace: Path) -> None:
    process = await executor.start(bash("echo out; echo err >&2", workspace, merged=False))
    said = {"stdout": b"", "stderr": b""}
    async for chunk in process.output():
        said[chunk.stream] += chunk.data
    assert said == {"stdout": b"out\n", "stderr": b"err\n"}
    assert (await process.wait()).exit_code == 0


@pytest.mark.parametrize("name", ["KILL", "SEGV", "USR1"])
async def test_an_end_by_a_signal_is_128_and_its_number(
    name: str, executor: ExecutorBackend, run: Run
) -> None:
    _, outcome = await run(executor, f"kill -{name} $$")
    assert (outcome.exit_code, outcome.killed_by) == (128 + signal.Signals[f"SIG{name}"], "")


async def test_an_unknown_program_is_exit_code_127(executor: ExecutorBackend, workspace: Path) -> None:
    process = await executor.start(CommandSpec(("no-such-program",), str(workspace), 20, merged=True))
    assert b"no-such-program" in await all_of(process)
    assert (await process.wait()).exit_code == 127


async def test_a_timeout_ends_every_member(executor: ExecutorBackend, workspace: Path, token: str) -> None:
    command = (
        f"sleep {token} & setsid bash -c \"trap '' TERM; sleep {token}; :\" & (setsid sleep {token} &); "
    )
    process = await executor.start(bash(f"{command} echo up; sleep {token}", workspace, timeout=0.5))
    await all_of(process)
    outcome = await process.wait()
    assert (outcome.exit_code, outcome.killed_by) == (None, "timeout")
    assert outcome.seconds < 45
    await eventually(lambda: not is_running(token), "the end of all")


async def test_what_a_finished_command_left_running_is_ended(
    executor: ExecutorBackend, run: Run, token: str
) -> None:
    text, outcome = await run(
        executor, f"sleep {token} & (setsid sleep {token} >/dev/null 2>&1 &); echo done"
    )
    assert (text, outcome.exit_code) == ("done\n", 0)
    await eventually(lambda: not is_running(token), "the end of all")


async def test_stopped_it_may_clean_up(executor: ExecutorBackend, workspace: Path) -> None:
    command = "trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.01; done"
    process = await executor.start(bash(command, workspace))
    output = process.output()
    assert (await anext(output)).data == b"up\n"
    await process.kill()
    assert b"bye\n" in b"".join([chunk.data async for chunk in output])
    assert (await process.wait()).killed_by == "stop"


async def test_stopping_needs_nobody_to_read(executor: ExecutorBackend, workspace: Path) -> None:
    process = await executor.start(bash("yes", workspace))
    await process.kill()
    assert (await process.wait()).killed_by == "stop"


async def test_a_cancelled_call_takes_its_processes_along(
    executor: ExecutorBackend, workspace: Path, token: str
) -> None:
    process = await executor.start(bash(f"echo up; sleep {token}", workspace))
    seen: list[str] = []
    call = asyncio.create_task(run_to_end(process, 1000, seen.append))
    await eventually(lambda: seen, "output", timeout=10)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await process.wait()
    await eventually(lambda: not is_running(token), "the end of all")


async def test_a_signal_reaches_the_command(executor: ExecutorBackend, workspace: Path) -> None:
    command = "trap 'echo caught; exit 5' INT; echo up; while :; do sleep 0.01; done"
    process = await executor.start(bash(command, workspace))
    output = process.output()
    assert (await anext(output)).data == b"up\n"
    await process.signal(signal.SIGINT)
    assert b"caught\n" in b"".join([chunk.data async for chunk in output])
    assert (await process.wait()).exit_code == 5


async def test_large_output_arrives_whole_and_waits_for_its_reader(
    executor: ExecutorBackend, workspace: Path
) -> None:
    process = await executor.start(bash("head -c 12M /dev/zero; echo end", workspace))
    size = 0
    async for chunk in process.output():
        size += len(chunk.data)
        assert process._stream._buffered < 4 * HIGH_BYTES  # type: ignore[attr-defined]
    assert size == (12 << 20) + 4
    assert (await process.wait()).exit_code == 0


async def test_output_that_is_no_text_arrives_as_it_is(executor: ExecutorBackend, workspace: Path) -> None:
    data = bytes(range(256)) * 40
    (workspace / "data").write_bytes(data)
    process = await executor.start(bash("cat data", workspace))
    assert await all_of(process) == data
    await process.wait()


async def test_text_of_any_script_goes_in_and_comes_out(executor: ExecutorBackend, run: Run) -> None:
    words = "Grüße 你好 🎉 'quoted' \"twice\" $HOME `x` \\ end"
    text, _ = await run(executor, "cat; printf '%s' \"$WORDS\"", stdin=words.encode(), env={"WORDS": words})
    assert text == words * 2


async def test_a_value_may_have_several_lines(executor: ExecutorBackend, run: Run) -> None:
    text, _ = await run(executor, 'printf "%s" "$LINES_OF_IT"', env={"LINES_OF_IT": "one\ntwo\n\n"})
    assert text == "one\ntwo\n\n"


async def test_a_long_command_runs(executor: ExecutorBackend, run: Run) -> None:
    text, outcome = await run(executor, f": '{'x' * 99_000}'; echo over")
    assert (text, outcome.exit_code) == ("over\n", 0)


async def test_input_is_given_and_ended(executor: ExecutorBackend, run: Run) -> None:
    text, outcome = await run(executor, "wc -c", stdin=b"x" * 300_000)
    assert (text.strip(), outcome.exit_code) == ("300000", 0)


async def test_without_input_reading_ends_at_once(executor: ExecutorBackend, run: Run) -> None:
    text, outcome = await run(executor, "cat; echo over")
    assert (text, outcome.exit_code) == ("over\n", 0)


async def test_a_conversation(executor: ExecutorBackend, workspace: Path) -> None:
    process = await executor.start(
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


async def test_the_environment_is_clean(
    executor: ExecutorBackend, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TELEGRAM_TOKEN", "SECRET")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/agent")
    text, _ = await run(executor, "env", env={"EXTRA": "given"})
    names = {line.partition("=")[0] for line in text.splitlines()}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD", "ECHO_BOT_RUN"} == {
        *("PATH", "HOME", "LANG", "TERM", "TMPDIR"),
        "EXTRA",
    }


async def test_it_starts_in_its_folder(executor: ExecutorBackend, run: Run, workspace: Path) -> None:
    folder = workspace / "a folder with 'quotes'"
    folder.mkdir()
    text, _ = await run(executor, "pwd", cwd=str(folder))
    assert text.rstrip("\n") == str(folder)


async def test_a_missing_folder_starts_nothing(executor: ExecutorBackend, workspace: Path) -> None:
    with pytest.raises(StartError, match="missing"):
        await executor.start(bash("touch ran", workspace / "missing"))
    assert not (workspace / "ran").exists()


@pytest.mark.parametrize("env", [{"A=B": "x"}, {"A": "\0"}])
async def test_an_environment_that_is_none_starts_nothing(
    env: dict[str, str], executor: ExecutorBackend, workspace: Path
) -> None:
    with pytest.raises(StartError):
        await executor.start(CommandSpec(("true",), str(workspace), 20, env=env))


@pytest.mark.parametrize(
    ("command", "limits"),
    [
        pytest.param("head -c 9M /dev/zero > big", Limits(file_mb=1), id="the size of a file"),
        pytest.param("while :; do :; done", Limits(cpu_seconds=1), id="the CPU time of a process"),
    ],
)
async def test_what_the_kernel_ends_is_ended_by_a_limit(
    command: str, limits: Limits, executor: ExecutorBackend, run: Run
) -> None:
    text, outcome = await run(executor, f"exec bash -c '{command}'", limits=limits)
    assert (outcome.exit_code, outcome.killed_by) == (None, "limit"), text


@pytest.mark.parametrize(
    ("command", "limits"),
    [
        pytest.param(
            "x=$(head -c 200M /dev/zero | tr '\\0' x) && echo reached", Limits(memory_mb=64), id="memory"
        ),
        pytest.param(
            "for i in $(seq 40); do sleep 2 & done && wait && echo reached; test $(jobs | wc -l) -eq 40",
            Limits(processes=20),
            id="processes",
        ),
    ],
)
async def test_a_run_gets_no_more_than_its_limits(
    command: str, limits: Limits, executor: ExecutorBackend, run: Run
) -> None:
    text, outcome = await run(executor, command, limits=limits)
    assert outcome.killed_by == "limit" or outcome.exit_code not in (0, None), text


PLANT = (
    "touch .envrc 'a b.code-workspace'; mkdir -p new/.git sub; ln -s nowhere sub/.npmrc; echo x > ordinary"
)


async def test_files_that_make_programs_run_something_are_told_when_they_appear(
    executor: ExecutorBackend, run: Run, workspace: Path
) -> None:
    """What is not there cannot be protected. Where nothing is confined nothing is looked for either."""
    (workspace / ".bashrc").write_text("")
    _, outcome = await run(executor, PLANT)
    confined = executor.kind in (Executor.SANDBOX, Executor.CONTAINER)
    expected = (".envrc", "a b.code-workspace", "new/.git", "sub/.npmrc") if confined else ()
    assert outcome.appeared == expected
    _, again = await run(executor, "echo x >> ordinary")
    assert again.appeared == ()


async def test_many_at_once(executor: ExecutorBackend, run: Run) -> None:
    results = await asyncio.gather(*(run(executor, f"echo {number}") for number in range(10)))
    assert [text for text, _ in results] == [f"{number}\n" for number in range(10)]
