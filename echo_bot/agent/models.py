"""From a model's name to a pydantic-ai model, with a sentence for everything that can be missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from echo_bot.called import install_extra
from echo_bot.config.credentials import environment_name
from echo_bot.errors import StartError

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model

_HOME = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
}
"""Where the providers themselves are, by protocol, which is also the extra that brings its package."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """`name` is "provider:model". `base_url`: a server of that protocol; empty: the provider's own.

    `key_at` is the configuration key of `api_key`, `base_at` that of `base_url`; sentences name them.
    """

    name: str = ""
    protocol: str = "openai"
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    key_at: str = "models.api_key"
    base_at: str = "models.base_url"

    @property
    def provider(self) -> str:
        return self.name.partition(":")[0]

    @property
    def model(self) -> str:
        return self.name.partition(":")[2]


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """`client` is the one it uses, to be closed by whoever had it built."""

    model: Model
    client: httpx2.AsyncClient


def build_model(settings: ModelSettings, timeout_seconds: float = 120.0) -> BuiltModel:
    """Its HTTP client reaches the address of the provider and nothing else.

    Raises StartError: unknown protocol, a missing extra, a missing key, a bad address.
    """
    if settings.protocol not in _BUILDERS or not settings.provider or not settings.model:
        known = ", ".join(f"{each}:<model>" for each in _BUILDERS)
        raise StartError(f"there is no model {settings.name!r}; write one of {known}")
    try:
        base_url, client = _client(settings, timeout_seconds)
        return BuiltModel(_BUILDERS[settings.protocol](settings, base_url, client), client)
    except ImportError as error:
        raise StartError(
            f"the package for {settings.name} is not installed. {install_extra(settings.protocol)}"
        ) from error
    except Exception as error:  # what a library raises is open: the model cannot be used
        raise StartError(_why_not(settings, error)) from error


def _why_not(settings: ModelSettings, error: Exception) -> str:
    """The library's own sentences name settings of its own, and may repeat a value."""
    if not settings.api_key and type(error).__name__ == "UserError":
        return f"no key for {settings.name}: set {settings.key_at} ({environment_name(settings.key_at)})"
    return (
        f"the model {settings.name} cannot be used: {type(error).__name__}. "
        f"Check {settings.key_at} and {settings.base_at}"
    )


def _client(settings: ModelSettings, timeout_seconds: float) -> tuple[str, httpx2.AsyncClient]:
    from echo_bot.net.endpoint import endpoint_client

    base_url = settings.base_url or _HOME[settings.protocol]
    return base_url, endpoint_client(base_url, timeout_seconds)


def _openai(settings: ModelSettings, base_url: str, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if not settings.base_url:
        own = OpenAIProvider(
            base_url=base_url, api_key=settings.api_key or _from_environment(), http_client=client
        )
        return OpenAIChatModel(settings.model, provider=own)
    provider = OpenAICompatibleProvider(
        settings.provider, base_url=base_url, api_key=settings.api_key or "none", http_client=client
    )
    return OpenAIChatModel(settings.model, provider=provider)


def _from_environment() -> str:
    """The variable that OpenAI's own programs read; without any key its library would take a made-up one."""
    import os

    from pydantic_ai.exceptions import UserError

    key = os.environ.get("OPENAI_API_KEY", "")
    if not key:
        raise UserError("no key")
    return key


def _anthropic(settings: ModelSettings, base_url: str, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    key = settings.api_key or ("none" if settings.base_url else None)
    return AnthropicModel(
        settings.model, provider=AnthropicProvider(api_key=key, base_url=base_url, http_client=client)
    )


def _google(settings: ModelSettings, base_url: str, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    key = settings.api_key or ("none" if settings.base_url else None)
    return GoogleModel(
        settings.model, provider=GoogleProvider(api_key=key, base_url=base_url, http_client=client)
    )


_BUILDERS: dict[str, Callable[[ModelSettings, str, httpx2.AsyncClient], Model]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
}
