"""The spoofing corpora, rendered as each surface would send it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from echo_bot.testing.card_cases import run_card_case

ROWS = [
    json.loads(line)
    for name in ("spoof.jsonl", "spoof_unseen.jsonl")
    for line in (Path(__file__).parents[1] / "data" / name).read_text("utf-8").split("\n")
    if line.strip()
]


def unescaped(text: str) -> str:
    for escaped, plain in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("\\n", "\n"), ('\\"', '"')):
        text = text.replace(escaped, plain)
    return text


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['id']} {row['category']}" for row in ROWS])
def test_row(row: dict[str, Any]) -> None:
    answer = run_card_case(row)
    if answer["refused"]:
        assert row.get("refuse_ok"), answer["visible"]
        return
    visible, payload = str(answer["visible"]), str(answer["payload"])
    views = (visible, unescaped(visible))
    for text in (*row["must_show"], *row.get("must_be_literal", ())):
        assert any(text in view for view in views), f"hidden: {text!a}"
    for marks in row.get("must_show_any", ()):
        assert any(mark.lower() in visible.lower() for mark in marks)
    for text in row["must_not_contain"]:
        assert text not in payload
