"""The card that lists several open calls, each of them whole, with one button for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, tzinfo

from echo_bot.approval.batching import OFFERED
from echo_bot.approval.card import call_blocks, call_title, short_facts, shown_line, time_words, why_blocks
from echo_bot.approval.fallback import fallback_text
from echo_bot.approval.request import ApprovalRequest, Choice
from echo_bot.approval.words import Words
from echo_bot.events import Button, ButtonStyle, Card, CardBlock, CardState, Fields, Paragraph
from echo_bot.policy.guards.secrets import SecretMask

_STYLES = {Choice.ONCE: ButtonStyle.PRIMARY, Choice.DENY: ButtonStyle.DANGER}


def render_batch(
    card_id: str,
    requests: tuple[ApprovalRequest, ...],
    tokens: Mapping[Choice, str],
    mask: SecretMask,
    deadline: datetime | None,
    timezone: tzinfo,
) -> Card:
    """The open card; `deadline` is when the first of the calls is over."""
    blocks: list[CardBlock] = []
    for place, request in enumerate(requests, 1):
        blocks.append(Paragraph(_heading(place, request, mask), strong=True))
        blocks += [*call_blocks(request, mask), *why_blocks(request, mask), short_facts(request, mask)]
    rows = [(Words.id, card_id[-6:])]
    if deadline is not None:
        rows.insert(0, (Words.answer_by, time_words(deadline, timezone)))
    card = Card(
        card_id=card_id,
        title=Words.batch.format(count=len(requests)),
        blocks=(*blocks, Fields(tuple(rows))),
        buttons=tuple(Button(_label(c), tokens[c], _STYLES[c]) for c in OFFERED if c in tokens),
        short_id=card_id[-6:],
        deadline=deadline,
    )
    return replace(card, fallback=fallback_text(card, OFFERED))


def render_closed_batch(
    card_id: str,
    requests: tuple[ApprovalRequest, ...],
    mask: SecretMask,
    *,
    state: CardState,
    verdict: str,
    outcome: str,
) -> Card:
    """The card after its decision, or once none of its calls waits: `outcome` says what became of each."""
    listed = "\n".join(_heading(place, request, mask) for place, request in enumerate(requests, 1))
    told = (Paragraph(shown_line(outcome, mask)),) if outcome else ()
    card = Card(
        card_id=card_id,
        title=Words.batch.format(count=len(requests)),
        blocks=(Paragraph(verdict, strong=True), *told, Paragraph(listed)),
        state=state,
        short_id=card_id[-6:],
    )
    return replace(card, fallback=fallback_text(card, ()))


def _label(choice: Choice) -> str:
    return Words.approve_all if choice.approves else Words.deny_all


def _heading(place: int, request: ApprovalRequest, mask: SecretMask) -> str:
    return Words.batch_call.format(place=place, title=call_title(request, mask), id=request.short_id)
