"""What a skill lacks is reported with the command that gets it; nothing is installed."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from echo_bot.skills.dependencies import Missing, Surrounding, installed_packages
from echo_bot.skills.errors import SkillError
from echo_bot.skills.manifest import Dependencies

HERE = Surrounding(sys.executable, "/usr/bin:/bin", {"TOKEN": "x", "OTHER": "y"}, frozenset({"TOKEN"}))


@pytest.mark.parametrize(
    ("needed", "missing"),
    [
        (Dependencies(), Missing()),
        (Dependencies(python=("PyDantic",)), Missing()),
        (Dependencies(python=("pydantic>=2", "nosuchthing>=1")), Missing(python=("nosuchthing>=1",))),
        (Dependencies(python=("pydantic>=99",)), Missing(python=("pydantic>=99",))),
        (Dependencies(python=("nosuchthing; sys_platform == 'nowhere'",)), Missing()),
        (Dependencies(binaries=("sh", "nosuchthing")), Missing(binaries=("nosuchthing",))),
        (Dependencies(env=("TOKEN",)), Missing()),
        (Dependencies(env=("TOKEN", "NONE", "OTHER")), Missing(env=("NONE",), not_passed=("OTHER",))),
    ],
)
def test_what_is_missing(needed: Dependencies, missing: Missing) -> None:
    assert HERE.missing(needed) == missing


def test_the_advice_names_the_command_and_the_keys() -> None:
    advice = HERE.advice(Missing(("a>=1",), ("b",), ("C",), ("D",)))
    assert f"{sys.executable} -m pip install 'a>=1'" in advice[0]
    assert "a person is asked" in advice[0]
    assert "tools.exec.env" in advice[3]
    assert len(advice) == 4


def test_another_interpreter_is_asked_itself(tmp_path: Path) -> None:
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    assert "pip" in installed_packages(sys.executable) or installed_packages(sys.executable)
    assert isinstance(installed_packages(str(other)), dict)
    assert installed_packages(sys.executable)["pydantic"] == version("pydantic")
    with pytest.raises(SkillError, match=r"skills\.python"):
        installed_packages(str(tmp_path / "none"))
