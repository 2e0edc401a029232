"""Where a card goes, as a table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from echo_bot.approval.routing import RouteFacts, Routes, routes
from echo_bot.events import Address, Identity
from echo_bot.policy.targets import Target

ANN, BOB, CAT = (Identity("telegram", n) for n in "123")
GROUP = Address("telegram", "100")
TEAM = Address("slack", "C1")
FACTS = RouteFacts(
    origin=GROUP,
    requester=ANN,
    requester_may_decide=False,
    approvers=(BOB, CAT),
    recent=frozenset(),
    running=frozenset({("telegram", "")}),
)


def chat(person: Identity) -> Address:
    return Address("telegram", person.sender_id)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, Routes((chat(BOB), chat(CAT)), True), id="nobody there: direct chats"),
        pytest.param({"recent": frozenset({BOB})}, Routes((GROUP,), False), id="an approver spoke there"),
        pytest.param({"requester_may_decide": True}, Routes((GROUP,), False), id="the requester may decide"),
        pytest.param({"origin": chat(BOB)}, Routes((chat(BOB),), False), id="an approver's own chat"),
        pytest.param({"running": frozenset()}, Routes((), True), id="no channel is running"),
        pytest.param(
            {"recent": frozenset({BOB}), "quorum": 2},
            Routes((GROUP, chat(CAT)), False),
            id="two are needed and one is there: the other too",
        ),
        pytest.param(
            {"recent": frozenset({BOB, CAT}), "quorum": 2}, Routes((GROUP,), False), id="both are there"
        ),
        pytest.param(
            {"recent": frozenset({BOB}), "route": "dm"},
            Routes((chat(BOB), chat(CAT)), True),
            id="dm: never the group",
        ),
        pytest.param(
            {"requester_may_decide": True, "route": "dm"},
            Routes((chat(BOB), chat(CAT), chat(ANN)), True),
            id="dm: the requester who may decide too",
        ),
        pytest.param(
            {"route": "dm", "origin": chat(BOB)},
            Routes((chat(BOB), chat(CAT)), False),
            id="dm: the origin may be one of them",
        ),
        pytest.param(
            {"route": (Target("address", TEAM),)}, Routes((TEAM,), True), id="targets: only they get it"
        ),
        pytest.param(
            {"route": (Target("here"), Target("owner"), Target("here"))},
            Routes((GROUP, chat(ANN)), False),
            id="targets: here is the origin, owner the requester's chat, each once",
        ),
    ],
)
def test_a_card_goes_there(changes: dict[str, object], expected: Routes) -> None:
    assert routes(replace(FACTS, **changes)) == expected  # type: ignore[arg-type]  # a table of fields
