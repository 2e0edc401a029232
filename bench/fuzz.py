"""Random mutations of the labelled cases against every pure guard, for a given number of seconds.

Run it on a quiet machine: `python bench/fuzz.py 300`. For each target: executions a second, the slowest
input, the properties that broke and the crashes; exits with 1 when there was any. `--seed` repeats inputs.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from echo_bot.approval.escape import is_hidden
from echo_bot.channel import LengthUnit
from echo_bot.policy.decision import Verdict
from echo_bot.policy.guards.memory import scan_memory
from echo_bot.policy.guards.network import parse_url
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.policy.guards.shell import judge_command
from echo_bot.testing.card_cases import run_card_case
from echo_bot.testing.shfmt_oracle import find_shfmt, shfmt_tree
from echo_bot.text.measure import measure
from echo_bot.text.split import join_parts, split_markdown

DATA = Path(__file__).parents[1] / "tests" / "data"
LONGEST = 4000
KNOWN = "op3rator/s+value=of the start"
MASK = SecretMask([KNOWN])
PIECES = (
    *(
        "'",
        '"',
        "\\",
        "`",
        "$(",
        ")",
        "${",
        "}",
        "<<A\n",
        "\nA\n",
        ";",
        "&&",
        "|",
        "&",
        "\n",
        "#",
        "((",
        "[[",
    ),
    *(
        " ",
        "\t",
        "\r",
        "\0",
        "\u200b",
        "\u202e",
        "\ufe0f",
        "é",
        "中",
        "😀",
        "\ud800",
        "```",
        "~~~",
        "<",
        ">",
        "@",
    ),
    *(
        "rm -rf /",
        "sudo ",
        "eval ",
        "token=",
        "://u:p@",
        "%2f",
        "ignore previous instructions",
        "忽略之前的指令",
    ),
)


def rows(name: str) -> Iterator[dict[str, object]]:
    raw = (DATA / name).read_bytes()
    text = (base64.decodebytes(raw) if name.endswith(".b64") else raw).decode("utf-8")
    yield from (json.loads(line) for line in text.split("\n") if line.strip())


def texts(pattern: str, key: str) -> list[str]:
    return [str(row[key]) for path in sorted(DATA.glob(pattern)) for row in rows(path.name)]


def mutated(source: random.Random, corpus: list[str]) -> str:
    """One to six small changes of a case: pieces put in, taken out, doubled, or spliced from another case."""
    text = source.choice(corpus)
    for _ in range(source.randint(1, 6)):
        place = source.randrange(len(text) + 1)
        end = min(len(text), place + source.randint(1, 12))
        change = source.randrange(5)
        if change == 0:
            text = text[:place] + source.choice(PIECES) * source.choice((1, 1, 1, 2, 50)) + text[place:]
        elif change == 1:
            text = text[:place] + text[end:]
        elif change == 2:
            text = text[:end] + text[place:end] * source.choice((1, 2, 30)) + text[end:]
        elif change == 3:
            text = text[:place] + source.choice(corpus)[place:]
        else:
            text = (
                text[:place]
                + chr(source.choice((source.randrange(128), source.randrange(0x3000))))
                + text[end:]
            )
        text = text[:LONGEST]
    return text


class Broken(Exception):
    """A property does not hold for an input."""


def hold(condition: bool, what: str) -> None:
    if not condition:
        raise Broken(what)


def judge(command: str) -> tuple[Verdict, bool]:
    report = judge_command(command, cwd="/srv/work/project", home="/home/user", env={})
    return report.verdict, report.complete


def shell(text: str, source: random.Random) -> None:
    verdict, complete = judge(text)
    hold(complete or verdict is not Verdict.ALLOW, "an incomplete analysis is allowed")
    if source.randrange(4) == 0:
        prefixed, _ = judge("true; " + text)
        hold(prefixed.strictness >= verdict.strictness, f"`true; ` lowers {verdict} to {prefixed}")


def oracle(text: str, source: random.Random) -> None:
    program = find_shfmt()
    if program is None or "\0" in text or shfmt_tree(program, text) is None:
        return
    verdict, complete = judge(text)
    hold(complete or verdict is not Verdict.ALLOW, "shfmt parses it, we neither do nor ask")


def secrets(text: str, source: random.Random) -> None:
    place = source.randrange(len(text) + 1)
    once = MASK.mask(f"{text[:place]} {KNOWN} {text[place:]}")
    hold(KNOWN not in once, "a known value survives")
    MASK.mask_known(text)


def memory(text: str, source: random.Random) -> None:
    found = scan_memory(text, "content")
    if found and source.randrange(4) == 0:
        hold(bool(scan_memory("The cat is grey. " + text, "content")), "a fact before it lets an order in")


def split(text: str, source: random.Random) -> None:
    limit, unit = source.randint(4, 200), source.choice(list(LengthUnit))
    parts = split_markdown(text, limit, unit)
    hold(join_parts(parts) == text, "the parts do not join to the text")
    hold(all(0 < measure(part, unit) <= limit for part in parts), "a part does not fit")


def card(text: str, source: random.Random) -> None:
    channel = source.choice(("any", "cli", "web", "slack", "discord", "telegram"))
    args = {
        "command": text,
        "env": {text[:20]: text[20:40]},
        "n": source.choice((1, True, "1", None, [text[:9]])),
    }
    row = {"id": "fuzz", "tool": source.choice(("exec", text[:30])), "args": args, "channel": channel}
    shown = str(run_card_case(row | {"requester": text[:40]})["visible"])
    hold(not any(is_hidden(char) for char in shown if char != "\n"), f"a hidden character on {channel}")


def network(text: str, source: random.Random) -> None:
    parse_url(text)


@dataclass(slots=True)
class Tally:
    """What one target did so far."""

    runs: int = 0
    seconds: float = 0.0
    slowest: tuple[float, str] = (0.0, "")
    faults: dict[str, str] = field(default_factory=dict)


Target = tuple[Callable[[str, random.Random], None], list[str], float]


def targets() -> dict[str, Target]:
    """Each with its corpus and its share of the time."""
    commands = texts("shell*.jsonl", "command")
    secret = texts("secrets*.b64", "text")
    notes = texts("memory*.jsonl", "text")
    urls = texts("net*.jsonl", "url")
    return {
        "shell": (shell, commands, 0.3),
        "oracle": (oracle, commands, 0.1),
        "secrets": (secrets, secret + commands, 0.15),
        "memory": (memory, notes + secret, 0.15),
        "split": (split, notes + secret + commands, 0.1),
        "card": (card, commands + notes, 0.15),
        "network": (network, urls, 0.05),
    }


def run(target: Target, seconds: float, source: random.Random) -> Tally:
    check, corpus, _ = target
    tally = Tally()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        text = mutated(source, corpus)
        started = time.perf_counter()
        try:
            check(text, source)
        except Exception as error:  # noqa: BLE001 - finding what escapes is what this program is for
            tally.faults.setdefault(f"{type(error).__name__}: {error}"[:160], text)
        took = time.perf_counter() - started
        tally.runs += 1
        tally.seconds += took
        if took > tally.slowest[0]:
            tally.slowest = (took, text)
    return tally


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    reader.add_argument("seconds", type=float, help="how long to run, all targets together")
    reader.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    reader.add_argument("--only", choices=sorted(targets()), help="this target alone")
    options = reader.parse_args()
    print(f"seed {options.seed}")
    faults = 0
    for name, target in targets().items():
        if options.only not in (None, name) or (name == "oracle" and find_shfmt() is None):
            continue
        share = 1.0 if options.only else target[2]
        tally = run(target, options.seconds * share, random.Random(f"{options.seed}{name}"))
        report(name, tally)
        faults += len(tally.faults)
    return 1 if faults else 0


def report(name: str, tally: Tally) -> None:
    took, text = tally.slowest
    speed = tally.runs / max(tally.seconds, 1e-9)
    print(f"{name:8s} {tally.runs:8d} runs {speed:8.0f}/s   slowest {took * 1e3:6.1f} ms", end=" ")
    print(f"({len(text)} characters: {text[:40]!a})   faults {len(tally.faults)}", flush=True)
    for fault, culprit in tally.faults.items():
        print(f"  {fault}\n    {culprit!a}")


if __name__ == "__main__":
    sys.exit(main())
