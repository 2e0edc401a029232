"""Where code lands, its clean environment, and the hardened bot."""

from __future__ import annotations

import subprocess
import sys

import pytest

from echo_bot.errors import StartError
from echo_bot.execution.backends import Executors, choose
from echo_bot.execution.environment import DEFAULT_PATH, clean_environment
from echo_bot.execution.local import LocalExecutor
from echo_bot.execution.protocol import CommandSpec
from echo_bot.policy.call import Executor


@pytest.mark.parametrize(
    ("host", "sandbox_ready", "executor"),
    [
        ("auto", True, Executor.SANDBOX),
        ("auto", False, Executor.LOCAL),
        ("sandbox", False, Executor.SANDBOX),
        ("local", True, Executor.LOCAL),
        ("container", True, Executor.CONTAINER),
        ("remote", True, Executor.REMOTE),
    ],
)
def test_a_chosen_host_is_never_exchanged(host: str, sandbox_ready: bool, executor: Executor) -> None:
    assert choose(host, sandbox_ready) is executor


@pytest.mark.parametrize("host", ["none", "", "docker"])
def test_code_runs_nowhere_else(host: str) -> None:
    with pytest.raises(ValueError):
        choose(host, True)


async def test_executors_know_what_works(local: LocalExecutor) -> None:
    executors = Executors([local])
    assert executors.readiness(Executor.LOCAL) == (False, "not probed yet; it is at the start of the bot")
    await executors.probe()
    assert executors.readiness(Executor.LOCAL)[0]
    assert executors.chosen("auto") is Executor.LOCAL
    process = await executors.start(Executor.LOCAL, CommandSpec(("true",), "/", 5))
    assert (await process.wait()).exit_code == 0


@pytest.mark.parametrize("kind", [Executor.CONTAINER, Executor.REMOTE, Executor.SANDBOX, Executor.NONE])
async def test_a_kind_without_backend_is_not_ready(kind: Executor, local: LocalExecutor) -> None:
    executors = Executors([local])
    ready, why = executors.readiness(kind)
    assert not ready
    assert f"no {kind} executor" in why
    with pytest.raises(StartError, match="no"):
        await executors.start(kind, CommandSpec(("true",), "/", 5))


def test_five_names_and_those_the_operator_lists() -> None:
    source = {
        **{
            "PATH": "/a:relative:/b",
            "LANG": "de_DE.UTF-8",
            "HOME": "/other",
            "TOKEN": "SECRET",
            "EXTRA": "x",
        },
        **{"ECHO_BOT_CREDENTIAL_KEY": "SECRET", "Echo_Agent_Key": "SECRET"},
    }
    passed = ("EXTRA", "MISSING", "ECHO_BOT_CREDENTIAL_KEY", "Echo_Agent_Key")
    assert clean_environment(source, passed, home="/home/a", tmpdir="/t") == {
        **{"PATH": "/a:/b", "HOME": "/home/a", "LANG": "de_DE.UTF-8", "TERM": "dumb", "TMPDIR": "/t"},
        "EXTRA": "x",
    }


def test_the_bots_own_virtual_environment_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    own = sys.prefix + "/bin"
    monkeypatch.setattr(sys, "base_prefix", "/elsewhere")
    assert clean_environment({"PATH": f"{own}:/usr/bin"}, home="/", tmpdir="/")["PATH"] == f"/usr/bin:{own}"
    assert clean_environment({}, home="/", tmpdir="/")["PATH"] == DEFAULT_PATH


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the switch")
def test_hardening_is_seen_by_the_kernel() -> None:
    script = (
        "from echo_bot.execution.hardening import *\n"
        "print(is_hardened(), harden_process(), is_hardened())\n"
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', "
        "'from echo_bot.execution.hardening import is_hardened; print(is_hardened())'], check=True)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "True", "False"]
