"""What a worker may be given, by table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.policy.catalogue import ALIASES, CATALOGUE, canonical_name
from echo_bot.policy.workers import (
    MOST_TASKS,
    MOST_UNFINISHED,
    WorkerLimits,
    start_problem,
    turns_of,
    worker_tools,
)

LIMITS = WorkerLimits(max_depth=3, max_turns=12)
MINE = frozenset({"exec", "read_file", "clarify", "mcp_git_log"})
NAMES = st.sampled_from([*CATALOGUE, *ALIASES, "mcp_git_log", "telepathy"])


@pytest.mark.parametrize(
    ("asked", "got"),
    [
        pytest.param(None, ("exec", "mcp_git_log", "read_file"), id="all of its caller's, and never clarify"),
        pytest.param([], (), id="none asked for are none"),
        pytest.param(["read_file"], ("read_file",), id="those asked for"),
        pytest.param(["bash", "exec", "shell"], ("exec",), id="an alias is its tool, once"),
        pytest.param(["mcp_git_log"], ("mcp_git_log",), id="a server's tool that its caller has"),
    ],
)
def test_a_worker_gets(asked: list[str] | None, got: tuple[str, ...]) -> None:
    assert worker_tools(asked, MINE) == got


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["write_file"], "write_file is none of these: exec, mcp_git_log, read_file"),
        (["run_code"], "execute_code is none of these"),
        (["read_file", "mcp_git_push"], "mcp_git_push is none of these"),
        (["clarify"], "nobody answers a worker"),
        ([""], "is none of these"),
    ],
)
def test_a_worker_cannot_get(asked: list[str], words: str) -> None:
    sentence = worker_tools(asked, MINE)
    assert isinstance(sentence, str)
    assert words in sentence


@given(asked=st.none() | st.lists(NAMES, max_size=6), callers=st.frozensets(NAMES.map(canonical_name)))
def test_no_request_gives_more_than_its_caller_has(asked: list[str] | None, callers: frozenset[str]) -> None:
    tools = worker_tools(asked, callers)
    if not isinstance(tools, str):
        assert set(tools) <= callers - {"clarify"}
        assert asked is None or set(tools) == {canonical_name(name) for name in asked}


@pytest.mark.parametrize(
    ("depth", "tasks", "unfinished", "words"),
    [
        (1, 1, 0, ""),
        (3, MOST_TASKS, 0, ""),
        (4, 1, 0, "workers.max_depth is 3"),
        (1, MOST_TASKS + 1, 0, f"at most {MOST_TASKS} tasks"),
        (1, 1, MOST_UNFINISHED - 1, ""),
        (1, 2, MOST_UNFINISHED - 1, "/stop"),
    ],
)
def test_depth_and_number_are_bounded(depth: int, tasks: int, unfinished: int, words: str) -> None:
    problem = start_problem(depth=depth, tasks=tasks, unfinished=unfinished, limits=LIMITS)
    assert words in problem
    assert bool(problem) == bool(words)


@pytest.mark.parametrize(("asked", "turns"), [(0, 12), (5, 5), (12, 12), (99, 12)])
def test_a_call_may_only_lower_the_number_of_answers(asked: int, turns: int) -> None:
    assert turns_of(asked, LIMITS) == turns
