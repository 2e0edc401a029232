"""The section on language models: which, where, what they may use, how conversations are shortened."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from echo_bot.config.base import EMPTY_SECRET, Amount, Count, HttpAddress, Listed, Positive, Secret, Section

Images = Literal["auto", "on", "off"]

PROTOCOLS = ("openai", "anthropic", "google")
"""The providers that are known by name, which are also the protocols that others may speak."""

OWN_TOOLS = (":online", "-search-preview", "-search-api", "-deep-research")
"""Ends of names of models that search or run tools at the provider, where no gate reaches."""


class ModelLimits(Section):
    max_output_tokens: Count = 0
    """Tokens of one answer; 0: the provider's own limit."""
    total_tokens_per_turn: Count = 0
    """Tokens of one turn and its workers; 0: no limit."""
    tokens_per_day: Count = 0
    """Tokens of everybody together on one day of the configured time zone; 0: no limit."""
    cost_per_day: Amount = 0.0
    """US dollars of everybody together on one such day; 0: no limit."""
    timeout_seconds: Positive = 120
    """Seconds that one answer may take, its repetitions after failures included."""


class Compaction(Section):
    enabled: bool = True
    """Summarise old messages when the context fills up."""
    at_tokens: Positive = 100_000
    """Tokens from which it starts; stay below what the model can take."""


class Provider(Section):
    protocol: Literal["", "openai", "anthropic", "google"] = ""
    """Which protocol it speaks; empty: that of its name, else openai."""
    base_url: HttpAddress = ""
    """Its address; empty only for openai, anthropic and google themselves."""
    api_key: Secret = EMPTY_SECRET
    """Its key."""


class Price(Section):
    input: Amount
    """US dollars for a million tokens read."""
    output: Amount
    """US dollars for a million tokens written."""
    cached_input: Amount | None = None
    """US dollars for a million tokens read from the provider's cache; unset: as input."""


class Models(Section):
    default: str = ""
    """provider:name, such as openai:gpt-5 or anthropic:claude-sonnet-4-5; empty: direct calls only."""
    fallback: Listed[str] = ()
    """Models to go on with, in this order, when the first cannot be reached or answers garbage."""
    choices: Listed[str] = ()
    """Further models that `/model` may choose for a conversation."""
    base_url: HttpAddress = ""
    """Where the provider of models.default is: any OpenAI-compatible server, or the provider's protocol."""
    api_key: Secret = EMPTY_SECRET
    """The key of that provider."""
    providers: dict[str, Provider] = Field(default_factory=dict)
    """Other providers by a name of your own, such as {openrouter: {base_url: https://openrouter.ai/api/v1}}."""
    prices: dict[str, Price] = Field(default_factory=dict)
    """Prices that are not known, or differ for you, such as {"openai:gpt-5": {input: 1.25, output: 10}}."""
    system_prompt: str = ""
    """What the model is told about its task."""
    system_prompt_file: str = ""
    """A file with that text, in place of it; relative paths count from the configuration file."""
    images: Images = "auto"
    """Show received images to a model: auto (unless it is known not to see), on (to every model) or off."""
    limits: ModelLimits = ModelLimits()
    """What a model may use."""
    compaction: Compaction = Compaction()
    """Shortening long conversations."""
