"""A package of somebody else's, installed beside the wheel in a clean environment, brings a tool."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from echo_bot.testing.telegram import TelegramEmulator

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "tide-tables"
version = "1.0"

[project.entry-points."echo_bot.tools"]
tide = "tide_tables:Tide"
broken = "tide_tables:Missing"
"""
TOOL = """
from echo_agent.tools import Tool, ToolExecutionContext, ToolResult


class Tide(Tool):
    name = "tide"
    description = "When is high water?"
    parameters = {
        "type": "object",
        "properties": {"place": {"type": "string"}},
        "required": ["place"],
        "additionalProperties": False,
    }
    risk_level = "read_only"

    async def execute(self, params: dict, ctx: ToolExecutionContext | None = None) -> ToolResult:
        return ToolResult(success=True, output=f"High water at {params['place']}: 14:20")
"""


def built(project: Path, wheels: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)],
        cwd=project,
        check=True,
        capture_output=True,
        timeout=60,
    )


@pytest.fixture(scope="module")
def clean_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with both wheels; the libraries are borrowed from the one that runs the tests."""
    folder = tmp_path_factory.mktemp("clean")
    package = folder / "tide-tables"
    (package / "tide_tables").mkdir(parents=True)
    (package / "pyproject.toml").write_text(PROJECT)
    (package / "tide_tables" / "__init__.py").write_text(TOOL)
    wheels = folder / "wheels"
    built(ROOT, wheels)
    built(package, wheels)
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    borrowed = folder / "venv" / "lib" / version / "site-packages" / "borrowed.pth"
    borrowed.write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"),
            *("install", "-q", "--no-deps", "--no-index", "--ignore-installed"),
            *map(str, wheels.glob("*.whl")),
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    return python


def test_the_documents_import_works_from_the_wheel(clean_python: Path) -> None:
    code = (
        "import echo_agent.tools as alias, echo_bot, echo_bot.tools as own; "
        "print(echo_bot.__file__); print(alias.Tool is own.Tool, alias.ToolResult is own.ToolResult, "
        "alias.ToolExecutionContext is own.ToolExecutionContext)"
    )
    done = subprocess.run(
        [str(clean_python), "-c", code], cwd="/", check=True, capture_output=True, text=True, timeout=30
    )
    where, same = done.stdout.splitlines()
    assert Path(where).is_relative_to(clean_python.parents[1])
    assert same == "True True True"


async def test_its_tool_is_there_and_runs_and_a_broken_one_is_named(
    clean_python: Path, start_bot: Callable[..., Awaitable[object]], tmp_path: Path
) -> None:
    async with TelegramEmulator() as telegram:
        config = {
            "channels": {
                "telegram": {"enabled": True, "allow_from": ["42"], "api_base": telegram.url},
                "web": {"enabled": False},
            }
        }
        token = {"ECHO_BOT_CHANNELS__TELEGRAM__TOKEN": telegram.token}
        await start_bot(config, python=str(clean_python), **token)
        ada = telegram.user(42, "Ada").chat()
        ada.say("/tool tide place=Cuxhaven")
        await ada.wait_for_text("High water at Cuxhaven: 14:20")
        ada.say("/tool tide plaec=Cuxhaven")
        await ada.wait_for_text("did you mean place")
        done = await asyncio.to_thread(
            subprocess.run,
            [str(clean_python.with_name("echo-agent")), "status", "--json"],
            env={
                "PATH": "/usr/bin:/bin",
                "ECHO_BOT_DATA_DIR": str(tmp_path / "state"),
                "ECHO_BOT_CONFIG": str(tmp_path / "config.yaml"),
                **token,
            },
            check=True,
            capture_output=True,
            text=True,
            timeout=30,
        )
    found = json.loads(done.stdout)
    assert {"name": "tide", "state": "available", "reason": ""} in found["tools"]
    assert any("tide_tables:Missing" in each for each in found["warnings"])
