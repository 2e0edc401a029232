"""A real `echo-bot run --headless` in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually

START_SECONDS = PATIENCE_SECONDS


def clean_environment(folder: Path) -> dict[str, str]:
    """Nothing of the developer's own: state, configuration and workspace lie in `folder`."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("ECHO_BOT", "ECHO_AGENT"))
    }
    return kept | {
        "ECHO_BOT_DATA_DIR": str(folder / "state"),
        "ECHO_BOT_WORKSPACE": str(folder / "workspace"),
        "ECHO_BOT_GATEWAY__PORT": "0",
        "ECHO_BOT_NO_BROWSER": "1",
        "XDG_CONFIG_HOME": str(folder / "config"),
        "PYTHONUNBUFFERED": "1",
    }


@dataclass(slots=True)
class BotProcess:
    """`url` is the log-in link. `log` is what it wrote to stderr so far."""

    process: asyncio.subprocess.Process
    url: str
    log_path: Path

    @property
    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def kill(self) -> None:
        """As a crash: no chance to say goodbye."""
        self.process.kill()

    async def stop(self) -> int:
        """SIGTERM; the exit code. Fails after 5 seconds."""
        self.process.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.process.wait(), 5)


StartBot = Callable[..., Awaitable[BotProcess]]


@pytest.fixture
async def start_bot(tmp_path: Path) -> AsyncIterator[StartBot]:
    """Start a bot on this test's folder; the same folder again is a restart. All are gone at the end."""
    started: list[BotProcess] = []
    (tmp_path / "workspace").mkdir(exist_ok=True)

    async def start(
        config: dict[str, object] | None = None, *, python: str = sys.executable, **variables: str
    ) -> BotProcess:
        file = tmp_path / "config.yaml"
        file.write_text(json.dumps(config or {}))
        log = tmp_path / f"log{len(started)}"
        with log.open("w") as stderr:
            process = await asyncio.create_subprocess_exec(
                *(python, "-m", "echo_bot", "run", "--headless", "-c", str(file)),
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                stdin=asyncio.subprocess.DEVNULL,
                env=clean_environment(tmp_path) | variables,
                cwd=tmp_path,
            )
        assert process.stdout is not None
        bot = BotProcess(process, "", log)
        started.append(bot)
        line = await asyncio.wait_for(process.stdout.readline(), START_SECONDS)
        assert line, f"the bot did not start: {bot.log}"
        ready = json.loads(line)
        assert ready["ready"] is True
        bot.url = ready["url"] or ""
        return bot

    yield start
    for bot in started:
        if bot.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                bot.process.kill()
            await bot.process.wait()


@dataclass(frozen=True, slots=True)
class Said:
    """What a verb of the command printed, its exit code and how long it took."""

    code: int
    out: str
    err: str
    seconds: float


Verb = Callable[..., Awaitable[Said]]


@pytest.fixture
def verb(tmp_path: Path) -> Verb:
    """Run the command in a process of its own, on this test's folder and the configuration of `start_bot`."""
    (tmp_path / "workspace").mkdir(exist_ok=True)

    async def run(*words: str, stdin: str = "", **variables: str) -> Said:
        file = tmp_path / "config.yaml"
        chosen = {"ECHO_BOT_CONFIG": str(file)} if file.exists() else {}
        begun = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "echo_bot", *words),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=clean_environment(tmp_path) | chosen | variables,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(stdin.encode()), START_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise
        return Said(process.returncode or 0, out.decode(), err.decode(), time.monotonic() - begun)

    return run


@pytest.fixture
def chromium() -> str:
    """The browser's path. Under CI it must be there."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("chromium is not installed")
        pytest.skip("needs a browser: apt install chromium")
    return found


@pytest.fixture
def gone() -> Callable[[int], Awaitable[None]]:
    async def wait(pid: int) -> None:
        await eventually(lambda: not Path(f"/proc/{pid}").exists() or None, f"process {pid} to be gone")

    return wait
