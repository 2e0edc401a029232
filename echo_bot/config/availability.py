"""Keys whose feature does not exist yet: setting one refuses the start, rather than being ignored."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from echo_bot.config.model import Config

LATER_KEYS = ("observability.metrics", "observability.otel_endpoint")
"""Keys and whole sections that must stay at their defaults."""

NOT_AVAILABLE = "is not available in this version; remove the key"


def is_later(key: str) -> bool:
    """Does this dotted key, or a section around it, belong to a part that does not exist yet?"""
    return any(f"{key}.".startswith(f"{later}.") for later in LATER_KEYS)


def unavailable(config: Config) -> tuple[str, ...]:
    """Every such key that differs from its default."""
    return (*_keys(config), *_storage(config))


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


def _storage(config: Config) -> Iterator[str]:
    url = config.storage.url.get_secret_value()
    if url and not url.startswith("sqlite"):
        yield "storage.url"
