"""Keys whose feature does not exist yet: setting one refuses the start, rather than being ignored."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pydantic import BaseModel

from echo_bot.config.channels import accounts, is_enabled, sections
from echo_bot.config.model import Config

LATER_KEYS = ("observability.metrics", "observability.otel_endpoint")
"""Keys and whole sections that must stay at their defaults."""

LATER_CHANNELS: tuple[str, ...] = ()


NOT_AVAILABLE = "is not available in this version; remove the key"


def is_later(key: str) -> bool:
    """Does this dotted key, or a section around it, belong to a part that does not exist yet?"""
    of_later_channel = key.startswith(tuple(f"channels.{name}" for name in LATER_CHANNELS))
    return of_later_channel or any(f"{key}.".startswith(f"{later}.") for later in LATER_KEYS)


def unavailable(config: Config) -> tuple[str, ...]:
    """Every such key that differs from its default."""
    questions: tuple[Callable[[Config], Iterator[str]], ...] = (_keys, _channels, _storage)
    return tuple(key for question in questions for key in question(config))


def _keys(config: Config) -> Iterator[str]:
    for key in LATER_KEYS:
        yield from changed(config, type(config)(), key)


def changed(config: BaseModel, default: BaseModel, key: str) -> Iterator[str]:
    """The keys at or below a dotted key whose values are not the default's."""
    value, usual = value_at(config, key), value_at(default, key)
    if isinstance(value, BaseModel) and isinstance(usual, BaseModel):
        for name in type(value).model_fields:
            yield from (f"{key}.{inner}" for inner in changed(value, usual, name))
    elif value != usual:
        yield key


def value_at(section: BaseModel, key: str) -> object:
    """The value of a dotted key."""
    value: object = section
    for part in key.split("."):
        value = getattr(value, part)
    return value


def _channels(config: Config) -> Iterator[str]:
    for name, section in sections(config.channels).items():
        for account_name, account in accounts(section).items():
            key = f"channels.{name}" + (f".accounts.{account_name}" if account_name else "")
            if name in LATER_CHANNELS and is_enabled(account):
                yield f"{key}.enabled"


def _storage(config: Config) -> Iterator[str]:
    url = config.storage.url.get_secret_value()
    if url and not url.startswith("sqlite"):
        yield "storage.url"
