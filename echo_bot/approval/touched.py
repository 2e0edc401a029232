"""Which paths a call names, and what the path policy says of them. Opens nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from echo_bot.files import resolve
from echo_bot.files.patches import PatchError, parse_patch
from echo_bot.policy.call import Arguments, JsonValue
from echo_bot.policy.decision import Finding
from echo_bot.policy.guards.paths import Operation, PathRules, judge_path

_IS_URL = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True, slots=True)
class TouchedPath:
    """A path that a call will use, and the argument that names it."""

    path: str
    operation: Operation
    field: str


def is_url(text: str) -> bool:
    """Is this argument an address rather than a path or an id? Tools that take either ask this too."""
    return _IS_URL.match(text) is not None


def judge_paths(tool: str, args: Arguments, cwd: str, rules: PathRules, spill: str) -> tuple[Finding, ...]:
    """The path policy's findings on a call, each once, in the order of its paths.

    Spilled results lie in the bot's own state; `read_spill` itself opens only those of its own scope.
    """
    found: dict[Finding, None] = {}
    for touched in touched_paths(tool, args):
        resolved = resolve(touched.path, cwd)
        if tool == "read_spill" and spill and resolve(touched.path, spill).real.startswith(f"{spill}/"):
            continue
        for finding in judge_path(resolved, touched.operation, rules):
            found[replace(finding, field=touched.field)] = None
    return tuple(found)


def touched_paths(tool: str, args: Arguments) -> tuple[TouchedPath, ...]:
    """Every path a call names. A patch that cannot be read names none: the tool refuses it."""
    return tuple(_touched(tool, args))


def _touched(tool: str, args: Arguments) -> Iterator[TouchedPath]:
    match tool:
        case "read_file" | "read_spill":
            yield from _named("path", args.get("path"), "read")
        case "list_dir" | "search_files":
            yield from _named("path", args.get("path", "."), "list")
        case "write_file" | "edit_file":
            yield from _named("path", args.get("path"), "write")
        case "patch":
            yield from _patched(str(args.get("patch", "")), str(args.get("path", "")))
        case "knowledge_index":
            yield from _named("paths", args.get("paths"), "list")
        case "message" | "notify":
            yield from _named("files", args.get("files"), "read")
        case "vision_analyze" if not is_url(str(args.get("image", ""))):
            yield from _named("image", args.get("image"), "read")
        case "skill_install" if args.get("source") == "local":
            yield from _named("location", args.get("location"), "list")
        case _:
            return


def _named(field: str, value: JsonValue, operation: Operation) -> Iterator[TouchedPath]:
    for path in value if isinstance(value, list) else [value]:
        if isinstance(path, str):
            yield TouchedPath(path, operation, field)


def _patched(patch: str, path: str) -> Iterator[TouchedPath]:
    try:
        changes = parse_patch(patch, path)
    except PatchError:
        return
    for change in changes:
        for name in change.paths:
            yield TouchedPath(name, "write", "path" if name == path else "patch")
