"""What became of a message, for whoever waits for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from echo_bot.storage.records import OutboxRow


@dataclass(frozen=True, slots=True)
class Receipt:
    """All parts were delivered, some are still queued, or one failed for good (`error`)."""

    state: Literal["delivered", "queued", "failed"]
    error: str = ""


def receipt_of(rows: Iterable[OutboxRow]) -> Receipt:
    """Of all parts of one message; what has none counts as delivered."""
    parts = tuple(rows)
    failed = next((row for row in parts if row.state == "dead"), None)
    if failed is not None:
        return Receipt("failed", failed.error)
    return Receipt("delivered" if all(row.state == "sent" for row in parts) else "queued")
