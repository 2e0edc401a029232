"""What stands on a card once it is decided or nobody is asked any more, and on a question."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from echo_bot.approval.card import render_closed, render_question
from echo_bot.approval.request import ApprovalRequest, Choice, Outcome
from echo_bot.events import ApprovalId, CardState, Paragraph
from echo_bot.policy.call import Executor
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.policy.risk import RiskLevel

NOON = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
BERLIN = timezone(timedelta(hours=1), "CET")
REQUEST = ApprovalRequest(
    approval_id=ApprovalId("appr-00a1b2c3"),
    tool="exec",
    args={"command": "rm -r build"},
    risk=RiskLevel.EXEC,
    cwd="/home/ana/project",
    executor=Executor.SANDBOX,
    requester="telegram:42",
    offered=(Choice.ONCE, Choice.DENY),
)


@pytest.mark.parametrize(
    ("outcome", "state", "words"),
    [
        (
            Outcome(Choice.ONCE, "web:local", NOON),
            CardState.APPROVED,
            "Approved once by web:local at 13:00:00 CET",
        ),
        (Outcome(Choice.HOUR, "web:local", NOON), CardState.APPROVED, "Approved for 1 hour by web:local"),
        (Outcome(Choice.DENY, "web:local", NOON), CardState.DENIED, "Denied by web:local"),
        (Outcome(Choice.DENY_REASON, "web:local", NOON, "too\nrisky"), CardState.DENIED, "Reason: too⏎risky"),
        (Outcome(None, "", NOON), CardState.EXPIRED, "Expired at 13:00:00 CET"),
        (
            Outcome(None, "", NOON, is_cancelled=True),
            CardState.CLOSED,
            "Cancelled at 13:00:00 CET: it was not run",
        ),
        (Outcome(Choice.ASK_AGAIN, "web:local", NOON), CardState.CLOSED, "Asked again by web:local"),
    ],
)
def test_a_closed_card_says_who_and_when(outcome: Outcome, state: CardState, words: str) -> None:
    card = render_closed(REQUEST, outcome, SecretMask(), BERLIN)
    assert (card.card_id, card.state, card.buttons) == ("appr-00a1b2c3", state, ())
    assert words in card.fallback
    assert "rm -r build" in card.fallback
    assert "/approve" not in card.fallback


def test_ask_again_is_offered_only_when_nobody_decided() -> None:
    def labels(outcome: Outcome) -> list[str]:
        card = render_closed(REQUEST, outcome, SecretMask(), UTC, ask_again_token="t")
        return [button.label for button in card.buttons]

    assert labels(Outcome(None, "", NOON)) == ["Ask again"]
    assert labels(Outcome(Choice.DENY, "web:local", NOON)) == []


def test_a_question_has_its_options_and_a_place_for_an_own_answer() -> None:
    card = render_question(
        "clar-00a1b2c3",
        "Which\u202e one?",
        (("Left", "t1"), ("Right", "t2")),
        SecretMask(),
        free_answer_token="t3",
    )
    assert [button.label for button in card.buttons] == ["Left", "Right", "Other answer…"]
    assert card.buttons[2].prompt == "Type your answer"
    assert card.blocks == (Paragraph("Which\\u{202E} one?"),)


def test_an_answered_question_is_closed() -> None:
    card = render_question("clar-00a1b2c3", "Which?", (("Left", "t1"),), SecretMask(), answer="Left")
    assert (card.state, card.buttons) == (CardState.CLOSED, ())
    assert Paragraph("Answered: Left", strong=True) in card.blocks
