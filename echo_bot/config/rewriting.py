"""Changing single keys of a configuration file; its comments, order and everything else stay as they are."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedSeq
from ruamel.yaml.error import YAMLError

from echo_bot.config.yaml_tree import parse_yaml
from echo_bot.errors import ConfigError

_LONGEST_LINE = 4096


def with_keys(text: str, values: Mapping[str, object], file: str) -> str:
    """The document with these dotted keys set, and lists that grow keep what stands beside their items.

    Raises ConfigError where a key's section is no section, or stands under another key too by an alias.
    """
    before = parse_yaml(text, file).values
    ends_in_returns = "\r\n" in text
    text = text.replace("\r\n", "\n")
    yaml = _round_trip()
    try:
        document: Any = yaml.load(text)
    except YAMLError as error:
        raise ConfigError(f"cannot be changed: {' '.join(str(error).split())}", file=file) from None
    comment_only = document is None and text.strip()
    root: Any = {} if document is None else document
    for key, value in values.items():
        _set(root, key, value, file)
    written = StringIO()
    yaml.dump(root, written)
    changed = f"{text.rstrip()}\n{written.getvalue()}" if comment_only else written.getvalue()
    if _comparable(parse_yaml(changed, file).values) != _comparable(_wanted(before, values)):
        raise ConfigError(
            f"{', '.join(values)} cannot be set alone, since an alias gives other keys the same value; "
            "write them by hand",
            file=file,
        )
    return changed.replace("\n", "\r\n") if ends_in_returns else changed


def _comparable(value: object) -> object:
    """An id in a list is the same with and without quotes."""
    if isinstance(value, Mapping):
        return {key: _comparable(below) for key, below in value.items()}
    return [str(item) for item in value] if isinstance(value, list) else value


def value_in(values: Mapping[str, object], key: str) -> object:
    """The value of a dotted key; None when it is not there."""
    found: object = values
    for name in key.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def replace_file(path: Path, text: str) -> None:
    """Write all of it or nothing; the file keeps its mode, a new one is the owner's alone. Raises OSError."""
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def require_replaceable(path: Path) -> None:
    """Try what `replace_file` needs: a new file beside the present one. Leaves nothing. Raises OSError."""
    folder = path.resolve().parent
    while not folder.exists():
        folder = folder.parent
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{path.name}.")
    os.close(handle)
    Path(name).unlink()


def _set(root: Any, key: str, value: object, file: str) -> None:
    *sections, last = key.split(".")
    section = root
    for name in sections:
        if section.get(name) is None:
            section[name] = {}
        section = section[name]
        if not isinstance(section, dict):
            raise ConfigError("is not a section, so nothing can be set in it", file=file, key=name)
    present = section.get(last)
    if (more := _growth(present, value)) is None:
        section[last] = value
    elif more:
        present.extend(more)


def _growth(present: object, value: object) -> list[object] | None:
    """What a list of its own gets beside the items that it has; None where it is to be another value."""
    if not (isinstance(present, CommentedSeq) and isinstance(value, list)) or present.yaml_anchor():
        return None
    return value[len(present) :] if value[: len(present)] == [str(item) for item in present] else None


def _wanted(before: Mapping[str, object], values: Mapping[str, object]) -> Mapping[str, object]:
    wanted = before
    for key, value in values.items():
        wanted = _with(wanted, tuple(key.split(".")), value)
    return wanted


def _with(values: object, path: tuple[str, ...], value: object) -> Mapping[str, object]:
    present: Mapping[str, object] = values if isinstance(values, Mapping) else {}
    head, rest = path[0], path[1:]
    return {**present, head: _with(present.get(head), rest, value) if rest else value}


def without_keys(text: str, keys: Iterable[str], file: str) -> str:
    """The document without these dotted keys. Raises ConfigError where one cannot be taken out alone.

    A key on a line of its own goes with its line. Any other is taken out of the document, and a comment that
    hangs on it goes too.
    """
    for key in keys:
        path = tuple(key.split("."))
        tree = parse_yaml(text, file)
        if value_in(tree.values, key) is None:
            continue
        wanted = _without(tree.values, path)
        lines = text.splitlines(keepends=True)
        line = tree.line_of(path)
        shorter = "".join((*lines[: line - 1], *lines[line:]))
        found = next(
            (each for each in (shorter, _taken_out(text, path)) if _values_of(each, file) == wanted), None
        )
        if found is None:
            raise ConfigError(
                "cannot be taken out by itself; remove it by hand", file=file, line=line, key=key
            )
        text = found
    return text


def _values_of(text: str, file: str) -> Mapping[str, object] | None:
    """The values without sections that hold nothing; None for text that is no document."""
    try:
        return _without_empty(parse_yaml(text, file).values)
    except ConfigError:
        return None


def _without(values: Mapping[str, object], path: tuple[str, ...]) -> Mapping[str, object]:
    head, rest = path[0], path[1:]
    below = values[head]
    kept = {name: value for name, value in values.items() if name != head or rest}
    if rest and isinstance(below, Mapping):
        kept[head] = _without(below, rest)
    return _without_empty(kept)


def _without_empty(values: Mapping[str, object]) -> Mapping[str, object]:
    """A section with nothing below it says nothing."""
    below = {
        name: _without_empty(value) if isinstance(value, Mapping) else value for name, value in values.items()
    }
    return {name: value for name, value in below.items() if value not in (None, {})}


def _taken_out(text: str, path: tuple[str, ...]) -> str:
    yaml = _round_trip()
    document: Any = yaml.load(text)
    section = document
    for name in path[:-1]:
        section = section[name]
    del section[path[-1]]
    written = StringIO()
    yaml.dump(document, written)
    return written.getvalue()


def _round_trip() -> YAML:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = _LONGEST_LINE
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml
