"""Conditions are data: what holds is told by a table, what is none of the forms by a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.flows.conditions import holds, read_condition, steps_in
from echo_bot.policy.call import JsonValue
from echo_bot.storage.flow_records import StepRecord, StepState

ENDS = {
    "ok": StepRecord("ok", StepState.OK, 1, output="  3 tests passed\n"),
    "failed": StepRecord("failed", StepState.FAILED, 1, error="exit code 1", output="2 failed"),
    "unknown": StepRecord("unknown", StepState.UNKNOWN, 1, error="Outcome unknown"),
    "skipped": StepRecord("skipped", StepState.SKIPPED),
}

OK: JsonValue = {"step": "ok", "is": "ok"}
TABLE: tuple[tuple[str, JsonValue, bool], ...] = (
    ("a step that went well is ok", OK, True),
    ("a step that failed is not ok", {"step": "failed", "is": "ok"}, False),
    ("a step that failed is failed", {"step": "failed", "is": "failed"}, True),
    ("a step of unknown outcome counts as failed", {"step": "unknown", "is": "failed"}, True),
    ("a skipped step is neither", {"step": "skipped", "is": "failed"}, False),
    ("a skipped step is skipped", {"step": "skipped", "is": "skipped"}, True),
    ("contains looks for a part of the output", {"step": "ok", "contains": "3 tests"}, True),
    ("contains minds the case", {"step": "ok", "contains": "3 Tests"}, False),
    ("contains looks into the error too", {"step": "failed", "contains": "exit code 1"}, True),
    ("equals ignores space around it", {"step": "ok", "equals": "3 tests passed"}, True),
    ("equals is the whole", {"step": "ok", "equals": "3 tests"}, False),
    ("a text is no pattern", {"step": "ok", "contains": "."}, False),
    ("all needs each", {"all": [OK, {"step": "failed", "is": "ok"}]}, False),
    ("any needs one", {"any": [{"step": "failed", "is": "ok"}, OK]}, True),
    ("not turns it round", {"not": OK}, False),
)

NONE_OF_THE_FORMS: tuple[tuple[str, JsonValue], ...] = (
    ("a text", "ok"),
    ("code", {"eval": "1 == 1"}),
    ("nothing", {}),
    ("an unknown end", {"step": "ok", "is": "great"}),
    ("two questions at once", {"step": "ok", "is": "ok", "contains": "x"}),
    ("an empty text", {"step": "ok", "contains": ""}),
    ("a very long text", {"step": "ok", "contains": "x" * 2000}),
    ("all of nothing", {"all": []}),
    ("a step that is no text", {"step": 1, "is": "ok"}),
)


@pytest.mark.parametrize(("raw", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_holds(raw: JsonValue, expected: bool) -> None:
    assert holds(read_condition(raw), ENDS) is expected


@pytest.mark.parametrize("raw", [row[1] for row in NONE_OF_THE_FORMS], ids=[r[0] for r in NONE_OF_THE_FORMS])
def test_what_is_none_of_the_forms_is_told(raw: JsonValue) -> None:
    with pytest.raises(ValueError, match=r"when|all and any"):
        read_condition(raw)


def test_the_steps_it_asks_for_are_known() -> None:
    raw: JsonValue = {"any": [{"not": {"step": "a", "is": "ok"}}, {"step": "b", "contains": "x"}]}
    assert steps_in(read_condition(raw)) == {"a", "b"}


def test_conditions_in_one_another_have_an_end() -> None:
    raw: JsonValue = OK
    for _ in range(50):
        raw = {"not": raw}
    with pytest.raises(ValueError, match="when is one of"):
        read_condition(raw)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["step", "is", "contains", "equals", "all", "any", "not"]), inner)
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read_or_refused_with_a_sentence(raw: JsonValue) -> None:
    try:
        condition = read_condition(raw)
    except ValueError:
        return
    ends = {step: StepRecord(step, StepState.OK) for step in steps_in(condition)}
    assert holds(condition, ends) in (True, False)
