"""Changing single keys of a configuration file; its comments, order and everything else stay as they are."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from echo_bot.config.yaml_tree import parse_yaml
from echo_bot.errors import ConfigError

_LONGEST_LINE = 4096


def with_keys(text: str, values: Mapping[str, object], file: str) -> str:
    """The document with these dotted keys set. Raises ConfigError where a key's section is no section."""
    parse_yaml(text, file)
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = _LONGEST_LINE
    yaml.indent(mapping=2, sequence=4, offset=2)
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
    return f"{text.rstrip()}\n{written.getvalue()}" if comment_only else written.getvalue()


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


def _set(root: Any, key: str, value: object, file: str) -> None:
    *sections, last = key.split(".")
    section = root
    for name in sections:
        if section.get(name) is None:
            section[name] = {}
        section = section[name]
        if not isinstance(section, dict):
            raise ConfigError("is not a section, so nothing can be set in it", file=file, key=name)
    section[last] = value
