"""Arguments: what is valid, and that the sentence names the field."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.policy.arguments import arguments_problem
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.schemas import FREE, JsonSchema

SENTENCES = [
    ("exec", {}, "exec: command is missing"),
    ("exec", {"comand": "ls"}, "exec: comand is not a parameter; did you mean command?"),
    ("exec", {"cmd": "ls"}, "exec: cmd is not a parameter; did you mean command?"),
    ("exec", {"cmd": "ls", "command": "ls"}, "exec: cmd is not a parameter; did you mean cwd?"),
    ("exec", {"command": "ls", "zzz": 1},
     "exec: zzz is not a parameter; the parameters are command, cwd, timeout, env"),
    ("exec", {"command": 1}, "exec: command must be text"),
    ("exec", {"command": " \n"}, "exec: command is empty"),
    ("execute_code", {"code": "", "language": "bash"}, "execute_code: code is empty"),
    ("process", {"action": "start", "command": ""}, "process: command is empty"),
    ("exec", {"command": "ls", "env": {"A": 1}}, "exec: env.A must be text"),
    ("exec", {"command": "ls", "timeout": -1}, "exec: timeout must be at least 0"),
    ("exec", {"command": "ls", "timeout": True}, "exec: timeout must be a whole number"),
    ("exec", {"command": "ls", "timeout": 1.5}, "exec: timeout must be a whole number"),
    ("exec", [], "exec: the arguments must be an object of names and values"),
    ("process", {"action": "kill"}, "process: action must be one of start, list, poll, write, signal, stop"),
    ("process", {"action": "signal", "signal": []}, "process: signal must be text or a whole number"),
    ("delegate_task", {}, "delegate_task: one of goal, tasks is needed"),
    ("skills_list", {"x": 1}, "skills_list: x is not a parameter; the parameters are none"),
    ("skill_run", {"name": "a", "script": "b", "args": [1]}, "skill_run: args.0 must be text"),
    ("edit_file", {"path": "a", "old_string": "b", "new_string": "c", "replace_all": 1},
     "edit_file: replace_all must be true or false"),
]  # fmt: skip

VALID = [
    ("exec", {"command": "ls", "cwd": "sub", "timeout": 0, "env": {"A": "1"}}),
    ("memory", {"action": "add", "content": "x", "about": {"at": 1}}),
    ("task", {"action": "create", "title": "x"}),
    ("skill_manage", {"action": "create", "name": "x", "content": "y"}),
    ("image_generate", {"prompt": "x", "aspect": "square"}),
    ("process", {"action": "signal", "process_id": "p", "signal": 15}),
    ("process", {"action": "list", "command": ""}),
    ("delegate_task", {"tasks": ["a"], "tools": ["read_file"]}),
    ("skills_list", {}),
]


@pytest.mark.parametrize(("tool", "args", "sentence"), SENTENCES, ids=[case[2] for case in SENTENCES])
def test_the_sentence_names_the_field(tool: str, args: object, sentence: str) -> None:
    assert arguments_problem(tool, args, CATALOGUE[tool].parameters) == sentence


@pytest.mark.parametrize(("tool", "args"), VALID, ids=[case[0] for case in VALID])
def test_valid_arguments(tool: str, args: object) -> None:
    assert arguments_problem(tool, args, CATALOGUE[tool].parameters) == ""


def test_a_broken_schema_of_an_own_tool_is_a_sentence() -> None:
    assert "the tool's own schema is broken" in arguments_problem("mine", {}, {"type": "nonsense"})


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}},
        {"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"$ref": "#/$defs/b"}}},
        {"patternProperties": {"(": {}}},
    ],
    ids=["a remote reference is not fetched", "a reference to itself", "a broken pattern"],
)
def test_a_schema_that_cannot_be_used_denies(schema: JsonSchema) -> None:
    assert "schema is broken" in arguments_problem("mine", {"a": 1}, schema)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(CATALOGUE)), json_values)
def test_any_value_gets_an_answer_of_one_line(tool: str, args: object) -> None:
    answer = arguments_problem(tool, args, CATALOGUE[tool].parameters)
    assert len(answer.splitlines()) <= 1 or not answer.isprintable()


@given(st.dictionaries(st.text(max_size=8), json_values, max_size=4))
def test_a_free_schema_takes_every_object(args: dict[str, object]) -> None:
    assert arguments_problem("mine", args, FREE) == ""
