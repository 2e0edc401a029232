"""Which configured values are credentials, and when they need a key before the bot may start."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr

from echo_bot.config.key_variable import empty_hint, make_key
from echo_bot.config.model import Config

_ADDRESSES = ("url", "proxy")
"""Secret-typed keys that are addresses: a credential only when they carry a password."""

_MCP_VARIABLE = re.compile(r"tools\.mcp_servers\.[^.]+\.env\.")
_TELLING_NAME = re.compile(
    r"token|secret|passw|pwd|auth|cred|key|cookie|signature|bearer|(?:^|_)pat(?:_|$)", re.IGNORECASE
)

_VERIFIERS = ("gateway.api_tokens.", "gateway.admin_tokens.")
"""What others prove themselves with: the bot needs no more than a hash, so there is nothing to encrypt."""


def credential_keys(config: Config) -> tuple[str, ...]:
    """The dotted keys of every credential that is set, wherever it came from."""
    return tuple(key for key, value in secret_values(config).items() if _is_credential(key, value))


def secret_values(config: Config) -> Mapping[str, str]:
    """Every hidden value that is set, by dotted key: what must be masked wherever text leaves the bot."""
    return {key: value for key, value in _secrets(config, "") if value and not _is_plain(key, value)}


def missing_key(
    config: Config, has_key: bool, from_yaml: tuple[str, ...], *, empty: tuple[str, ...] = ()
) -> str:
    """Why the start is refused for want of a key, or "". Values from the environment need none.

    `empty` are the variables for a key that hold nothing.
    """
    if has_key or not config.credentials.require_encryption or not from_yaml:
        return ""
    return (
        f"{from_yaml[0]} holds a credential and no key is set to encrypt it{empty_hint(empty)}; "
        f"set the one you keep, or make one: {make_key()} (and keep it), or give the value by environment: "
        f"{environment_name(from_yaml[0])}"
    )


def environment_name(key: str) -> str:
    """The variable that sets a dotted key."""
    return "ECHO_BOT_" + key.upper().replace(".", "__")


def _is_credential(key: str, value: str) -> bool:
    if key.startswith(_VERIFIERS):
        return False
    if key.rpartition(".")[2] not in _ADDRESSES:
        return True
    try:
        return bool(urlsplit(value).password)
    except ValueError:
        return True


def _is_plain(key: str, value: str) -> bool:
    """A variable of an MCP server that is no secret by name or look, as NODE_ENV: production."""
    if not _MCP_VARIABLE.match(key):
        return False
    name = key.rpartition(".")[2]
    if _TELLING_NAME.search(name):
        return False
    from echo_bot.policy.guards.secrets import SecretMask

    return SecretMask(()).mask(f"{name}={value}") == f"{name}={value}"


def _secrets(value: object, key: str) -> Iterator[tuple[str, str]]:
    match value:
        case SecretStr():
            yield key, value.get_secret_value()
        case BaseModel():
            for name in type(value).model_fields:
                yield from _secrets(getattr(value, name), f"{key}.{name}" if key else name)
        case Mapping():
            for name, inner in value.items():
                yield from _secrets(inner, f"{key}.{name}")
        case tuple():
            for index, inner in enumerate(value):
                yield from _secrets(inner, f"{key}.{index}")
        case _:
            return
