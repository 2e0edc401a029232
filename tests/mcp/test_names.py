from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.mcp.names import tool_names
from echo_bot.policy.catalogue import TOOL_NAME, is_mcp_name

SERVERS = st.from_regex(r"[A-Za-z0-9_-]{1,40}", fullmatch=True)
SPELT = st.lists(st.text(st.characters(codec="utf-8"), max_size=80) | st.sampled_from(["a.b", "a/b", "a_b"]))


@pytest.mark.parametrize(
    ("spelt", "name"),
    [
        ("log", "mcp_git_log"),
        ("get-log_2", "mcp_git_get-log_2"),
        ("repo.list", "mcp_git_repo_list"),
        ("größe", "mcp_git_gr__e"),
        ("x" * 70, f"mcp_git_{'x' * 47}_e7be7b9f"[:64]),
    ],
)
def test_a_name_keeps_what_is_allowed(spelt: str, name: str) -> None:
    found = tool_names("git", [spelt])[spelt]
    assert len(found) <= 64
    assert found[:50] == name[:50]


def test_names_that_would_be_the_same_are_told_apart_whatever_their_order() -> None:
    names = tool_names("git", ["a.b", "a/b", "a_b"])
    assert names["a_b"] == "mcp_git_a_b"
    assert len(set(names.values())) == 3
    assert names == tool_names("git", ["a_b", "a/b", "a.b"])


def test_a_name_that_imitates_the_mark_takes_nothing_over() -> None:
    marked = tool_names("git", ["a.b", "a/b"])["a.b"].removeprefix("mcp_git_")
    names = tool_names("git", ["a.b", "a/b", marked])
    assert names[marked] == f"mcp_git_{marked}"
    assert "a.b" not in names


@given(SERVERS, SPELT)
def test_every_name_is_allowed_and_no_two_are_the_same(server: str, spelt: list[str]) -> None:
    names = tool_names(server, spelt)
    assert len(set(names.values())) == len(names)
    assert all(TOOL_NAME.fullmatch(name) and is_mcp_name(name) for name in names.values())
    shuffled = random.Random(0).sample(spelt, len(spelt))
    assert tool_names(server, shuffled) == names
