"""The spoofing corpora, rendered as each surface would send it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from echo_bot.policy.call import Call, digest
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


TWINS = [row for row in ROWS if "twin" in row]
ONE_BLOCK = [row for row in ROWS if row.get("single_block")]


@pytest.mark.parametrize("row", TWINS, ids=[f"{row['id']} {row['why']}" for row in TWINS])
def test_a_twin_needs_an_approval_of_its_own(row: dict[str, Any]) -> None:
    asked, twin = (digest(Call(row["tool"], args, "/w")) for args in (row["args"], row["twin"]))
    assert asked != twin


@pytest.mark.parametrize("row", ONE_BLOCK, ids=[row["id"] for row in ONE_BLOCK])
def test_a_fence_inside_does_not_end_the_code_block(row: dict[str, Any]) -> None:
    payload = str(run_card_case(row)["payload"])
    fences = [(found[0], found.start()) for found in re.finditer(r"^`{3,}", payload, re.MULTILINE)]
    longest = max(len(fence) for fence, _ in fences)
    (opening, closing) = [place for fence, place in fences if len(fence) == longest]
    assert all(opening <= place <= closing for fence, place in fences if len(fence) < longest)
    assert payload[opening:closing].count("rm -rf") == 1


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
