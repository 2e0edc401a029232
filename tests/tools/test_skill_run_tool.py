"""skill_run on each kind of executor: the installed Python, the skill's folder, nothing compiled or left."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from echo_bot.execution.environment import clean_environment
from echo_bot.execution.layout import default_layout
from echo_bot.execution.local import LocalExecutor
from echo_bot.execution.protocol import ExecutorBackend
from echo_bot.execution.sandbox import SandboxExecutor
from echo_bot.policy.call import Executor
from echo_bot.skills.catalog import SkillCatalog, SkillPlaces
from echo_bot.skills.dependencies import Surrounding
from echo_bot.skills.lock import LockFile
from echo_bot.tools import ToolExecutionContext
from echo_bot.tools.builtin.running import Placed, RunSettings
from echo_bot.tools.builtin.skill_running import SkillRunTool, python_readiness

MakeTool = Callable[..., SkillRunTool]
PATH = "/usr/bin:/bin"
SCRIPT = """
import os, sys, helper
print(helper.WORD, sys.argv[1:], os.path.exists('scripts/tool.py'), os.environ['WORKSPACE'])
print(sys.stdin.read() == '', sorted({name for name in os.environ if 'ECHO' in name} - {'ECHO_BOT_RUN'}))
open(os.path.join(os.environ['WORKSPACE'], 'made'), 'w').close()
"""


class Elsewhere(LocalExecutor):
    """Stands for a container or another computer, where the skill's folder is not."""

    kind = Executor.CONTAINER


async def _whole(ctx: ToolExecutionContext | None, name: str, text: str) -> str:
    return text


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    folder = tmp_path / "state" / "skills" / "greeting"
    (folder / "scripts").mkdir(parents=True)
    (tmp_path / "workspace").mkdir()
    (folder / "SKILL.md").write_text("---\nname: greeting\ndescription: b\n---\n")
    (folder / "scripts" / "tool.py").write_text(SCRIPT)
    (folder / "scripts" / "helper.py").write_text("WORD = 'hello'")
    return folder


@pytest.fixture(params=["local", "sandbox", "elsewhere"])
async def executor(request: pytest.FixtureRequest, skill: Path, tmp_path: Path) -> ExecutorBackend:
    environment = clean_environment({"PATH": PATH}, home=str(tmp_path), tmpdir=str(tmp_path))
    if request.param == "local":
        return LocalExecutor(environment)
    if request.param == "elsewhere":
        return Elsewhere(environment)
    # As a start does: the bot's own Python is shown wherever it is installed.
    program = [str(skill.parent), sys.prefix]
    layout = default_layout(str(tmp_path / "workspace"), str(tmp_path), [str(tmp_path / "state")], program)
    sandbox = SandboxExecutor(layout, environment)
    ready, why = await sandbox.ready()
    if not ready:
        pytest.skip(why)
    return sandbox


@pytest.fixture
def tool(executor: ExecutorBackend, skill: Path, tmp_path: Path) -> SkillRunTool:
    places = SkillPlaces(tmp_path / "none", own=(skill.parent,))
    return SkillRunTool(
        RunSettings(str(tmp_path / "workspace"), timeout_seconds=20),
        SkillCatalog(places, LockFile(tmp_path / "state")),
        Surrounding(sys.executable, PATH, {}, frozenset()),
        python_elsewhere=sys.executable,
        place=lambda ctx: Placed(executor),
        shorten=_whole,
        on_output=lambda ctx, text: None,
        readiness=lambda: (True, "ready"),
    )


async def test_a_script_runs_with_its_neighbours_and_writes_to_the_workspace(
    tool: SkillRunTool, skill: Path, tmp_path: Path
) -> None:
    before = sorted(skill.rglob("*"))
    result = await tool.execute({"name": "greeting", "script": "tool.py", "args": ["-c", "a b; c", ""]})
    workspace = tmp_path / "workspace"
    assert result.output == f"exit code 0\nhello ['-c', 'a b; c', ''] True {workspace}\nTrue []\n"
    assert (workspace / "made").exists()
    assert sorted(skill.rglob("*")) == before
    assert not [name for name in os.listdir(tmp_path) if name.startswith("skill-")]


async def test_poisoned_caches_are_not_taken(tool: SkillRunTool, skill: Path) -> None:
    import py_compile

    evil = skill / "evil.py"
    evil.write_text("WORD = 'evil'")
    cache = skill / "scripts" / "__pycache__" / f"helper.{sys.implementation.cache_tag}.pyc"
    cache.parent.mkdir()
    py_compile.compile(str(evil), str(cache), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    evil.unlink()
    result = await tool.execute({"name": "greeting", "script": "tool.py"})
    assert "hello" in result.output
    assert "evil" not in result.output


async def test_an_exit_code_and_a_trace_come_back(tool: SkillRunTool, skill: Path) -> None:
    (skill / "scripts" / "tool.py").write_text("import sys\nprint('x')\nsys.exit(3)")
    result = await tool.execute({"name": "greeting", "script": "tool.py"})
    assert (result.error, result.error_kind, result.output) == ("exit code 3", "business", "exit code 3\nx\n")
    (skill / "scripts" / "tool.py").write_text("1 / 0")
    result = await tool.execute({"name": "greeting", "script": "tool.py"})
    assert "ZeroDivisionError" in result.output


async def test_the_timeout_counts(tool: SkillRunTool, skill: Path) -> None:
    (skill / "scripts" / "tool.py").write_text("while True: pass")
    result = await tool.execute({"name": "greeting", "script": "tool.py", "timeout": 1})
    assert result.error_kind == "timeout"


@pytest.mark.parametrize(
    ("args", "kind"),
    [
        ({"name": "none", "script": "tool.py"}, "business"),
        ({"name": "greeting", "script": "../greeting/scripts/tool.py"}, "business"),
        ({"name": "greeting", "script": "SKILL.md"}, "business"),
    ],
)
async def test_bad_arguments_are_results(args: dict[str, str], kind: str, tool: SkillRunTool) -> None:
    result = await tool.execute(dict(args))
    assert (result.success, result.error_kind) == (False, kind)
    assert result.error


async def test_a_script_that_became_a_link_is_refused(tool: SkillRunTool, skill: Path) -> None:
    script = skill / "scripts" / "tool.py"
    script.unlink()
    script.symlink_to("helper.py")
    result = await tool.execute({"name": "greeting", "script": "tool.py"})
    assert (result.error_kind, "a link" in result.error) == ("denied", True)


def test_a_python_that_is_none_is_not_ready(tmp_path: Path) -> None:
    ready, why = python_readiness(str(tmp_path / "python"))
    assert not ready
    assert "skills.python" in why
    assert python_readiness(sys.executable)[0]
