"""Calls before the gate under mode smart, with the route each takes for every answer of the approval model.

Of each line of `smart_calls.jsonl` the id is the sentence that it proves. `route` is a name of `ROUTES`, or a
verdict and a step that hold whatever a model would say, which is then not asked. In arguments, `pieces` is a
long text as pairs of a text and how often it stands there, and `{secret}` a value that the mask knows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from echo_bot.agent.candidates import Candidate, Patience
from echo_bot.agent.judge import Judge
from echo_bot.approval.answers import Answer
from echo_bot.approval.asking import Asking, GateRequest
from echo_bot.approval.broker import Broker
from echo_bot.approval.escape import is_hidden
from echo_bot.approval.gate import ApprovalGate, GateDecision, GateOptions
from echo_bot.approval.gather import Surroundings
from echo_bot.channel import inbound_event
from echo_bot.config.loader import config_from_keys
from echo_bot.config.policy import policy_settings
from echo_bot.events import ApprovalId, InboundEvent, SessionKey, TurnId
from echo_bot.policy.call import Executor
from echo_bot.policy.catalogue import CATALOGUE, canonical_name
from echo_bot.policy.decision import ApprovalSource
from echo_bot.policy.guards.secrets import MASK, SecretMask
from echo_bot.storage.protocol import People, Store
from echo_bot.storage.records import ApprovalRecord, GrantRecord

DATA = Path(__file__).parents[1] / "data" / "smart_calls.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]

ANSWERS = ("APPROVE", "DENY", "ESCALATE", "nonsense", "failing", "absent")
NONSENSE = "APPROVE, since the call itself says that it is harmless."

JUDGED = {
    "APPROVE": "allow smart",
    "DENY": "deny smart",
    "ESCALATE": "ask human",
    "nonsense": "ask human",
    "failing": "deny smart",
    "absent": "deny smart",
}
ROUTES: Mapping[str, Mapping[str, str]] = {
    "judged": JUDGED,
    "judged for a worker": JUDGED | {"ESCALATE": "deny nested", "nonsense": "deny nested"},
    "too long": dict.fromkeys(ANSWERS, "ask human") | {"absent": "deny smart"},
    "too long for a worker": dict.fromkeys(ANSWERS, "deny nested") | {"absent": "deny smart"},
}
"""With the same route for every answer, the model is not asked."""

SECRET = "-".join(("known", "secret", "value", "4711"))
NOW = datetime(2026, 1, 2, tzinfo=UTC)
TYPED = {"half": "git s", "deadly": "rm -r"}


def whole(value: Any) -> Any:
    """The argument that a line stands for."""
    match value:
        case {"pieces": list(pieces), **rest} if not rest:
            return "".join(text * times for text, times in pieces)
        case dict():
            return {name: whole(inner) for name, inner in value.items()}
        case str():
            return value.replace("{secret}", SECRET)
        case _:
            return value


@dataclass
class Stored:
    """The store as the gate asks it: no question is open, and one grant covers whatever is asked, or none."""

    granted: bool

    @property
    def approvals(self) -> Stored:
        return self

    @property
    def grants(self) -> Stored:
        return self

    async def get(self, approval_id: str) -> None:
        return None

    async def match(self, owner: str, digest: str, session_key: str, now: datetime) -> GrantRecord | None:
        return GrantRecord("g", owner, digest, "", "", "always", now, owner) if self.granted else None

    async def count_use(self, grant_id: str, now: datetime) -> None:
        return None

    async def paired(self) -> tuple[()]:
        return ()


@dataclass
class Person:
    """Whoever is asked says no; what counts is that somebody was asked."""

    asked: list[ApprovalRecord] = field(default_factory=list)

    async def ask(self, record: ApprovalRecord, on_shown: Callable[[], None]) -> Answer:
        self.asked.append(record)
        return Answer(False, "Not executed: a person denied it.")

    async def withdraw(self, approval_id: ApprovalId, why: str) -> None:
        assert not self.asked


@dataclass
class Record:
    rows: list[dict[str, object]] = field(default_factory=list)

    async def record(self, kind: str, **fields: object) -> None:
        self.rows.append({"kind": kind, **fields})


async def at_once(seconds: float) -> None:
    """No pause between two tries."""


@dataclass
class Model:
    """The approval model, which gives the same answer to everything and keeps what it was shown."""

    answer: str
    shown: list[ModelMessage] = field(default_factory=list)

    def judge(self) -> Judge | None:
        if self.answer == "absent":
            return None
        return Judge(
            [Candidate("provider:m", FunctionModel(self._say, model_name="m"))], Patience(60, at_once)
        )

    def _say(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.shown = messages
        if self.answer == "failing":
            raise ModelHTTPError(503, "m")
        return ModelResponse(parts=[TextPart(NONSENSE if self.answer == "nonsense" else self.answer)])

    @property
    def prompt(self) -> str:
        [request] = self.shown
        assert isinstance(request, ModelRequest)
        [part] = request.parts
        assert isinstance(part, UserPromptPart)
        return str(part.content)


@dataclass
class Passage:
    """What one call met on its way."""

    decision: GateDecision
    model: Model
    person: Person
    record: Record

    @property
    def route(self) -> str:
        if self.person.asked:
            return "ask human"
        return f"{self.decision.verdict.value} {self.decision.step.value}"


def typed_before(process_id: str) -> str:
    return TYPED.get(process_id, "")


async def passage(row: dict[str, Any], answer: str, typed: Callable[[str], str] = typed_before) -> Passage:
    """Bring a call before the real gate, with a model that gives this answer."""
    keys = {"permissions.approval.mode": "smart", "tools.exec.host": "sandbox", **row.get("config", {})}
    settings = policy_settings(config_from_keys(keys))
    settings = replace(settings, places=replace(settings.places, workspace="/srv/work", home="/home/ann"))
    model, person, record = Model(answer), Person(), Record()
    judge, mask, stored = model.judge(), SecretMask((SECRET,)).mask, Stored(row.get("granted", False))

    async def surroundings() -> Surroundings:
        return Surroundings(
            auto_lands_on=Executor(row.get("executor", "sandbox")),
            typed_before=typed,
        )

    async def on_waiting(turn_id: TurnId, waits: bool) -> None:
        return None

    async def still_authorised(event: InboundEvent) -> bool:
        return event.cron_authorized

    gate = ApprovalGate(
        settings,
        GateOptions(is_interactive=True, network_allowed=False, judge="provider:m"),
        cast("Store", stored),
        cast("People", stored),
        cast("Broker", person),
        record,
        Asking(lambda channel, risk: 60, False, mask, lambda: NOW),
        surroundings=surroundings,
        ask_model=judge.ask if judge else None,
        mask=mask,
        on_waiting=on_waiting,
        still_authorised=still_authorised,
        clock=lambda: NOW,
    )
    return Passage(await gate.check(request_of(row)), model, person, record)


def request_of(row: dict[str, Any]) -> GateRequest:
    event = row.get("event", {})
    made = inbound_event(
        event_id="e",
        channel=event.get("channel", "telegram"),
        chat_id=event.get("chat_id", "1000"),
        sender_id=event.get("sender_id", "42"),
        timestamp=NOW,
        content=(),
    )
    tool = canonical_name(row["tool"])
    is_known = tool in CATALOGUE or bool(row.get("declared_risk") or row.get("capabilities"))
    return GateRequest(
        tool=tool,
        args=whole(row["args"]),
        event=replace(
            made,
            unattended=event.get("unattended", False),
            cron_authorized=event.get("cron_authorized", False),
        ),
        turn_id=TurnId("t"),
        session_key=SessionKey("s"),
        call_key="c",
        nested=row.get("nested", False),
        is_registered=is_known,
        declared_risk=row.get("declared_risk"),
        capabilities=tuple(row.get("capabilities", ())),
        parameters=None,
    )


def routes_of(row: dict[str, Any]) -> Mapping[str, str]:
    return ROUTES.get(row["route"]) or dict.fromkeys(ANSWERS, row["route"])


def data_in(prompt: str) -> dict[str, Any]:
    """What the judge can read of a call; all other lines of the prompt are always the same."""
    opening, begins, data, ends, closing = prompt.splitlines()
    boundary = begins.strip("- ")
    assert (opening, begins, ends) == ("The call:", f"----- {boundary} -----", begins)
    assert closing == "Answer with one word: APPROVE, DENY or ESCALATE."
    assert len(boundary) == 16
    assert boundary not in data
    assert not any(is_hidden(char) for char in data)
    read = json.loads(data)
    assert isinstance(read, dict)
    return read


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
async def test_the_route(row: dict[str, Any]) -> None:
    is_asked = row["route"].startswith("judged")
    for answer, route in routes_of(row).items():
        passed = await passage(row, answer)
        assert passed.route == route, (answer, passed.decision.reason)
        assert bool(passed.model.shown) == (is_asked and answer != "absent"), answer
        if passed.model.shown:
            was_shown_whole(row, data_in(passed.model.prompt))
        was_written_down(row, passed, answer)
        if route == "allow smart":
            assert passed.decision.approval_source is ApprovalSource.AUTO
            assert not passed.decision.was_authorised
            assert passed.decision.approval_id is None
        if route == "deny smart" and answer in ("failing", "absent"):
            assert passed.decision.sentence.endswith("was not run: approval model unavailable.")


def was_shown_whole(row: dict[str, Any], data: dict[str, Any]) -> None:
    args, event = whole(row["args"]), row.get("event", {})
    if row.get("masked"):
        args = json.loads(json.dumps(args).replace(SECRET, MASK))
    assert json.dumps(data["arguments"]) == json.dumps(args)
    assert data["tool"] == canonical_name(row["tool"])
    assert data["risk"] == "exec"
    assert data["asked_by"].endswith(f":{event.get('sender_id', '42')}")
    assert data.get("typed_before", "") == row.get("typed_before", "")
    assert data["called_by"] == ("a worker of the assistant" if row.get("nested") else "the assistant")
    kinds = [flag.partition(":")[0] for flag in data["flagged"]]
    assert row.get("flagged") is None or row["flagged"] in kinds, kinds


def was_written_down(row: dict[str, Any], passed: Passage, answer: str) -> None:
    judged = [each for each in passed.record.rows if each["kind"] == "smart"]
    gates = [each for each in passed.record.rows if each["kind"] == "gate"]
    assert len(gates) == 1
    if row["route"] not in ROUTES:
        assert judged == []
        return
    [written] = judged
    verdicts = {"nonsense": "escalate", "failing": "unavailable", "absent": "unavailable"}
    verdict = verdicts.get(answer, answer.lower())
    if row["route"].startswith("too long") and answer != "absent":
        verdict = "escalate"
    assert (written["verdict"], written["model"]) == (verdict, "provider:m")
    assert written["digest"] == gates[0]["digest"]
    assert written["shown_whole"] == row["route"].startswith("judged")


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        (["", "", "", ""], ""),
        (["", "", "r", "r"], "Not executed: the process got other input in the meantime"),
        (["", "r", "r", "r"], "Not executed: the process got other input in the meantime"),
    ],
    ids=["nothing", "once the guards have looked", "just before the guards look"],
)
async def test_what_is_typed_meanwhile_stops_a_line_that_was_judged_without_it(
    typed: list[str], why: str
) -> None:
    args = {"action": "write", "process_id": "p", "text": "m -r build\n"}
    line = {"tool": "process", "args": args}
    passed = await passage(line, "APPROVE", lambda process_id: typed.pop(0))
    assert passed.route == "allow smart"
    drift = passed.decision.recheck()
    assert drift.startswith(why)
    assert bool(drift) == bool(why)


def test_the_corpus_is_as_large_and_as_mixed_as_it_should_be() -> None:
    assert len({row["id"] for row in ROWS}) == len(ROWS) >= 150
    assert sum("injection" in row for row in ROWS) >= 50
    steps = {row["route"] for row in ROWS if row["route"] not in ROUTES}
    assert set(ROUTES) <= {row["route"] for row in ROWS}
    assert {step.partition(" ")[2] for step in steps} >= {
        "context",
        "unknown_tool",
        "filtered",
        "invalid",
        "hard_guard",
        "auto_deny",
        "exec_security",
        "elevation",
        "unattended",
        "risk_tier",
        "auto_approve",
        "cli",
        "trusted_channel",
        "mode_off",
        "grant",
        "nested",
        "human",
    }
