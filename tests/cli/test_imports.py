"""What the fast verbs must not import: each of these costs more than all the rest of the start."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from echo_bot.testing.command_line import CommandLine

HEAVY = (
    "alembic",
    "aiosqlite",
    "asyncio",
    "channels",
    "cryptography",
    "echo_bot.policy.guards",
    "echo_bot.storage.tables",
    "fastapi",
    "httpx",
    "jsonschema",
    "markdown_it",
    "prompt_toolkit",
    "pydantic",
    "pydantic_ai",
    "rich",
    "sqlalchemy",
    "starlette",
    "structlog",
    "telegram",
    "tree_sitter",
    "uvicorn",
    "websockets",
)
PROBE = """
import atexit, sys
heavy = sys.argv.pop(1).split(",")
atexit.register(lambda: print("imported:", [name for name in heavy if name in sys.modules], file=sys.stderr))
from echo_bot.cli import main
main()
"""


def imported(
    folder: Path, *words: str, heavy: tuple[str, ...] = HEAVY, variables: Mapping[str, str] | None = None
) -> str:
    environ = {name: text for name, text in os.environ.items() if not name.startswith("ECHO_")}
    environ |= {
        "XDG_CONFIG_HOME": str(folder),
        "ECHO_BOT_DATA_DIR": str(folder / "state"),
        **(variables or {}),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROBE, ",".join(heavy), *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=environ,
        cwd=folder,
    )
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_imports_nothing_heavy(tmp_path: Path, word: str) -> None:
    more = (*HEAVY, "ruamel", "platformdirs", "sqlite3", "hashlib")
    assert imported(tmp_path, word, heavy=more) == "imported: []"


@pytest.mark.parametrize("json", [(), ("--json",)], ids=["for people", "as JSON"])
def test_status_where_nothing_ran_imports_nothing_heavy(tmp_path: Path, json: tuple[str, ...]) -> None:
    assert imported(tmp_path, "status", *json, heavy=(*HEAVY, "ruamel")) == "imported: []"


def test_places_in_the_environment_need_no_model_either(tmp_path: Path) -> None:
    places = {"ECHO_BOT_WORKSPACE": str(tmp_path), "ECHO_BOT_GATEWAY__PORT": "0"}
    assert imported(tmp_path, "status", variables=places) == "imported: []"


def test_a_misspelt_verb_is_told_with_the_nearest_one(command_line: CommandLine) -> None:
    answer = command_line("staus")
    assert answer.code == 2
    assert "No such command 'staus'. Did you mean 'status'?" in answer.err
    assert "Did you mean" not in command_line("frobnicate").err
