"""How a row hangs on the one before it: what the seal covers, and which rows vouch for other chains."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC

from echo_bot.policy.call import canonical_json
from echo_bot.storage.records import AuditRow

OPENED = "audit_opened"
"""The first row of a chain: its body names the ends of the chains that were there."""

PRUNED = "audit_pruned"
"""Old rows were dropped: its body names the anchors that stand for them."""

ANCHOR = "audit_anchor"
"""An emptied row in place of dropped ones; its seal is what the rest of the chain hangs on."""


@dataclass(frozen=True, slots=True)
class Seal:
    """Makes the `mac` of a row: HMAC with a key derived from the credential key, else a plain hash."""

    key: bytes | None = None

    @property
    def prefix(self) -> str:
        """Names the scheme and, by its id, the key."""
        if self.key is None:
            return "sha256:"
        return f"hmac-{hashlib.sha256(self.key).hexdigest()[:8]}:"

    def mac(self, row: AuditRow) -> str:
        at = row.at.astimezone(UTC).isoformat(timespec="microseconds")
        text = canonical_json([row.writer, row.seq, at, row.kind, row.body_json, row.prev]).encode()
        if self.key is None:
            return self.prefix + hashlib.sha256(text).hexdigest()
        own_key = hmac.digest(self.key, b"echo-bot audit", "sha256")
        return self.prefix + hmac.digest(own_key, text, "sha256").hex()


@dataclass(frozen=True, slots=True)
class Link:
    """One row's word that another chain held a row with that seal."""

    writer: str
    seq: int
    mac: str


def link_body(links: Iterable[Link]) -> dict[str, list[int | str]]:
    return {link.writer: [link.seq, link.mac] for link in links}


def links_in(body: object) -> tuple[Link, ...]:
    """The inverse of `link_body`. Raises ValueError for another shape."""
    if not isinstance(body, Mapping):
        raise ValueError("no links")
    found = []
    for writer, entry in body.items():
        match entry:
            case [int(seq), str(mac)]:
                found.append(Link(str(writer), seq, mac))
            case _:
                raise ValueError("not a link")
    return tuple(found)
