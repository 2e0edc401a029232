"""shfmt as a second opinion on shell syntax: does it parse, and which plain words has each simple command?"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_SPECIAL = re.compile(r"[{}~*?\[\]!^]|[@+]\(")
"""What bash may expand without a `$`: such words are compared by nobody."""

_IN_QUOTES = re.compile(r"\\([$`\"\\])|\\\n")
_OUTSIDE = re.compile(r"\\\n|\\(.)", re.DOTALL)

JsonNode = dict[str, "JsonNode | list[JsonNode] | str | int | bool | None"]


def find_shfmt() -> str | None:
    """The program beside the running interpreter, or on the PATH; None where it is not installed."""
    beside = Path(sys.executable).with_name("shfmt")
    return str(beside) if beside.exists() else shutil.which("shfmt")


def shfmt_tree(program: str, command: str) -> JsonNode | None:
    """The syntax tree of `command` read as bash; None when shfmt refuses it."""
    done = subprocess.run(
        [program, "--to-json", "-ln", "bash"],
        input=command.encode("utf-8", "surrogatepass"),
        capture_output=True,
        timeout=30,
        check=False,
    )
    if done.returncode != 0:
        return None
    tree = json.loads(done.stdout)
    return tree if isinstance(tree, dict) else None


def plain_commands(tree: JsonNode) -> Iterator[tuple[str, ...]]:
    """The words of every simple command outside substitutions whose words are all plain text."""
    for call in _calls(tree):
        args = call.get("Args")
        if not isinstance(args, list):
            continue
        words = [_static(word) for word in args]
        if words and all(word is not None for word in words):
            yield tuple(word for word in words if word is not None)


def _calls(node: JsonNode) -> Iterator[JsonNode]:
    kind = node.get("Type")
    if kind in ("CmdSubst", "ProcSubst"):
        return
    if kind == "CallExpr":
        yield node
    for value in node.values():
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, dict):
                yield from _calls(child)


def _static(word: JsonNode) -> str | None:
    parts = word.get("Parts")
    if not isinstance(parts, list):
        return ""
    texts = [_part(part) for part in parts]
    return None if None in texts else "".join(text for text in texts if text is not None)


def _part(part: JsonNode) -> str | None:
    kind, value = part.get("Type"), part.get("Value", "")
    if kind == "Lit" and isinstance(value, str) and not _SPECIAL.search(value):
        return _OUTSIDE.sub(lambda found: found[1] or "", value)
    if kind == "SglQuoted" and not part.get("Dollar"):
        return str(value)
    if kind == "DblQuoted" and not part.get("Dollar"):
        return _quoted(part)
    return None


def _quoted(part: JsonNode) -> str | None:
    parts = part.get("Parts") or []
    if not isinstance(parts, list):
        return None
    pieces: list[str] = []
    for inner in parts:
        value = inner.get("Value", "")
        if inner.get("Type") != "Lit" or not isinstance(value, str):
            return None
        pieces.append(_IN_QUOTES.sub(lambda found: found[1] or "", value))
    return "".join(pieces)
