"""The network corpora: every row right, no stray connection."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from echo_bot.testing.net_cases import run_net_case

ROWS = [
    json.loads(line)
    for name in ("net.jsonl", "net_unseen.jsonl")
    for line in (Path(__file__).parent.parent / "data" / name).read_text("utf-8").split("\n")
    if line.strip()
]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['id']} {row['category']}" for row in ROWS])
def test_row(row: dict[str, Any]) -> None:
    answer = run_net_case(row)
    within = row.get("must_connect_within")
    if within is not None:
        assert set(answer["connected"]) <= set(within)  # type: ignore[call-overload]
        return
    assert answer["verdict"] == row["expect"], row["why"]
    if (hop := row.get("deny_at_hop")) is not None:
        assert len(answer["connected"]) <= hop, "a request was made for the refused hop"  # type: ignore[arg-type]
