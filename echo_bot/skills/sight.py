"""What the gate is told of a call that concerns a skill."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from echo_bot.policy.call import Arguments


@dataclass(frozen=True, slots=True)
class SkillSight:
    """`problem`: the arguments fit nothing that is there. `denial`: it must not run, whoever asks.

    `folder` is the skill's, absolute: where a script runs, and whose whole content an approval covers.
    """

    problem: str = ""
    denial: str = ""
    folder: str = ""


LookAtSkill = Callable[[str, Arguments], SkillSight]
"""(tool, arguments) of a call, already valid by its schema. Blocks."""
