"""Answers path-policy cases in a throwaway folder: `echo-bot guard path --cases` and the tests use it.

A case describes a small tree, an operation and perhaps a swap between decision and opening. Cases whose path
leads outside the throwaway folder are decided only, never carried out.
"""

from __future__ import annotations

import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from echo_bot.files import Admitted, FileDoor, FileRefusal, real_rules
from echo_bot.policy.call import JsonValue
from echo_bot.policy.decision import Verdict, strictest
from echo_bot.policy.guards.paths import Operation, PathRules, judge_path
from echo_bot.policy.guards.sensitive_names import is_within

Row = Mapping[str, JsonValue]
Answer = dict[str, JsonValue]
PathVerdict = Literal["allow", "ask", "deny", "not_found"]


def run_path_case(row: Row) -> Answer:
    """One case in, one answer out: `{"id", "verdict"}` and `invariant_ok` where the case names invariants."""
    place = os.path.realpath(tempfile.mkdtemp(prefix="path-case-"))
    try:
        case = _Case(place, cast("Row", _fill_in(dict(row), place)))
        return {"id": row.get("id"), **case.run()}
    finally:
        shutil.rmtree(place, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Case:
    place: str
    row: Row

    def run(self) -> Answer:
        for name in ("ws", "home", "outside", "state"):
            os.makedirs(os.path.join(self.place, name), exist_ok=True)
        for item in _rows(self.row.get("setup")):
            _set_up(item)
        before = self._snapshot()
        door = FileDoor(real_rules(self._rules()))
        verdict, read = self._act(door)
        answer: Answer = {"verdict": verdict}
        if self.row.get("swap_after_check") or before or self.row.get("must_not_reveal"):
            marker = self._text("must_not_reveal")
            answer["invariant_ok"] = self._snapshot() == before and not (marker and marker.encode() in read)
        return answer

    def _act(self, door: FileDoor) -> tuple[PathVerdict, bytes]:
        operation = cast("Operation", self._text("op"))
        admitted = door.admit(self._text("path"), self._text("cwd"), operation)
        if isinstance(admitted, FileRefusal):
            return "deny", b""
        findings = judge_path(admitted.path, operation, door.rules)
        verdict: PathVerdict = "ask" if strictest(findings) is Verdict.ASK else "allow"
        if not is_within(admitted.path.real, self.place):
            return verdict, b""
        self._swap()
        refusal, read = self._carry_out(door, admitted)
        if refusal is None:
            return verdict, read
        return ("not_found" if refusal.kind == "not_found" else "deny"), read

    def _carry_out(self, door: FileDoor, admitted: Admitted) -> tuple[FileRefusal | None, bytes]:
        if admitted.operation == "write":
            written = door.write(admitted, b"x\n")
            return (written if isinstance(written, FileRefusal) else None), b""
        if admitted.operation == "list":
            listing = door.entries(admitted)
            return (listing if isinstance(listing, FileRefusal) else None), b""
        content = door.read(admitted)
        return (content, b"") if isinstance(content, FileRefusal) else (None, content.data)

    def _swap(self) -> None:
        swap = self.row.get("swap_after_check")
        if isinstance(swap, dict):
            path = str(swap["path"])
            if os.path.lexists(path):
                os.rename(path, f"{path}.moved-aside")
            os.symlink(str(swap["to_symlink"]), path)

    def _rules(self) -> PathRules:
        protected = [str(path) for path in _list(self.row.get("protected"))]
        skills = [path for path in protected if os.path.basename(path) == "skills"]
        return PathRules(
            workspace=self._text("workspace"),
            restrict_to_workspace=self.row.get("restrict_to_workspace") is True,
            safe_write_root=self._text("safe_write_root"),
            home=self._text("home") or os.path.join(self.place, "home"),
            protected=tuple(path for path in protected if path not in skills),
            protected_write=tuple(skills),
        )

    def _snapshot(self) -> dict[str, object]:
        return {str(path): _content(str(path)) for path in _list(self.row.get("must_not_change"))}

    def _text(self, name: str) -> str:
        value = self.row.get(name)
        return value if isinstance(value, str) else ""


def _fill_in(value: JsonValue, place: str) -> JsonValue:
    if isinstance(value, str):
        return value.replace("{tmp}", place)
    if isinstance(value, list):
        return [_fill_in(item, place) for item in value]
    if isinstance(value, dict):
        return {name: _fill_in(item, place) for name, item in value.items()}
    return value


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _rows(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [item for item in _list(value) if isinstance(item, dict)]


def _set_up(item: dict[str, JsonValue]) -> None:
    kind, path = str(item["type"]), str(item["path"])
    if kind == "dir":
        os.makedirs(path, exist_ok=True)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    match kind:
        case "file":
            with open(path, "w", encoding="utf-8") as file:
                file.write(str(item.get("content", "")))
        case "symlink":
            os.symlink(str(item["target"]), path)
        case "hardlink":
            os.link(str(item["target"]), path)
        case "fifo":
            os.mkfifo(path)
        case "socket":
            _bind(path)
        case _:
            raise ValueError(f"a case's setup has the unknown type {kind!r}")


def _bind(path: str) -> None:
    """Leave a socket file. Bound by a short relative name: a socket's address holds some 100 bytes only."""
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
    finally:
        os.close(folder)


def _content(path: str) -> object:
    """What lies at a path, deep enough to see any change; links are not followed."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return None
    if stat.S_ISLNK(mode):
        return ("link", os.readlink(path))
    if stat.S_ISDIR(mode):
        return {name: _content(os.path.join(path, name)) for name in sorted(os.listdir(path))}
    if not stat.S_ISREG(mode):
        return ("special", mode)
    with open(path, "rb") as file:
        return file.read()
