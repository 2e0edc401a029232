"""A call as text and back: exact for any arguments, a sentence for what does not fit."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.approval.editing import EditProblem, edit_text, is_editable, read_edit
from echo_bot.approval.escape import is_hidden
from echo_bot.approval.request import ApprovalRequest, Choice
from echo_bot.events import ApprovalId
from echo_bot.policy.call import Executor, JsonValue
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.schemas import JsonSchema

FREE: JsonSchema = {"type": "object", "properties": {}, "additionalProperties": True}


def request(tool: str, args: dict[str, JsonValue], parameters: JsonSchema | None = None) -> ApprovalRequest:
    return ApprovalRequest(
        approval_id=ApprovalId("a"),
        tool=tool,
        args=args,
        risk=RiskLevel.EXEC,
        cwd="/w",
        executor=Executor.SANDBOX,
        requester="telegram:1",
        offered=(Choice.ONCE, Choice.DENY),
        parameters=parameters or (CATALOGUE[tool].parameters if tool in CATALOGUE else FREE),
    )


def sentence(text: str, of: ApprovalRequest) -> str:
    problem = read_edit(of, text)
    assert isinstance(problem, EditProblem), problem
    return problem.sentence


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4))
def test_any_arguments_survive_being_shown_and_read(args: dict[str, JsonValue]) -> None:
    of = request("own", args)
    shown = edit_text(of)
    assert read_edit(of, shown) == EditProblem("Nothing was changed.")
    assert not any(is_hidden(char) for char in shown.replace("\n", ""))


@given(TEXTS)
def test_a_command_alone_is_edited_as_it_is_or_as_json(command: str) -> None:
    of = request("exec", {"command": command})
    shown = edit_text(of)
    assert shown == command or json.loads(shown) == {"command": command}


def test_a_command_alone_is_its_text() -> None:
    of = request("exec", {"command": "ls -la"})
    assert edit_text(of) == "ls -la"
    assert read_edit(of, "ls") == {"command": "ls"}


def test_several_arguments_are_json_in_the_order_of_the_tools_parameters() -> None:
    of = request("write_file", {"content": "ä\n", "path": "a.txt"})
    assert edit_text(of) == '{\n  "path": "a.txt",\n  "content": "ä\\n"\n}'


def test_what_nobody_sees_is_written_out() -> None:
    assert edit_text(request("exec", {"command": "ls \u202e x"})) == '{\n  "command": "ls \\u202e x"\n}'
    assert "\\udb40\\udc72" in edit_text(request("exec", {"command": "ls \U000e0072"}))
    assert "\\u007f" in edit_text(request("exec", {"command": "ls \x7f"}))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "Nothing was written"),
        ("{", "This is no JSON"),
        ("[1]", "must be a JSON object"),
        ('{"path": "a", "path": "b", "content": ""}', "twice"),
        ('{"path": "a", "content": NaN}', "NaN is no number"),
        ('{"path": "a", "content": 1e999}', "no JSON that a call can hold"),
        ('{"path": "a", "content": "\\ud800"}', "no JSON that a call can hold"),
        ('{"path": "a", "contents": "x"}', "contents is not a parameter; did you mean content?"),
        ('{"path": "a"}', "content is missing"),
        ('{"path": 1, "content": ""}', "path must be text"),
        ('{"content": "x", "path": "a.txt"}', "Nothing was changed"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_what_does_not_fit_is_a_sentence(text: str, part: str) -> None:
    assert part in sentence(text, request("write_file", {"path": "a.txt", "content": "x"}))


def test_a_command_too_long_is_a_sentence() -> None:
    assert "at most" in sentence("a" * 100_001, request("exec", {"command": "ls"}))


class TestWhatMayBeEdited:
    MASK = SecretMask(["hunter2-is-secret"]).mask

    def test_an_ordinary_call_may(self) -> None:
        assert is_editable(request("exec", {"command": "ls"}), self.MASK)

    @pytest.mark.parametrize(
        "args",
        [
            {"command": "login hunter2-is-secret"},
            {"command": "ls", "env": {"A": "hunter2-is-secret"}},
            {"command": "ls", "env": {"hunter2-is-secret": "x"}},
            {"command": "curl -H 'Authorization: Bearer sk-proj-abcdefghijklmnopqrstuvwx'"},
        ],
    )
    def test_one_with_a_secret_may_not(self, args: dict[str, JsonValue]) -> None:
        assert not is_editable(request("exec", args), self.MASK)

    def test_one_without_arguments_may_not(self) -> None:
        assert not is_editable(request("own", {}), self.MASK)
