"""What the gate is told of a tool whose definition a server gave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DefinitionSight:
    """`digest` names it. `withheld`: why nobody can call the tool. `changed`: what nobody approved.

    All empty for a tool whose code is here.
    """

    digest: str = ""
    withheld: str = ""
    changed: str = ""


LookAtDefinition = Callable[[str], DefinitionSight]
"""By the tool's name here."""
