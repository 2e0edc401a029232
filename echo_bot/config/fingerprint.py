"""Is this still the same configuration? Digests of its file and of the variables that add to it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from echo_bot.config.variables import config_variables

_HIDDEN = ("token", "tokens", "secret", "key", "password", "url", "proxy")
"""Ends of keys whose values may be secret: of these the digest says only that they are set."""


def file_digest(content: bytes) -> str:
    """A configuration file by its content."""
    return hashlib.sha256(content).hexdigest()


def environment_digest(environ: Mapping[str, str]) -> str:
    """What the environment adds to the file. No secret can be guessed from it."""
    found = {each.path: each.text for each in config_variables(environ)}
    shown = [
        [".".join(path), bool(text) if path[-1].endswith(_HIDDEN) else text]
        for path, text in sorted(found.items())
    ]
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()
