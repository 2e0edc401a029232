"""How a pause is kept among the small values: who paused what, and since when."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime

PAUSED = "paused"
"""The scope of Values: its keys are session keys, or `EVERYWHERE`."""

EVERYWHERE = "*"
"""No session key looks like this."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pause:
    """Who paused it, by id, and when."""

    by: str
    at: datetime

    def to_json(self) -> str:
        return json.dumps({"by": self.by, "at": self.at.isoformat()})

    @classmethod
    def from_json(cls, text: str) -> Pause:
        """What cannot be read holds all the same."""
        try:
            found = json.loads(text)
            return cls(str(found["by"]), datetime.fromisoformat(found["at"]))
        except (ValueError, KeyError, TypeError):
            return cls("somebody", _EPOCH)

    def __str__(self) -> str:
        return f"since {self.at:%Y-%m-%d %H:%M} UTC by {self.by}"
