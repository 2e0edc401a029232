"""From `models.default` to a pydantic-ai model, with a sentence for everything that can be missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from echo_bot.called import install_extra
from echo_bot.config.credentials import environment_name
from echo_bot.errors import StartError

if TYPE_CHECKING:
    from pydantic_ai.models import Model


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """`name` is "provider:model", or empty for none. `base_url`: any server of the provider's protocol."""

    name: str = ""
    base_url: str = ""
    api_key: str = field(default="", repr=False)


def build_model(settings: ModelSettings) -> Model:
    """Raises StartError: unknown provider, a missing extra, a missing key."""
    provider, colon, name = settings.name.partition(":")
    if not colon or provider not in _BUILDERS or not name:
        known = ", ".join(f"{each}:<model>" for each in _BUILDERS)
        raise StartError(f"there is no model {settings.name!r}; write one of {known}")
    try:
        return _BUILDERS[provider](name, settings)
    except ImportError as error:
        raise StartError(
            f"the package for {settings.name} is not installed. {install_extra(provider)}"
        ) from error
    except Exception as error:
        raise StartError(_why_not(settings, error)) from error


def _why_not(settings: ModelSettings, error: Exception) -> str:
    """The library's own sentences name settings of its own, and may repeat a value."""
    if not settings.api_key and type(error).__name__ == "UserError":
        return f"no key for {settings.name}: set models.api_key ({environment_name('models.api_key')})"
    return (
        f"the model {settings.name} cannot be used: {type(error).__name__}. "
        "Check models.api_key and models.base_url"
    )


def _openai(name: str, settings: ModelSettings) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    key = settings.api_key or ("none" if settings.base_url else None)
    return OpenAIChatModel(name, provider=OpenAIProvider(base_url=settings.base_url or None, api_key=key))


def _anthropic(name: str, settings: ModelSettings) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    key = settings.api_key or None
    return AnthropicModel(name, provider=AnthropicProvider(api_key=key, base_url=settings.base_url or None))


def _google(name: str, settings: ModelSettings) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    return GoogleModel(
        name, provider=GoogleProvider(api_key=settings.api_key, base_url=settings.base_url or None)
    )


_BUILDERS = {"openai": _openai, "anthropic": _anthropic, "google": _google}
"""By provider, which is also the name of the extra that brings its package."""
