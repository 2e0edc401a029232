"""What docs/own-channel.md and docs/tools.md show to authors passes its tests outside this repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = ROOT / "docs"
_FILE = re.compile(r"```\w+\n# (?P<name>[\w/]+\.(?:py|toml))\n(?P<text>.*?)```\n", re.DOTALL)


def write_files(document: str, folder: Path) -> None:
    for found in _FILE.finditer((DOCUMENTS / document).read_text()):
        path = folder / found["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found["text"])


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The files of the document, and the entry point as an installation writes it."""
    folder = tmp_path / "line"
    write_files("own-channel.md", folder)
    about = folder / "echo_line-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: echo-line\nVersion: 0.1.0\n")
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["echo_bot.channels"]
    listed = "".join(f"{name} = {value}\n" for name, value in points.items())
    (about / "entry_points.txt").write_text(f"[echo_bot.channels]\n{listed}")
    return folder


def run(folder: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    paths = {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", "HOME": str(folder)}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ECHO_", "PYTEST_"))}
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env=kept | paths | environ,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def passes(folder: Path, *arguments: str) -> None:
    plain = ("-q", "-p", "no:simcord", "-p", "no:schemathesis", "-p", "no:cacheprovider")
    done = run(folder, "pytest", *plain, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


def test_the_channels_tests_pass(package: Path) -> None:
    passes(package, "tests")


def test_the_tools_test_passes(tmp_path: Path) -> None:
    write_files("tools.md", tmp_path)
    passes(tmp_path, "-o", "asyncio_mode=auto", "test_tide.py")


def test_the_command_line_knows_it(package: Path) -> None:
    config = package / "config.yaml"
    config.write_text("channels: {line: {enabled: true, servr: x}}\n")
    checked = run(package, "echo_bot", "config", "check", str(config))
    assert "channels.line.servr: there is no such key; did you mean server?" in checked.stderr
    config.write_text("channels: {line: {enabled: true}}\n")
    checked = run(package, "echo_bot", "config", "check", str(config))
    assert "channel line: Line has no server" in checked.stdout
