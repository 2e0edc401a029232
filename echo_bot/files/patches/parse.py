"""Reading a patch of either form."""

from __future__ import annotations

from echo_bot.files.patches.model import FileChange, PatchError
from echo_bot.files.patches.unified import UnifiedPatch
from echo_bot.files.patches.v4a import V4A_FILE, V4APatch


def parse_patch(text: str, path: str = "") -> tuple[FileChange, ...]:
    """All changes in order. `path` names the file of a bare hunk without a header. Raises PatchError."""
    lines = _without_fence(text.replace("\r\n", "\n").split("\n"))
    is_v4a = any(line.strip() == "*** Begin Patch" or V4A_FILE.match(line) for line in lines)
    changes = V4APatch(lines).parse() if is_v4a else UnifiedPatch(lines, path).parse()
    if not changes:
        raise PatchError("the patch changes no file; send a unified diff or a *** Begin Patch block")
    seen: set[str] = set()
    for change in changes:
        for name in change.paths:
            if name in seen:
                raise PatchError(f"the patch names {name} twice; put all its hunks under one header")
            seen.add(name)
    return tuple(changes)


def _without_fence(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines.pop()
    start = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines and lines[start].startswith("```") and lines[-1].strip() == "```":
        return lines[start + 1 : -1]
    return lines[start:]
