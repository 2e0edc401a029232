"""At create, calls that could never be made are told; what only a run will show is left to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from echo_bot.flows.checking import problem_of
from echo_bot.flows.definition import Step
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.schemas import JsonSchema

Read = Callable[..., tuple[Step, ...]]
Raw = dict[str, object]
A: Raw = {"id": "a", "manual": "x"}


class Book:
    def names(self) -> Iterable[str]:
        return ("exec", "read_file", "edit_file", "delegate_task")

    def problem(self, name: str) -> str:
        return (
            ""
            if name in self.names()
            else "it is filtered by tools.deny"
            if name == "patch"
            else "no such tool"
        )

    def parameters(self, name: str) -> JsonSchema:
        return CATALOGUE[name].parameters


def call(tool: str, **args: object) -> Raw:
    return {"id": "b", "tool": tool, "args": args}


REFERENCE = {"$from": "a.output"}
TABLE = (
    (call("exec", command="ls"), ""),
    (call("exec", command=REFERENCE, timeout=5), ""),
    (call("exec", command="echo ${a.output}"), ""),
    (call("edit_file", path=REFERENCE, old_string="x", new_string=REFERENCE), ""),
    ({"id": "b", "agent": "${a.output}", "tools": ["exec"]}, ""),
    (
        call("read_fil", path="x"),
        "step b: read_fil cannot be called here: no such tool; did you mean read_file?",
    ),
    (call("patch", patch="x"), "step b: patch cannot be called here: it is filtered by tools.deny"),
    (call("exec", comand=REFERENCE), "step b: exec: comand is not a parameter; did you mean command?"),
    (call("exec", cwd=REFERENCE), "step b: exec: command is missing"),
    (call("exec", command=REFERENCE, timeout="soon"), "step b: exec: timeout must be a whole number"),
    (call("edit_file", path=REFERENCE, old_string="x"), "step b: edit_file: new_string is missing"),
)


@pytest.mark.parametrize(("raw", "sentence"), TABLE, ids=[row[1] or str(row[0]) for row in TABLE])
def test_what_can_never_be_called_is_told(read: Read, raw: Raw, sentence: str) -> None:
    assert problem_of(read(A, raw), Book()) == sentence
