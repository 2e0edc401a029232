"""Renders rows of the card corpus as each surface would send them: the raw payload and what a person sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from echo_bot.approval.card import render_open
from echo_bot.approval.request import ApprovalRequest, Choice
from echo_bot.channel import LengthUnit
from echo_bot.events import ApprovalId, Card
from echo_bot.policy.call import Executor
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.policy.risk import RiskLevel
from echo_bot.text import (
    TooLong,
    card_parts,
    card_text,
    encode_card_discord,
    encode_card_html,
    encode_card_plain,
    encode_card_slack,
)


@dataclass(frozen=True, slots=True)
class _Surface:
    """A platform's limit and encoder; `visible` is what a person sees where the payload differs."""

    encode: Callable[[Card], str]
    max_length: int = 10_000_000
    unit: LengthUnit = LengthUnit.CHARACTERS
    visible: Callable[[Card], str] | None = None


_SURFACES: Mapping[str, _Surface] = {
    "telegram": _Surface(card_text, 4096, LengthUnit.UTF16),
    "discord": _Surface(encode_card_discord, 2000, visible=card_text),
    "slack": _Surface(encode_card_slack, 3000, visible=encode_card_plain),
    "web": _Surface(encode_card_html, visible=card_text),
    "cli": _Surface(encode_card_plain),
    "any": _Surface(lambda card: card.fallback),
}


def run_card_case(row: Mapping[str, Any]) -> dict[str, object]:
    """One prediction: `payload` as handed to the SDK, `visible`, `refused` for a call too long to show."""
    surface = _SURFACES[row.get("channel") or "any"]
    card = render_open(_request(row), {c: c.value for c in Choice}, SecretMask(), None, UTC)
    parts = card_parts(card, surface.max_length, surface.unit, encode=surface.encode)
    if isinstance(parts, TooLong):
        return {"id": row["id"], "refused": True, "payload": "", "visible": parts.reason}
    visible = surface.visible or surface.encode
    return {
        "id": row["id"],
        "refused": False,
        "payload": "\n".join(surface.encode(part) for part in parts),
        "visible": "\n".join(visible(part) for part in parts),
        "allowed_mentions_none": True,
    }


def _request(row: Mapping[str, Any]) -> ApprovalRequest:
    return ApprovalRequest(
        approval_id=ApprovalId("case-" + str(row["id"])),
        tool=str(row["tool"]),
        args=row["args"],
        risk=RiskLevel.EXEC,
        cwd="/workspace",
        executor=Executor.SANDBOX,
        requester="telegram:42",
        requester_name=str(row.get("requester") or ""),
        offered=(Choice.ONCE, Choice.DENY),
    )
