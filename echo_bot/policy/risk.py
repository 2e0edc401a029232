"""Risk: the four levels and their order."""

from __future__ import annotations

from enum import StrEnum


class RiskLevel(StrEnum):
    READ_ONLY = "read_only"
    WRITE = "write"
    EXEC = "exec"
    DANGEROUS = "dangerous"

    @property
    def severity(self) -> int:
        """0 for read_only up to 3 for dangerous."""
        return list(RiskLevel).index(self)


def stricter(one: RiskLevel, other: RiskLevel) -> RiskLevel:
    return max(one, other, key=lambda level: level.severity)
