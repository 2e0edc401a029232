"""How many must approve, who counts once, and what is impossible."""

from __future__ import annotations

import pytest

from echo_bot.events import Identity
from echo_bot.policy.access import is_barred_by_four_eyes, may_decide, voter_of
from echo_bot.policy.quorum import Tally, needed, shortage, tally
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import AccessSettings, ApprovalSettings

ANN, BOB, CAT = (Identity("telegram", n) for n in "123")
CLI, WEB = Identity("cli", "local"), Identity("web", "local")
ANN_AT_WORK, ANN_IN_SLACK, BOT_1 = (
    Identity("telegram", "1", "work"),
    Identity("slack", "1"),
    Identity("api", "1"),
)


def vote(identity: Identity, digest: str = "d") -> tuple[str, str, str]:
    return (voter_of(identity), str(identity), digest)


@pytest.mark.parametrize(
    ("votes", "quorum", "expected"),
    [
        pytest.param([], 2, Tally((), 2), id="nobody yet"),
        pytest.param([vote(ANN)], 2, Tally(("telegram:1",), 1), id="one of two"),
        pytest.param([vote(ANN), vote(ANN)], 2, Tally(("telegram:1",), 1), id="twice the same person"),
        pytest.param([vote(CLI), vote(WEB)], 2, Tally(("cli:local",), 1), id="terminal and page are one"),
        pytest.param(
            [vote(ANN), vote(ANN_AT_WORK)], 2, Tally(("telegram:1",), 1), id="one id at two of our bots"
        ),
        pytest.param(
            [vote(ANN), vote(ANN_IN_SLACK)], 2, Tally(("telegram:1",), 1), id="one id on two platforms"
        ),
        pytest.param([vote(ANN), vote(BOT_1)], 2, Tally(("telegram:1", "api:1"), 0), id="a token's name"),
        pytest.param([vote(ANN), vote(BOB)], 2, Tally(("telegram:1", "telegram:2"), 0), id="two of two"),
        pytest.param([vote(ANN), vote(BOB, "e")], 2, Tally(("telegram:1",), 1), id="another digest"),
        pytest.param(
            [vote(ANN), vote(BOB), vote(CAT)],
            2,
            Tally(("telegram:1", "telegram:2", "telegram:3"), 0),
            id="more than needed",
        ),
    ],
)
def test_votes_are_counted(votes: list[tuple[str, str, str]], quorum: int, expected: Tally) -> None:
    assert tally(votes, "d", quorum) == expected


@pytest.mark.parametrize(
    ("approvers", "quorum", "is_short"),
    [
        ([], 1, False),
        ([], 2, True),
        ([ANN], 2, True),
        ([ANN, ANN], 2, True),
        ([CLI, WEB], 2, True),
        ([ANN, ANN_AT_WORK], 2, True),
        ([ANN, BOB], 2, False),
        ([ANN, BOB], 3, True),
    ],
)
def test_a_quorum_may_be_impossible(approvers: list[Identity], quorum: int, is_short: bool) -> None:
    sentence = shortage(approvers, quorum)
    assert bool(sentence) is is_short
    assert not is_short or "permissions.approval.quorum" in sentence


def test_without_a_number_one_person_is_enough() -> None:
    approval = ApprovalSettings(quorum={RiskLevel.DANGEROUS: 3})
    assert needed(approval, RiskLevel.EXEC) == 1
    assert needed(approval, RiskLevel.DANGEROUS) == 3


class TestFourEyes:
    APPROVAL = ApprovalSettings(
        approvers=("telegram:1", "telegram:2", "web:local"), requester_may_approve={RiskLevel.EXEC: False}
    )

    @pytest.mark.parametrize(
        ("decider", "requester", "editor", "may"),
        [
            pytest.param(ANN, ANN, None, False, id="the requester may not"),
            pytest.param(BOB, ANN, None, True, id="another approver may"),
            pytest.param(BOB, ANN, BOB, False, id="nor whoever changed the call"),
            pytest.param(ANN, ANN, BOB, False, id="nor the requester of a changed call"),
            pytest.param(WEB, CLI, None, False, id="nor the same person on the page"),
            pytest.param(ANN, ANN_AT_WORK, None, False, id="nor the requester by another of our bots"),
        ],
    )
    def test_somebody_else_decides(
        self, decider: Identity, requester: Identity, editor: Identity | None, may: bool
    ) -> None:
        access = AccessSettings(admin_users=())
        decision = may_decide(decider, requester, RiskLevel.EXEC, access, self.APPROVAL, editor=editor)
        assert decision is may

    def test_other_risks_are_not_touched(self) -> None:
        assert not is_barred_by_four_eyes(ANN, ANN, RiskLevel.WRITE, self.APPROVAL, ANN)
