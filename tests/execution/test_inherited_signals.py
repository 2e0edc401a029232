from __future__ import annotations

import subprocess
import sys

import pytest

IGNORED = "import signal; [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGINT, signal.SIGQUIT)]"
CHILD = (
    "import signal; print([signal.getsignal(n) is signal.SIG_IGN for n in (signal.SIGINT, signal.SIGQUIT)])"
)


def child_of(*statements: str) -> str:
    """What a child of a process started in the background sees, after these statements there."""
    start = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}], check=True)"
    code = "; ".join((IGNORED, *statements, start))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("statements", "ignores"),
    [
        ((), True),
        (("from echo_bot.execution.inherited import hear_ignored_signals", "hear_ignored_signals()"), False),
    ],
    ids=["by itself it inherits them", "after they are heard it does not"],
)
def test_a_child_and_the_signals_that_its_parent_was_started_without(
    statements: tuple[str, ...], ignores: bool
) -> None:
    assert child_of(*statements).count("True") == (2 if ignores else 0)


def test_the_process_itself_goes_on() -> None:
    code = "; ".join(
        (
            IGNORED,
            "import os",
            "from echo_bot.execution.inherited import hear_ignored_signals",
            "hear_ignored_signals()",
            "os.kill(os.getpid(), signal.SIGINT)",
            "os.kill(os.getpid(), signal.SIGQUIT)",
            "print('alive')",
        )
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "alive\n")
