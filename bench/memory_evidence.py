"""Learn what words weigh in the memory scan from the labelled notes, and say how that does on unseen ones.

`--write` puts the weights into `echo_bot/policy/guards/memory/evidence_weights.py`.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from echo_bot.policy.guards.memory import evidence

ROOT = Path(__file__).parents[1]
CORPORA = ("memory.jsonl", "memory_unseen.jsonl", "memory_fresh.jsonl")
WEIGHTS_FILE = ROOT / "echo_bot" / "policy" / "guards" / "memory" / "evidence_weights.py"
ROUNDS, STEP, SHRINK, FOLDS = 10, 0.3, 1e-5, 5
FEWEST, LEAST = 2, 0.15
"""A feature in fewer notes, or of less weight, is left out."""
_HEAD = '''"""What each word, part and pair of parts weighs: written by `bench/memory_evidence.py`."""

# ruff: noqa: E501 - one weight, one line

from __future__ import annotations

BIAS = {bias}
_BY_TENTHS: dict[int, str] = {{
{lines}
}}
WEIGHTS = {{feature: tenths / 10 for tenths, text in _BY_TENTHS.items() for feature in text.split()}}
'''

PROSE = (ROOT / "README.md", ROOT / "CHANGELOG.md")
SHORTEST = 30
_FENCED = re.compile(r"```.*?```", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n\s*\n|\n[-*#|] ")

Note = tuple[frozenset[str], bool]
"""Its features, and whether it is an order."""


def notes() -> list[dict[str, str]]:
    rows = [
        json.loads(line)
        for name in CORPORA
        for line in (ROOT / "tests" / "data" / name).read_text("utf-8").split("\n")
        if line.strip()
    ]
    return [row for row in rows if row["category"] not in ("invisible", "bidi")]


def prose() -> list[str]:
    """Sentences of this repository's documentation: plain, long, and about guards, approvals and secrets."""
    texts = [path.read_text("utf-8") for path in (*sorted((ROOT / "docs").rglob("*.md")), *PROSE)]
    passages = {" ".join(some.split()) for text in texts for some in _SENTENCE.split(_FENCED.sub("", text))}
    return sorted(some for some in passages if len(some) > SHORTEST)


def learn(some: Sequence[Note]) -> tuple[float, dict[str, float]]:
    """Logistic regression by stochastic gradient with a step of its own for each feature."""
    times = Counter(feature for features, _ in some for feature in features)
    known = {feature for feature, count in times.items() if count >= FEWEST}
    rows = [(sorted(features & known), order) for features, order in some]
    weights, squares, bias = dict.fromkeys(known, 0.0), dict.fromkeys(known, 1e-6), 0.0
    chance = random.Random(0)
    for _ in range(ROUNDS):
        chance.shuffle(rows)
        for features, order in rows:
            scale = math.sqrt(len(features)) or 1.0
            total = bias + sum(weights[feature] for feature in features) / scale
            error = 1 / (1 + math.exp(-total)) - order
            slope = error / scale
            for feature in features:
                squares[feature] += slope * slope
                weights[feature] -= STEP * slope / math.sqrt(squares[feature]) + SHRINK * weights[feature]
            bias -= 0.02 * error
    return bias, weights


def written(bias: float, weights: dict[str, float]) -> str:
    by_tenths: dict[int, list[str]] = {}
    for feature, weight in sorted(weights.items()):
        if abs(weight) >= LEAST:
            by_tenths.setdefault(round(weight * 10), []).append(feature)
    lines = "\n".join(
        f"    {tenths}: {json.dumps(' '.join(some), ensure_ascii=False)},"
        for tenths, some in sorted(by_tenths.items())
    )
    return _HEAD.format(bias=round(bias, 2), lines=lines)


def cross_validated(rows: Sequence[dict[str, str]], read: Sequence[Note]) -> list[float]:
    """For each note its weight by what was learned from the other notes alone."""
    order = list(range(len(rows)))
    random.Random(1).shuffle(order)
    weight = [0.0] * len(rows)
    for fold in range(FOLDS):
        apart = set(order[fold::FOLDS])
        bias, weights = learn([note for index, note in enumerate(read) if index not in apart])
        weights = {feature: round(some, 1) for feature, some in weights.items() if abs(some) >= LEAST}
        for index in apart:
            passages = map(evidence.features, evidence.passages(rows[index]["text"]))
            weight[index] = max((evidence.weighed(some, bias, weights) for some in passages), default=bias)
    return weight


def share(values: Iterable[float], least: float) -> float:
    some = [value >= least for value in values]
    return sum(some) / len(some)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true", help="write the weights")
    rows = notes()
    rows += [{"text": text, "expect": "accept", "id": "prose"} for text in prose()]
    read = [(evidence.features(row["text"]), row["expect"] == "reject") for row in rows]
    if arguments.parse_args().write:
        WEIGHTS_FILE.write_text(written(*learn(read)), "utf-8")
        return
    weight = cross_validated(rows, read)
    orders, plain = (
        [some for some, (_, order) in zip(weight, read, strict=True) if order is kind]
        for kind in (True, False)
    )
    for least in (1.0, 1.5, evidence.ENOUGH, 2.5):
        print(
            f"from {least}: {share(orders, least):.1%} of the orders, {share(plain, least):.2%} of the notes"
        )


if __name__ == "__main__":
    main()
