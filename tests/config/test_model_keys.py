"""Keys of models: names that cannot be, providers, prices, and the file with the system prompt."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from echo_bot.config.credentials import secret_values
from echo_bot.config.loader import config_from_keys, load_config
from echo_bot.config.policy import policy_settings
from echo_bot.config.prompt_file import system_prompt
from echo_bot.errors import ConfigError

REFUSED = {
    "a fallback of no provider": (
        "models: {fallback: ['opnai:gpt-5']}",
        "models.fallback.0: there is no provider for 'opnai:gpt-5'; write provider:model, "
        "did you mean openai:gpt-5?",
    ),
    "a choice without a provider": (
        "models: {choices: [gpt-5]}",
        "models.choices.0: there is no provider for 'gpt-5'; write provider:model, "
        "known: openai, anthropic, google",
    ),
    "a model that searches at the provider": (
        "models: {default: 'openrouter:x/y:online', providers: {openrouter: {base_url: 'http://a/v1'}}}",
        "models.default: openrouter:x/y:online runs tools at the provider, where no gate reaches; "
        "choose a model without them and let it use web_search",
    ),
    "a judge that does": (
        "permissions: {approval: {smart_model: 'openai:gpt-4o-search-preview'}}",
        "permissions.approval.smart_model: openai:gpt-4o-search-preview runs tools at the provider",
    ),
    "a provider without an address": (
        "models: {providers: {mine: {api_key: ''}}}",
        "models.providers.mine.base_url: is needed: mine has no address of its own",
    ),
    "a provider's name with a dot": (
        "models: {providers: {'a.b': {base_url: 'http://a'}}}",
        "models.providers: 'a.b' cannot be a provider's name: it holds a colon or a dot, or nothing",
    ),
    "a text and a file": (
        "models: {system_prompt: a, system_prompt_file: b}",
        "models.system_prompt_file: models.system_prompt is set as well; keep one of them",
    ),
    "an unknown protocol": (
        "models: {providers: {mine: {protocol: opnai, base_url: x}}}",
        "models.providers.mine.protocol: must be one of",
    ),
    "a price without an output": (
        "models: {prices: {'a:b': {input: 1}}}",
        "models.prices.a:b.output: is missing",
    ),
    "a price below nothing": (
        "models: {prices: {'a:b': {input: -1, output: 1}}}",
        "models.prices.a:b.input: must be at least 0",
    ),
    "tools of the provider": (
        "models: {native_tools: [web_search]}",
        "models.native_tools: there is no such key",
    ),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refuses(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text + "\n")
    with pytest.raises(ConfigError) as raised:
        load_config(file, {})
    assert str(raised.value).startswith(f"{file}:1: {message}")


def test_numbers_and_keys_of_providers_come_from_the_environment_too(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("models: {providers: {spare: {base_url: 'http://a/v1'}}}\n")
    environment = {
        "ECHO_BOT_MODELS__PROVIDERS__SPARE__API_KEY": "sk-of-the-spare",
        "ECHO_BOT_MODELS__LIMITS__COST_PER_DAY": "2.5",
        "ECHO_BOT_MODELS__FALLBACK": '["spare:x"]',
    }
    loaded = load_config(file, environment)
    assert loaded.config.models.limits.cost_per_day == 2.5
    assert secret_values(loaded.config)["models.providers.spare.api_key"] == "sk-of-the-spare"
    assert loaded.yaml_credentials == ()


def test_the_text_of_the_file_is_the_system_prompt(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("\ufeffYou are Otto.\n")
    config = config_from_keys({"models.system_prompt_file": "prompt.md"})
    assert system_prompt(config, tmp_path / "config.yaml") == "You are Otto."
    assert system_prompt(config_from_keys({"models.system_prompt": "Hi"}), None) == "Hi"


def test_no_model_may_write_the_file(tmp_path: Path) -> None:
    config = config_from_keys({"models.system_prompt_file": "prompt.md"})
    settings = policy_settings(config, config_path=tmp_path / "config.yaml")
    assert str(tmp_path / "prompt.md") in settings.places.protected_write


def unreadable(path: Path) -> None:
    path.mkdir()


WRONG = {
    "that is not there": (lambda path: None, "the file cannot be read: No such file or directory"),
    "that is a folder": (unreadable, "the file is no regular file"),
    "that is a pipe": (os.mkfifo, "the file is no regular file"),
    "that is empty": (lambda path: path.write_text(" \n"), "the file is empty"),
    "that is no text": (lambda path: path.write_bytes(b"ab\xff"), "the file is not UTF-8 text (byte 2)"),
    "that is too long": (
        lambda path: path.write_text("x" * 200_001),
        "the file is longer than 200,000 bytes",
    ),
}


@pytest.mark.parametrize(("make", "why"), WRONG.values(), ids=WRONG.keys())
def test_a_file_names_itself_and_the_key(tmp_path: Path, make: object, why: str) -> None:
    path = tmp_path / "prompt.md"
    assert callable(make)
    make(path)
    config = config_from_keys({"models.system_prompt_file": str(path)})
    with pytest.raises(ConfigError) as raised:
        system_prompt(config, None)
    assert str(raised.value) == f"{path}: models.system_prompt_file: {why}"
