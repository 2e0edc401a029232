"""How long the command takes to start: processor time of `--help` and `status`, and what they import.

Run it on a quiet machine: `python bench/start.py [ROUNDS]`. It fails when a median is over its limit.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROUNDS = 15
HELP_MS = 150
STATUS_MS = 300
START_SECONDS = 60
HOT_SPOTS = 12

COMMAND = (sys.executable, "-m", "echo_bot")


def environment(folder: Path) -> dict[str, str]:
    """Nothing of whoever runs this: state and configuration lie in `folder`."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("ECHO_")}
    return kept | {"XDG_CONFIG_HOME": str(folder / "config"), "ECHO_BOT_DATA_DIR": str(folder / "state")}


def processor_ms(words: tuple[str, ...], environ: Mapping[str, str], folder: Path) -> float:
    """User and system time of one run, its children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*COMMAND, *words], env=environ, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def measure(
    title: str, words: tuple[str, ...], environ: Mapping[str, str], folder: Path, rounds: int, limit: int
) -> bool:
    """Print the figures; True when the median keeps the limit."""
    taken = sorted(processor_ms(words, environ, folder) for _ in range(rounds))
    median = statistics.median(taken)
    verdict = "ok" if median <= limit else "TOO SLOW"
    spread = f"least {taken[0]:5.0f}  most {taken[-1]:5.0f}"
    print(f"{title:34} median {median:5.0f}  {spread}  limit {limit}  {verdict}")
    return median <= limit


def hot_spots(words: tuple[str, ...], environ: Mapping[str, str], folder: Path) -> None:
    """The imports that cost most by themselves, and how many modules there are."""
    command = (sys.executable, "-X", "importtime", "-m", "echo_bot", *words)
    done = subprocess.run(command, env=environ, cwd=folder, check=True, capture_output=True, text=True)
    rows = [line.removeprefix("import time:").split("|") for line in done.stderr.splitlines() if "|" in line]
    costs = [(int(own), name.strip()) for own, _, name in rows if own.strip().isdecimal()]
    costs.sort(reverse=True)
    print(f"\n{' '.join(words)}: {len(costs)} modules; the most expensive ones:")
    for micros, name in costs[:HOT_SPOTS]:
        print(f"  {micros / 1000:6.1f} ms  {name}")


@contextmanager
def running(environ: Mapping[str, str], folder: Path) -> Iterator[None]:
    """A bot on the folder, from the moment it serves."""
    command = [*COMMAND, "run", "--headless"]
    served = dict(environ) | {"ECHO_BOT_GATEWAY__PORT": "0"}
    with subprocess.Popen(
        command, env=served, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as bot:
        assert bot.stdout is not None
        try:
            ready = json.loads(bot.stdout.readline())
            assert ready["ready"] is True
            yield
        finally:
            bot.terminate()
            bot.wait(START_SECONDS)


def main(folder: Path, rounds: int) -> int:
    environ = environment(folder)
    fresh = {**environ, "ECHO_BOT_DATA_DIR": str(folder / "fresh")}
    print("milliseconds of processor time")
    kept = [
        measure("--help", ("--help",), environ, folder, rounds, HELP_MS),
        measure("status where nothing ever ran", ("status",), fresh, folder, rounds, STATUS_MS),
    ]
    with running(environ, folder):
        kept.append(measure("status beside a running bot", ("status",), environ, folder, rounds, STATUS_MS))
    kept.append(measure("status after it stopped", ("status",), environ, folder, rounds, STATUS_MS))
    hot_spots(("--help",), environ, folder)
    hot_spots(("status",), fresh, folder)
    return 0 if all(kept) else 1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        sys.exit(main(Path(name), int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
