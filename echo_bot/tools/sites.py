"""Call sites: what the runner knows of a running call beyond the public context."""

from __future__ import annotations

from dataclasses import dataclass

from echo_bot.events import Address, ApprovalId, Identity, SessionKey, TurnId
from echo_bot.policy.call import Executor


@dataclass(frozen=True, slots=True)
class CallSite:
    """Where a running call came from, where its code lands, and by which approval a person passed it."""

    execution_id: str
    turn_id: TurnId
    session_key: SessionKey
    call_key: str
    requester: Identity
    address: Address
    executor: Executor
    restricted: bool
    network: bool
    approval_id: ApprovalId | None = None
    decided_by: str = ""


class CallSites:
    """The running calls by execution id; a tool looks its own up with `ctx.execution_id`."""

    def __init__(self) -> None:
        self._sites: dict[str, CallSite] = {}

    def enter(self, site: CallSite) -> None:
        self._sites[site.execution_id] = site

    def leave(self, execution_id: str) -> None:
        self._sites.pop(execution_id, None)

    def get(self, execution_id: str) -> CallSite:
        """Raises KeyError for a call that is not running."""
        return self._sites[execution_id]
