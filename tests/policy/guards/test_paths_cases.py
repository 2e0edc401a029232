"""The path corpora: every case is carried out in a throwaway folder and answered as it should be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from echo_bot.testing.path_cases import run_path_case

ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for name in ("path.jsonl", "path_unseen.jsonl")
    for line in (Path(__file__).parents[2] / "data" / name).read_text(encoding="utf-8").split("\n")
    if line.strip()
]
ANSWERS = {"category", "expect", "tier", "why", "source", "ask_ok"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['id']} {row['category']}")
def test_a_case_is_answered_as_labelled(row: dict[str, Any]) -> None:
    answer = run_path_case({name: value for name, value in row.items() if name not in ANSWERS})
    verdict = answer["verdict"]
    assert answer.get("invariant_ok", True) is True
    if row.get("swap_after_check"):
        return
    if row["expect"] == "allow":
        assert verdict == "allow"
    else:
        accepted = {"deny"} | ({"ask"} if row.get("ask_ok") else set())
        assert verdict in accepted | ({"not_found"} if row["op"] == "read" else set())
