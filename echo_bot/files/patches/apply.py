"""Applying a file's hunks to its text by their context; line numbers are a hint only. Pure."""

from __future__ import annotations

from collections.abc import Callable

from echo_bot.files.patches.model import Hunk, PatchError


def apply_hunks(text: str, hunks: tuple[Hunk, ...], name: str) -> str:
    """The new text. Raises PatchError when a hunk fits nowhere or in several places."""
    lines, has_final_newline = _lines_of(text)
    cursor, shift = 0, 0
    for number, hunk in enumerate(hunks, 1):
        where = f"hunk {number} of {name}"
        start = _place(lines, hunk, cursor, shift, where)
        kept = _kept(lines, hunk, start)
        lines[start : start + len(hunk.old)] = kept
        cursor = start + len(kept)
        shift += len(kept) - len(hunk.old)
        if cursor == len(lines) and (not hunk.new_newline or not hunk.old_newline):
            has_final_newline = hunk.new_newline
    if not text and lines:
        has_final_newline = all(hunk.new_newline for hunk in hunks)
    return "\n".join(lines) + ("\n" if has_final_newline and lines else "")


def new_text(hunks: tuple[Hunk, ...]) -> str:
    """The text of an added file."""
    return apply_hunks(
        "", tuple(Hunk(hunk.lines, new_newline=hunk.new_newline) for hunk in hunks), "the new file"
    )


def _lines_of(text: str) -> tuple[list[str], bool]:
    if not text:
        return [], True
    ends = text.endswith("\n")
    return (text[:-1] if ends else text).split("\n"), ends


def _kept(lines: list[str], hunk: Hunk, start: int) -> list[str]:
    """The hunk's new side. Context stays as it is in the file, where its trailing blanks may differ."""
    kept, at = [], start
    for tag, text in hunk.lines:
        if tag == "+":
            kept.append(text)
            continue
        if tag == " ":
            kept.append(lines[at])
        at += 1
    return kept


def _place(lines: list[str], hunk: Hunk, cursor: int, shift: int, where: str) -> int:
    cursor = _after_anchors(lines, hunk, cursor, where)
    claimed = hunk.line - 1 + shift if hunk.line else -1
    if not hunk.old:
        return _insertion_place(lines, hunk, cursor, claimed)
    for same in (_same, _same_but_for_trailing_blanks):
        found = [
            at for at in range(cursor, len(lines) - len(hunk.old) + 1) if _fits(lines, hunk.old, at, same)
        ]
        if hunk.at_end:
            found = found[-1:]
        if claimed in found:
            return claimed
        if len(found) == 1 or (found and hunk.anchors):
            return found[0]
        if found:
            places = ", ".join(str(at + 1) for at in found[:5])
            raise PatchError(
                f"{where} fits in {len(found)} places (lines {places}); give more lines around it"
            )
    if any(tag == " " and not text for tag, text in hunk.lines[-1:]):
        # A blank last line is often the end of the message, not a line of the file.
        trimmed = Hunk(
            hunk.lines[:-1], hunk.line, hunk.anchors, hunk.at_end, hunk.old_newline, hunk.new_newline
        )
        return _place(lines, trimmed, cursor, shift, where)
    raise PatchError(f"{where} does not fit: the lines it expects are not there; read the file again")


def _insertion_place(lines: list[str], hunk: Hunk, cursor: int, claimed: int) -> int:
    if hunk.anchors:
        return cursor
    if claimed >= 0 and not hunk.at_end:
        return max(cursor, min(claimed, len(lines)))
    return len(lines)


def _after_anchors(lines: list[str], hunk: Hunk, cursor: int, where: str) -> int:
    for anchor in hunk.anchors:
        found = next(
            (at for at in range(cursor, len(lines)) if lines[at].strip() == anchor.strip()),
            next((at for at in range(cursor, len(lines)) if anchor.strip() in lines[at]), None),
        )
        if found is None:
            raise PatchError(f"{where}: no line after the previous hunk reads {anchor.strip()[:80]!r}")
        cursor = found + (anchor.strip() != (hunk.old or [""])[0].strip())
    return cursor


def _fits(lines: list[str], old: list[str], at: int, same: Callable[[str, str], bool]) -> bool:
    return all(same(lines[at + offset], text) for offset, text in enumerate(old))


def _same(one: str, other: str) -> bool:
    return one == other


def _same_but_for_trailing_blanks(one: str, other: str) -> bool:
    return one.rstrip() == other.rstrip()
