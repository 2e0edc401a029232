"""What the doctor says of one thing: how bad it is, what was seen, what mends it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    OK = "ok"
    NOTE = "note"
    WEAK = "weak"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """`area` groups findings. `fix` is what a person does about it; "" where the sentence says it itself."""

    area: str
    severity: Severity
    what: str
    fix: str = ""

    def as_dict(self) -> dict[str, str]:
        return {"area": self.area, "severity": self.severity.value, "what": self.what, "fix": self.fix}


def to_mend(findings: Iterable[Finding]) -> bool:
    """Is there anything that is weak or broken?"""
    return any(each.severity in (Severity.WEAK, Severity.BROKEN) for each in findings)
