"""The execute_code tool: three languages, no code on a command line, and what is missing is named."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from echo_bot.execution.environment import clean_environment
from echo_bot.execution.layout import SandboxLayout
from echo_bot.execution.local import LocalExecutor
from echo_bot.execution.protocol import ExecutorBackend
from echo_bot.execution.sandbox import SandboxExecutor
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.tools import ToolExecutionContext
from echo_bot.tools.builtin.execute_code import ExecuteCodeTool
from echo_bot.tools.builtin.interpreters import INTERPRETERS
from echo_bot.tools.builtin.running import Placed, RunSettings

PATH = "/usr/bin:/bin"
MakeTool = Callable[..., ExecuteCodeTool]


async def _whole(ctx: ToolExecutionContext | None, name: str, text: str) -> str:
    return text


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return clean_environment({"PATH": PATH}, home=str(tmp_path), tmpdir="/tmp")


@pytest.fixture(params=["local", "sandbox"])
async def executor(
    request: pytest.FixtureRequest, environment: dict[str, str], tmp_path: Path
) -> ExecutorBackend:
    if request.param == "local":
        return LocalExecutor(environment)
    sandbox = SandboxExecutor(SandboxLayout(str(tmp_path)), environment)
    ready, why = await sandbox.ready()
    if not ready:
        pytest.skip(why)
    return sandbox


@pytest.fixture
def make_tool(tmp_path: Path, executor: ExecutorBackend) -> MakeTool:
    def make(
        languages: tuple[str, ...] = ("python", "javascript", "bash"), path: str = PATH
    ) -> ExecuteCodeTool:
        return ExecuteCodeTool(
            RunSettings(str(tmp_path), timeout_seconds=10),
            languages,
            path=path,
            place=lambda ctx: Placed(executor),
            shorten=_whole,
            on_output=lambda ctx, text: None,
            readiness=lambda: (True, "ready"),
        )

    return make


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "import os\nprint(6 * 7)\nprint(os.getcwd())"),
        ("javascript", "console.log(6 * 7); console.log(process.cwd())"),
        ("bash", "echo $((6 * 7))\npwd"),
    ],
)
async def test_each_language_runs_in_the_workspace(
    language: str, code: str, make_tool: MakeTool, tmp_path: Path
) -> None:
    if shutil.which(INTERPRETERS[language].binary, path=PATH) is None:
        pytest.skip(f"{language} is not installed")
    result = await make_tool().execute({"language": language, "code": code})
    assert result.output == f"exit code 0\n42\n{tmp_path}\n"


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "import sys\nprint('before')\nprint(repr(sys.stdin.read()))\nprint('after')"),
        ("bash", "echo before\ncat\nread -r line\nprintf \"''\\n\"\necho after"),
    ],
)
async def test_a_program_cannot_eat_its_own_code(language: str, code: str, make_tool: MakeTool) -> None:
    result = await make_tool().execute({"language": language, "code": code})
    assert result.output == "exit code 0\nbefore\n''\nafter\n"


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "print(open('/proc/self/cmdline').read()) # MARKER"),
        ("bash", "tr '\\0' ' ' </proc/$$/cmdline; tr '\\0' ' ' </proc/$PPID/cmdline # MARKER"),
    ],
)
async def test_code_stands_on_no_command_line(language: str, code: str, make_tool: MakeTool) -> None:
    result = await make_tool().execute({"language": language, "code": code})
    assert result.success
    assert "MARKER" not in result.output


async def test_an_error_comes_back_with_its_trace(make_tool: MakeTool) -> None:
    result = await make_tool().execute({"language": "python", "code": "print('x')\n1 / 0"})
    assert (result.success, result.error, result.error_kind) == (False, "exit code 1", "business")
    assert result.output.startswith("exit code 1\nx\nTraceback")


async def test_the_timeout_counts(make_tool: MakeTool) -> None:
    result = await make_tool().execute({"language": "python", "code": "while True: pass", "timeout": 1})
    assert result.error_kind == "timeout"


async def test_a_disabled_language_is_refused(make_tool: MakeTool) -> None:
    result = await make_tool(languages=("python",)).execute({"language": "bash", "code": "true"})
    assert (result.success, result.error_kind) == (False, "business")
    assert "tools.code_exec.languages: python" in result.error


async def test_missing_interpreters_are_named(make_tool: MakeTool, tmp_path: Path) -> None:
    (tmp_path / "bash").write_text("#!/bin/sh\n")
    (tmp_path / "bash").chmod(0o755)
    tool = make_tool(path=str(tmp_path))
    ready, why = tool.readiness_detail()
    assert ready, "bash is there, so the tool is"
    assert "python3 is not on PATH" in why
    assert "apt install nodejs" in why
    result = await tool.execute({"language": "python", "code": ""})
    assert (result.success, result.error_kind) == (False, "dependency")
    assert not make_tool(path="/nowhere").is_ready()
    assert make_tool(("bash",), path=str(tmp_path)).readiness_detail() == (True, "ready")


def test_it_declares_what_the_catalogue_says(make_tool: MakeTool) -> None:
    entry = CATALOGUE["execute_code"]
    assert frozenset(make_tool().capabilities) == entry.capabilities
    assert make_tool().parameters == entry.parameters
