"""How a direct call is read: arguments as key=value, with JSON lists and objects as they are written."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.agent.directive import DirectCall, Misused, read_directive
from echo_bot.policy.call import JsonValue

SCHEMA: Mapping[str, JsonValue] = {
    "properties": {"text": {"type": "string"}, "steps": {"type": "array"}, "env": {"type": "object"}}
}


def read(arguments: str) -> object:
    directive = read_directive(f"/tool t {arguments}", lambda name: SCHEMA)
    return directive.args if isinstance(directive, DirectCall) else directive


@pytest.mark.parametrize(
    ("written", "args"),
    [
        ("text=a n=3", {"text": "a", "n": 3}),
        ("text='a b' n=x", {"text": "a b", "n": "x"}),
        ('steps=["a b", {"c": "d e"}] text=x', {"steps": ["a b", {"c": "d e"}], "text": "x"}),
        ('env={"A": "1"}\ntext=y', {"env": {"A": "1"}, "text": "y"}),
        ('text={"a": 1}', {"text": '{"a": 1}'}),
        ("text='see steps=[1] there'", {"text": "see steps=[1] there"}),
        ("steps=[1]x", {"steps": "[1]x"}),
        ("text=[x text=y", {"text": "y"}),
        ("", {}),
    ],
)
def test_arguments_are_read(written: str, args: dict[str, object]) -> None:
    assert read(written) == args


@pytest.mark.parametrize("written", ["steps", 'steps="', "text=a b"])
def test_what_cannot_be_read_says_how_to_write_it(written: str) -> None:
    assert isinstance(read(written), Misused)


@given(st.text("ab= '\"\\\n#", max_size=20))
def test_without_lists_and_objects_the_words_are_those_of_a_shell(text: str) -> None:
    try:
        words = [word.partition("=") for word in shlex.split(f"text={text}".strip())]
    except ValueError:
        words = [("", "", "")]
    if all(equals for _, equals, _ in words):
        assert read(f"text={text}") == {
            key: value if key == "text" else read_value(value) for key, _, value in words
        }
    else:
        assert isinstance(read(f"text={text}"), Misused)


def read_value(text: str) -> object:
    """None of these letters make JSON but the empty string in quotes."""
    return "" if text == '""' else text
