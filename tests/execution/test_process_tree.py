"""Reading /proc and telling who belongs to a run, over made-up processes."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.execution.group import HostGroup, SandboxGroup, boot_ticks
from echo_bot.execution.proctree import Process, descendants, parse_stat, read_process, read_processes, send
from echo_bot.execution.protocol import Limits
from echo_bot.execution.usage import over_limit

NEVER = 1 << 30
"""A pid above every real one: nothing is read or signalled by mistake."""


def process(pid: int, parent: int, *, session: int = 0, started: int = 100, resident: int = 0) -> Process:
    return Process(NEVER + pid, NEVER + parent, NEVER + session, NEVER + session, started, resident)


def table(*processes: Process) -> dict[int, Process]:
    return {each.pid: each for each in processes}


def pids(found: list[Process]) -> set[int]:
    return {each.pid - NEVER for each in found}


@given(name=st.text(alphabet=st.characters(exclude_characters="\0\n"), min_size=1, max_size=15))
def test_a_process_may_have_any_name(name: str) -> None:
    line = f"42 ({name}) R 7 8 9 " + " ".join(str(number) for number in range(6, 52))
    expected = Process(42, 7, 8, 9, started=21, resident_bytes=23 * os.sysconf("SC_PAGE_SIZE"), state="R")
    # fields after the state are numbered from 4 in proc(5): start time is 22 and resident pages 24
    assert parse_stat(line) == expected


def test_this_process_is_found_and_recent() -> None:
    here = read_processes()[os.getpid()]
    assert here.parent == os.getppid()
    assert 0 < here.started <= boot_ticks()
    assert read_process(NEVER) is None


def test_descendants_are_all_below_whatever_the_order() -> None:
    tree = table(process(4, 3), process(3, 2), process(2, 1), process(5, 1), process(9, 8))
    assert pids(descendants(tree, [NEVER + 1])) == {2, 3, 4, 5}


def test_a_host_run_is_known_by_session_descent_and_memory() -> None:
    group = HostGroup(NEVER + 10, "mark", since=50)
    running = table(
        process(10, 1, session=10),
        process(11, 10, session=10),
        process(12, 11, session=12),
        process(13, 12, session=13),
        process(20, 1, session=20),
        process(21, 1, session=10, started=10),
    )
    assert pids(group.members(running)) == {10, 11, 12, 13}
    orphaned = table(process(13, 1, session=13), process(20, 1, session=20))
    assert pids(group.members(orphaned)) == {13}, "seen before, so remembered when its parents are gone"


def test_a_sandbox_run_is_asked_inside_and_ended_as_a_whole() -> None:
    group = SandboxGroup(NEVER + 10, "mark", since=50)
    running = table(process(10, 1), process(11, 10), process(12, 11), process(13, 12), process(20, 1))
    assert pids(group.members(running)) == {12, 13}
    assert pids(group.everyone(running)) == {10, 11, 12, 13}
    assert pids(group.everyone(table(process(11, 1), process(20, 1)))) == {11}


def test_a_pid_that_is_somebody_elses_by_now_gets_no_signal() -> None:
    here = read_process(os.getpid())
    assert here is not None
    send([Process(here.pid, here.parent, here.group, here.session, here.started - 1, 0)], 9)


@pytest.mark.parametrize(
    ("members", "over"),
    [
        ([process(1, 0)] * 3, False),
        ([process(1, 0)] * 4, True),
        ([process(1, 0, resident=1 << 20)], False),
        ([process(1, 0, resident=2 << 20)], True),
        ([process(1, 0, resident=600 << 10)] * 2, True),
    ],
)
def test_usage_counts_all_together(members: list[Process], over: bool) -> None:
    assert over_limit(members, Limits(memory_mb=1, processes=3)) is over
