"""What is wrong with the names of models and providers, before anything is built."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from echo_bot.config.models import OWN_TOOLS, PROTOCOLS, Models

KeyedSentence = tuple[str, str]
"""A dotted key and what is wrong with it."""


def wrong_names(models: Models, smart_model: str) -> Iterator[KeyedSentence]:
    """Unknown providers, models that act at the provider, and settings that exclude each other."""
    named = {
        "models.default": models.default,
        "permissions.approval.smart_model": smart_model,
        **{f"models.fallback.{index}": name for index, name in enumerate(models.fallback)},
        **{f"models.choices.{index}": name for index, name in enumerate(models.choices)},
    }
    for key, name in named.items():
        if name.lower().endswith(OWN_TOOLS):
            yield (
                key,
                (
                    f"{name} runs tools at the provider, where no gate reaches; choose a model without them "
                    "and let it use web_search"
                ),
            )
    for key in (each for each in named if each.startswith(("models.fallback", "models.choices"))):
        if sentence := _unknown(named[key], models):
            yield key, sentence
    yield from _providers(models)
    if models.system_prompt and models.system_prompt_file:
        yield "models.system_prompt_file", "models.system_prompt is set as well; keep one of them"


def _unknown(name: str, models: Models) -> str:
    provider, colon, model = name.partition(":")
    known = [*PROTOCOLS, *models.providers]
    if colon and model and provider in known:
        return ""
    near = get_close_matches(provider, known, n=1)
    hint = f"did you mean {near[0]}:{model or '<model>'}?" if near else f"known: {', '.join(known)}"
    return f"there is no provider for {name!r}; write provider:model, {hint}"


def _providers(models: Models) -> Iterator[KeyedSentence]:
    for name, provider in models.providers.items():
        if not name or ":" in name or "." in name:
            yield (
                "models.providers",
                f"{name!r} cannot be a provider's name: it holds a colon or a dot, or nothing",
            )
        elif not provider.base_url and name not in PROTOCOLS:
            yield f"models.providers.{name}.base_url", f"is needed: {name} has no address of its own"
