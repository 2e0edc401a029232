"""What starting a command costs, in a sandbox and on the host, against a bare subprocess."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from echo_bot.execution.environment import clean_environment
from echo_bot.execution.layout import default_layout
from echo_bot.execution.local import LocalExecutor
from echo_bot.execution.protocol import CommandSpec, ExecutorBackend
from echo_bot.execution.sandbox import SandboxExecutor

ROUNDS = 100


async def _through(executor: ExecutorBackend, folder: str) -> None:
    process = await executor.start(CommandSpec(("true",), folder, 10, merged=True))
    async for _ in process.output():
        pass
    outcome = await process.wait()
    assert outcome.exit_code == 0


async def _bare(folder: str) -> None:
    process = await asyncio.create_subprocess_exec("true", cwd=folder, stdout=asyncio.subprocess.PIPE)
    await process.communicate()


async def _measure(name: str, once: Callable[[], Awaitable[None]]) -> None:
    await once()
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        await once()
        times.append((time.perf_counter() - began) * 1000)
    cuts = statistics.quantiles(times, n=20)
    print(f"{name:34} p50 {statistics.median(times):6.1f} ms   p95 {cuts[18]:6.1f} ms")


def _fill(folder: str) -> None:
    for number in range(5000):
        Path(folder, f"{number}.txt").touch()


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = clean_environment(os.environ, home=str(Path.home()), tmpdir="/tmp")
        local = LocalExecutor(environment)
        sandbox = SandboxExecutor(default_layout(folder, str(Path.home()), (), ()), environment)
        await _measure("bare subprocess", lambda: _bare(folder))
        await _measure("local host", lambda: _through(local, folder))
        ready, why = await sandbox.ready()
        if not ready:
            sys.exit(why)
        await _measure("sandbox, empty workspace", lambda: _through(sandbox, folder))
        await asyncio.to_thread(_fill, folder)
        await _measure("sandbox, 5,000 files in workspace", lambda: _through(sandbox, folder))


if __name__ == "__main__":
    asyncio.run(main())
