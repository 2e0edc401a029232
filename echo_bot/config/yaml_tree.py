"""YAML 1.2 text as plain values, with the line of every key, so that an error can point at it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from echo_bot.config.written import WrittenInt
from echo_bot.errors import ConfigError

Path = tuple[str | int, ...]


_HINTS = {
    r"found character '\t'": ": YAML is indented with blanks, never with tabs",
    "mapping values are not allowed here": ": is the line indented as the keys beside it? A value with a "
    "colon and a blank after it needs quotes",
    "did not find expected key": ": is the line indented as the keys beside it?",
    "expected <block end>": ": is the line indented as the keys beside it?",
}


@dataclass(frozen=True, slots=True)
class Tree:
    """A document: plain values, and for each path the line (from 1) on which its key or item stands."""

    values: Mapping[str, object]
    lines: Mapping[Path, int]

    def line_of(self, path: Path) -> int:
        """The line of a path, or of the nearest part of the document around it; 0 when there is none."""
        return next((self.lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.lines), 0)


def parse_yaml(text: str, file: str) -> Tree:
    """Read one document. Raises ConfigError with the line of what is wrong."""
    try:
        node = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(f"{error.context or ''} {error.problem or 'cannot be read'}".split())
        reason += next((hint for said, hint in _HINTS.items() if said in reason), "")
        raise ConfigError(f"not valid YAML: {reason}", file=file, line=mark.line + 1 if mark else 0) from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"not valid YAML: {' '.join(str(error).split())}", file=file) from None
    reader = _Reader(file)
    values = {} if node is None else reader.value(node, ())
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise ConfigError("the file must hold keys and values, such as `workspace: …`", file=file, line=1)
    return Tree(values, reader.lines)


class _Reader:
    """Walks the nodes of one document."""

    def __init__(self, file: str) -> None:
        self.lines: dict[Path, int] = {}
        self._file = file
        self._open: list[int] = []

    def value(self, node: Node, path: Path) -> object:
        if id(node) in self._open:
            raise self._error("an alias stands inside its own anchor", node, path)
        self._open.append(id(node))
        try:
            match node:
                case MappingNode():
                    return self._mapping(node, path)
                case SequenceNode():
                    return self._sequence(node, path)
                case ScalarNode():
                    return self._scalar(node, path)
                case _:
                    raise self._error("this form of YAML is not understood", node, path)
        finally:
            self._open.pop()

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, object]:
        values: dict[str, object] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                raise self._error("a key must be a plain word", key_node, path)
            key = str(key_node.value)
            if key in values:
                raise self._error("the key stands here twice", key_node, (*path, key))
            self.lines[(*path, key)] = key_node.start_mark.line + 1
            values[key] = self.value(value_node, (*path, key))
        return values

    def _sequence(self, node: SequenceNode, path: Path) -> list[object]:
        for index, item in enumerate(node.value):
            self.lines[(*path, index)] = item.start_mark.line + 1
        return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]

    def _scalar(self, node: ScalarNode, path: Path) -> object:
        text = str(node.value)
        match str(node.ctag).rpartition(":")[2]:
            case "str" | "timestamp":
                return text
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int":
                return WrittenInt(text)
            case "float":
                return _number(text)
            case tag:
                raise self._error(f"the tag {tag!r} is not understood", node, path)

    def _error(self, reason: str, node: Node, path: Path) -> ConfigError:
        key = ".".join(str(part) for part in path)
        return ConfigError(reason, file=self._file, line=node.start_mark.line + 1, key=key)


def _number(text: str) -> float:
    special = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}
    return special[text.lower()] if text.lower() in special else float(text.replace("_", ""))
