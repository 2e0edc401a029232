"""Matching tool names against the operator's lists: exact, or with `*`, after aliases are resolved."""

from __future__ import annotations

import re
from collections.abc import Iterable

from echo_bot.policy.catalogue import canonical_name


def names_tool(entries: Iterable[str], tool: str) -> bool:
    """Does one of the entries name this canonical tool name?"""
    return any(_matches(canonical_name(entry), tool) for entry in entries)


def _matches(entry: str, tool: str) -> bool:
    if "*" not in entry:
        return entry == tool
    return re.fullmatch(".*".join(re.escape(part) for part in entry.split("*")), tool) is not None
