"""Long results: kept for their own scope, shown by head and tail, dropped when old or too much."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.tools.base import ToolExecutionContext
from echo_bot.tools.builtin.read_spill import ReadSpillTool
from echo_bot.tools.spill import FILE_NAME, Spill, SpillLimits, head_and_tail

CONTEXT = ToolExecutionContext(
    execution_id="e",
    trace_id="t",
    session_key="s",
    memory_scope="mine",
    user_id="cli:local",
    agent_id="main",
    attempt_index=0,
    idempotency_key="k",
    is_replay=False,
    parent_execution_id=None,
    credentials={},
    approved_actions=frozenset(),
    approval_source="auto",
    allowed_tools=frozenset(),
    channel="cli",
    chat_id="local",
    reply_to_id="",
    unattended=False,
    cron_authorized=False,
    inbound_event_id="i",
)
LONG = "\n".join(f"line {number}" for number in range(1, 2001))


def name_in(shown: str) -> str:
    return shown.split("read_spill path=", 1)[1].split(" ", 1)[0]


async def test_a_short_text_stays_as_it_is(tmp_path: Path) -> None:
    assert await Spill(tmp_path, SpillLimits()).shorten(CONTEXT, "exec", "x" * 6000) == "x" * 6000
    assert list(tmp_path.iterdir()) == []


async def test_a_long_text_shows_head_tail_and_where_the_rest_is(tmp_path: Path) -> None:
    spill = Spill(tmp_path / "spill", SpillLimits())
    shown = await spill.shorten(CONTEXT, "exec", LONG)
    assert shown.startswith("line 1\nline 2\n")
    assert shown.endswith("\nline 1999\nline 2000")
    assert len(shown) <= 6000
    file = next((tmp_path / "spill").glob("*/*.txt"))
    assert file.name == name_in(shown)
    assert file.read_text() == LONG
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


async def test_it_is_read_by_page_and_by_pattern(tmp_path: Path) -> None:
    spill = Spill(tmp_path, SpillLimits())
    name = name_in(await spill.shorten(CONTEXT, "Exec!", LONG))
    assert name.startswith("exec--")
    tool = ReadSpillTool(spill)
    page = await tool.execute({"path": name, "offset": 1000, "limit": 2}, CONTEXT)
    lines = "  1000\tline 1000\n  1001\tline 1001"
    assert page.output == f"{name}: lines 1000-1001 of 2,000\n{lines}\n(go on with offset=1002)"
    found = await tool.execute({"path": name, "pattern": r"e 19\d9$", "offset": 1920, "limit": 3}, CONTEXT)
    assert found.output == "  1929\tline 1929\n  1939\tline 1939\n  1949\tline 1949"
    assert (await tool.execute({"path": name, "pattern": "nothing"}, CONTEXT)).output == "no match"


async def test_nobody_else_reads_it_and_no_path_leads_out(tmp_path: Path) -> None:
    spill = Spill(tmp_path, SpillLimits())
    name = name_in(await spill.shorten(CONTEXT, "exec", LONG))
    tool = ReadSpillTool(spill)
    other = replace(CONTEXT, memory_scope="yours")
    folder = next(tmp_path.glob("*"))
    for ctx, path in (
        (other, name),
        (None, name),
        (CONTEXT, f"../{folder.name}/{name}"),
        (CONTEXT, "/etc/passwd"),
    ):
        result = await tool.execute({"path": path}, ctx)
        assert (result.success, result.error_kind) == (False, "validation")


async def test_a_link_put_in_place_is_not_followed(tmp_path: Path) -> None:
    spill = Spill(tmp_path / "spill", SpillLimits())
    name = name_in(await spill.shorten(CONTEXT, "exec", LONG))
    file = next((tmp_path / "spill").glob("*/*.txt"))
    file.unlink()
    file.symlink_to("/etc/passwd")
    assert not (await ReadSpillTool(spill).execute({"path": name}, CONTEXT)).success


async def test_old_files_and_what_is_too_much_are_dropped_oldest_first(tmp_path: Path) -> None:
    now = 1_800_000_000.0
    spill = Spill(tmp_path, SpillLimits(retention_days=7, max_total_mb=1), lambda: now)
    ages = {"a": 8 * 86400, "b": 3000, "c": 2000, "d": 1000}
    (tmp_path / "scope").mkdir()
    for name, age in ages.items():
        path = tmp_path / "scope" / f"{name}-{'0' * 12}.txt"
        path.write_bytes(b"x" * 450_000)
        os.utime(path, (now - age, now - age))
    assert spill.sweep() == 2
    assert sorted(path.name[0] for path in (tmp_path / "scope").iterdir()) == ["c", "d"]


async def test_a_full_disk_still_shows_head_and_tail(tmp_path: Path) -> None:
    (tmp_path / "spill").write_text("a file where the folder should be")
    shown = await Spill(tmp_path / "spill", SpillLimits()).shorten(CONTEXT, "exec", LONG)
    assert "it was not kept" in shown
    assert shown.endswith("line 2000")


@given(st.text(alphabet="ab\n", min_size=400, max_size=2000), st.integers(min_value=300, max_value=399))
def test_head_and_tail_keep_within_the_limit(text: str, limit: int) -> None:
    shown = head_and_tail(text, limit, "exec-000000000000.txt")
    head, tail = shown.split("\n[…", 1)[0], shown.split("…]\n", 1)[1]
    assert len(shown) <= limit
    assert text.startswith(head)
    assert text.endswith(tail)


@pytest.mark.parametrize("name", ["exec-0123456789ab.txt", "web_fetch-0123456789ab.txt"])
def test_names_are_plain(name: str) -> None:
    assert FILE_NAME.fullmatch(name)
