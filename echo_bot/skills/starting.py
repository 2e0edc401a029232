"""How a skill's script is started: where its folder is, or elsewhere with the folder carried along."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping, Sequence

PYTHON_OPTIONS = ("-u", "-B", "-X", "pycache_prefix=/dev/null")
"""Nothing is compiled into the skill's folder, and nothing compiled is taken from it."""

PYTHON_ELSEWHERE = "python3"

_CARRIED = """
import atexit, os, runpy, shutil, sys, tarfile, tempfile
folder = tempfile.mkdtemp(prefix="skill-")
atexit.register(shutil.rmtree, folder, True)
with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as archive:
    archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
    archive.extractall(folder)
os.chdir(folder)
os.environ["SKILL_FOLDER"] = folder
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(os.path.join(folder, sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs where the folder is not: unpacks it from standard input into a private one that goes afterwards."""


def command_here(python: str, script: str, args: Sequence[str]) -> tuple[str, ...]:
    """To be run in the skill's folder."""
    return (python, *PYTHON_OPTIONS, script, *args)


def command_elsewhere(python: str, script: str, args: Sequence[str]) -> tuple[str, ...]:
    """To be run with `carried` on standard input."""
    return (python, *PYTHON_OPTIONS, "-c", _CARRIED, script, *args)


def carried(files: Mapping[str, bytes]) -> bytes:
    """A skill's files as a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, data in sorted(files.items()):
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()
