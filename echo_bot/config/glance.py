"""Where the bot's state is, told by the configuration without checking all of it.

Checking takes the whole model, and that takes longer than a verb that only looks may take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from echo_bot.config.finding import find_config, read_config
from echo_bot.config.fingerprint import environment_digest, file_digest
from echo_bot.config.places import absolute, database_url_in, state_folder
from echo_bot.config.variables import config_variables
from echo_bot.errors import ConfigError

_PLACES = ("data_dir", "storage.url")
_SAY_NOTHING_ELSE = frozenset({*_PLACES, "workspace", "gateway.host", "gateway.port"})


@dataclass(frozen=True, slots=True)
class Glance:
    """`is_plain`: nothing but places is configured, so that everywhere else the defaults hold."""

    file: Path | None
    file_digest: str
    environment_digest: str
    database_url: str
    is_plain: bool


def glance(path: Path | None, environ: Mapping[str, str]) -> Glance:
    """Raises ConfigError for a file that cannot be read, or that holds no text where a place belongs."""
    file = find_config(path, environ)
    content = read_config(file) if file else b""
    variables = {".".join(each.path): each.text for each in config_variables(environ)}
    places = (_places_in(content, file) if file else {}) | {
        key: text for key, text in variables.items() if key in _PLACES
    }
    return Glance(
        file=file,
        file_digest=file_digest(content) if file else "",
        environment_digest=environment_digest(environ),
        database_url=places.get("storage.url") or database_url_in(state_folder(places.get("data_dir", ""))),
        is_plain=file is None and _is_plain(variables),
    )


def _places_in(content: bytes, file: Path) -> dict[str, str]:
    """The places in a file. One that names none of them, nor could in other letters, is not parsed."""
    if not any(word in content for word in (b"data_dir", b"storage", b"\\")):
        return {}
    from echo_bot.config.yaml_tree import parse_yaml

    tree = parse_yaml(content.decode("utf-8-sig", errors="replace"), str(file))
    storage = tree.values.get("storage")
    found = {
        "data_dir": tree.values.get("data_dir"),
        "storage.url": storage.get("url") if isinstance(storage, Mapping) else None,
    }
    for key, value in found.items():
        if value is not None and not isinstance(value, str):
            line = tree.line_of(tuple(key.split(".")))
            raise ConfigError("must be text; put it in quotes", file=str(file), line=line, key=key)
    return {key: value for key, value in found.items() if isinstance(value, str)}


def _is_plain(variables: Mapping[str, str]) -> bool:
    port = variables.get("gateway.port", "0")
    workspace = absolute(variables.get("workspace", "") or ".")
    return (
        variables.keys() <= _SAY_NOTHING_ELSE
        and port.isdecimal()
        and int(port) <= 65535
        and workspace not in (Path(workspace.anchor), Path.home())
    )
