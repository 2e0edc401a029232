"""What a skill needs and this machine lacks, and the command a person may approve to get it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.metadata import distributions

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from echo_bot.skills.errors import SkillError
from echo_bot.skills.manifest import Dependencies

_PATIENCE_SECONDS = 20.0
_LIST = (
    "import json, importlib.metadata as m;"
    "print(json.dumps({d.metadata['Name']: d.version for d in m.distributions() if d.metadata['Name']}))"
)


@dataclass(frozen=True, slots=True)
class Missing:
    """Requirements, programs and variables that are not there. `not_passed`: variables scripts do not see."""

    python: tuple[str, ...] = ()
    binaries: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    not_passed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.python or self.binaries or self.env or self.not_passed)


@dataclass(frozen=True, slots=True)
class Surrounding:
    """Where scripts run: the interpreter, PATH, the bot's environment and the names it passes on."""

    python: str
    path: str
    environ: Mapping[str, str]
    passed: Collection[str]

    def missing(self, needed: Dependencies) -> Missing:
        """What is not there. Blocks; raises SkillError when another interpreter cannot be asked."""
        here = installed_packages(self.python) if needed.python else {}
        return Missing(
            python=tuple(each for each in needed.python if not _is_met(each, here)),
            binaries=tuple(name for name in needed.binaries if shutil.which(name, path=self.path) is None),
            env=tuple(name for name in needed.env if not self.environ.get(name)),
            not_passed=tuple(
                name for name in needed.env if self.environ.get(name) and name not in self.passed
            ),
        )

    def advice(self, missing: Missing) -> tuple[str, ...]:
        """A sentence for each kind of thing that is missing, with what gets it. Nothing is installed here."""
        lines = []
        if missing.python:
            command = shlex.join([self.python, "-m", "pip", "install", *missing.python])
            names = ", ".join(missing.python)
            lines.append(f"Python packages: {names}. To install them (a person is asked): {command}")
        if missing.binaries:
            lines.append(
                f"programs on PATH: {', '.join(missing.binaries)}; install them with the system's tools"
            )
        if missing.env:
            lines.append(f"environment variables: {', '.join(missing.env)}; set them for the bot's process")
        if missing.not_passed:
            names = ", ".join(missing.not_passed)
            lines.append(f"variables that scripts do not get: {names}; list them in tools.exec.env")
        return tuple(lines)


def installed_packages(python: str) -> dict[str, str]:
    """Versions by normalised name, as the interpreter sees them."""
    if os.path.abspath(python) == os.path.abspath(sys.executable):
        found = {each.metadata["Name"]: each.version for each in distributions() if each.metadata["Name"]}
    else:
        found = _ask(python)
    return {canonicalize_name(name): version for name, version in found.items()}


def _ask(python: str) -> dict[str, str]:
    try:
        said = subprocess.run(
            [python, "-I", "-c", _LIST],
            capture_output=True,
            timeout=_PATIENCE_SECONDS,
            check=True,
            env={"PATH": os.environ.get("PATH", "")},
        ).stdout
        found = json.loads(said)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SkillError(f"{python} (skills.python) cannot be asked for its packages: {error}") from None
    return {str(name): str(version) for name, version in dict(found).items()}


def _is_met(written: str, here: Mapping[str, str]) -> bool:
    """A requirement for another system is met by not being needed."""
    wanted = Requirement(written)
    if wanted.marker is not None and not wanted.marker.evaluate():
        return True
    version = here.get(canonicalize_name(wanted.name))
    return version is not None and wanted.specifier.contains(version, prereleases=True)
