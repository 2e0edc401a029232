"""docs/tools.md says what the code says, and the tables of the product's documents say the same."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from echo_bot.app.tool_table import (
    DOCUMENT,
    NEEDS,
    built_tools,
    needs_network,
    risk_of,
    smallest_profile,
    taken_by_security,
    with_tables,
)
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.profiles import SECURITY_DENY
from echo_bot.tools.base import Tool

_ROWS = (Path(__file__).parents[1] / "data" / "documented_tools.tsv").read_text(encoding="utf-8").splitlines()
DOCUMENTED = list(csv.DictReader((row for row in _ROWS if not row.startswith("#")), delimiter="\t"))


async def test_the_tables_in_the_document_are_those_the_code_gives() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    assert with_tables(document, await built_tools()) == document, "run python -m echo_bot.app.tool_table"


@pytest.mark.parametrize("row", DOCUMENTED, ids=[row["tool"] for row in DOCUMENTED])
def test_every_row_says_what_the_documents_say(row: dict[str, str]) -> None:
    entry = CATALOGUE[row["tool"]]
    security: list[str] = list(SECURITY_DENY)
    gone = () if row["gone_from"] == "-" else tuple(security[security.index(row["gone_from"]) :])
    assert risk_of(entry) == row["risk"]
    assert smallest_profile(entry) == row["profile"]
    assert taken_by_security(entry) == gone
    assert needs_network(entry) == (row["network"] == "yes")
    assert (entry.subsystem or "-") == row["disabled_by"]


async def test_every_tool_that_can_be_unready_says_what_it_needs() -> None:
    tools = await built_tools()
    judged = {
        name for name, tool in tools.items() if type(tool).readiness_detail is not Tool.readiness_detail
    }
    assert judged == NEEDS.keys() & tools.keys()


async def test_every_tool_describes_itself_in_one_line() -> None:
    for name, tool in (await built_tools()).items():
        assert tool.description, name
        assert "\n" not in tool.description, name


def test_a_document_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="no marks for the table of tools"):
        with_tables("# Tools", {})


def test_the_order_of_filters_in_the_document_is_that_of_the_code() -> None:
    section = (
        DOCUMENT.read_text(encoding="utf-8").partition("## What takes a tool away")[2].partition("##")[0]
    )
    first = re.findall(r"^\d\. `([a-z_.]+)", section, re.MULTILINE)
    assert first == ["tools.deny", "security.profile", "execution.network_policy", "tools.allow"]
