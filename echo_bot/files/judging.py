"""Judging a call: which paths its arguments name, and what the path policy says of them. Opens nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from echo_bot.files.patches import PatchError, parse_patch
from echo_bot.files.resolving import resolve
from echo_bot.policy.call import Arguments
from echo_bot.policy.decision import Finding
from echo_bot.policy.guards.paths import Operation, PathRules, judge_path


@dataclass(frozen=True, slots=True)
class TouchedPath:
    """A path that a call will use, and the argument that names it."""

    path: str
    operation: Operation
    field: str


def touched_paths(tool: str, args: Arguments) -> tuple[TouchedPath, ...]:
    """Every path a call names. A patch that cannot be read names none: the tool refuses it."""
    named = _NAMED.get(tool)
    return tuple(named(args)) if named else ()


def judge_call(tool: str, args: Arguments, cwd: str, rules: PathRules) -> tuple[Finding, ...]:
    """The path policy's findings on a call, each once, in the order of its paths."""
    found: dict[Finding, None] = {}
    for touched in touched_paths(tool, args):
        for finding in judge_path(resolve(touched.path, cwd), touched.operation, rules):
            found[replace(finding, field=touched.field)] = None
    return tuple(found)


def _one(field: str, operation: Operation, default: str = "") -> Callable[[Arguments], Iterator[TouchedPath]]:
    def named(args: Arguments) -> Iterator[TouchedPath]:
        path = args.get(field, default)
        if isinstance(path, str) and (path or field in args):
            yield TouchedPath(path, operation, field)

    return named


def _many(field: str, operation: Operation) -> Callable[[Arguments], Iterator[TouchedPath]]:
    def named(args: Arguments) -> Iterator[TouchedPath]:
        paths = args.get(field)
        for path in paths if isinstance(paths, list) else []:
            if isinstance(path, str):
                yield TouchedPath(path, operation, field)

    return named


def _patched(args: Arguments) -> Iterator[TouchedPath]:
    text, path = args.get("patch"), args.get("path", "")
    if not isinstance(text, str) or not isinstance(path, str):
        return
    try:
        changes = parse_patch(text, path)
    except PatchError:
        return
    for change in changes:
        for name in change.paths:
            yield TouchedPath(name, "write", "path" if name == path else "patch")


def _image(args: Arguments) -> Iterator[TouchedPath]:
    image = args.get("image")
    if isinstance(image, str) and "://" not in image:
        yield TouchedPath(image, "read", "image")


_NAMED: Mapping[str, Callable[[Arguments], Iterator[TouchedPath]]] = {
    "read_file": _one("path", "read"),
    "list_dir": _one("path", "list"),
    "search_files": _one("path", "list", default="."),
    "write_file": _one("path", "write"),
    "edit_file": _one("path", "write"),
    "patch": _patched,
    "message": _many("files", "read"),
    "notify": _many("files", "read"),
    "vision_analyze": _image,
    "knowledge_index": _many("paths", "list"),
}
