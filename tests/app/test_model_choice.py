"""Which model answers and which judges, and the sentence about one that cannot be used."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from echo_bot.agent.models import ModelSettings
from echo_bot.app.model import choose_models, choose_others, model_settings
from echo_bot.app.rehearsal import NothingStored
from echo_bot.app.secrets import Secrets
from echo_bot.config.loader import config_from_keys
from echo_bot.credentials import Vault
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.testing.bot import running_bot

DEFAULT, SMART = "models.default", "permissions.approval.smart_model"
NO_KEY = "no key for openai:gpt-4.1: set models.api_key (ECHO_BOT_MODELS__API_KEY)"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def secrets(**stored: str) -> Secrets:
    values = {("models", name): value for name, value in stored.items()}
    vault = Vault(NothingStored(), None, lambda: pytest.fail("nothing is written"))
    return Secrets(vault, None, SecretMask(()), values, ())


def test_without_a_name_of_its_own_the_judge_is_the_model_itself() -> None:
    config = config_from_keys({DEFAULT: "openai:gpt-4.1", "models.api_key": "sk-1"})
    answers, judges = choose_models(config, secrets())
    assert judges is answers
    assert answers.name == "openai:gpt-4.1"


def test_a_judge_with_a_name_is_another_model() -> None:
    config = config_from_keys({DEFAULT: "openai:gpt-4.1", SMART: "openai:gpt-4.1-mini"})
    answers, judges = choose_models(config, secrets(api_key="sk-1"))
    assert (answers.name, judges.name) == ("openai:gpt-4.1", "openai:gpt-4.1-mini")


def test_a_judge_alone() -> None:
    answers, judges = choose_models(config_from_keys({SMART: "openai:gpt-4.1"}), secrets(api_key="sk-1"))
    assert (answers.name, judges.name) == ("", "openai:gpt-4.1")


def test_a_model_without_a_key_says_which_to_set() -> None:
    answers, _ = choose_models(config_from_keys({DEFAULT: "openai:gpt-4.1"}), secrets())
    assert (answers.name, answers.warning) == ("", NO_KEY)


def test_a_package_that_is_missing_is_named_with_both_ways_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai.models.anthropic", None)
    answers, _ = choose_models(config_from_keys({DEFAULT: "anthropic:claude"}), secrets(api_key="sk-1"))
    assert answers.warning == (
        "the package for anthropic:claude is not installed. In a checkout: "
        "pip install -c constraints.txt -e '.[anthropic]'; elsewhere: pip install 'echo-bot[anthropic]'"
    )


async def test_a_start_says_once_what_cannot_be_used(tmp_path: Path) -> None:
    with capture_logs() as logs:
        async with running_bot(tmp_path, {DEFAULT: "openai:gpt-4.1"}) as bot:
            assert bot.parts.warnings.count(NO_KEY) == 1
    assert [each["error"] for each in logs if each["event"] == "model_unusable"] == [NO_KEY]


PROVIDERS: dict[str, object] = {
    DEFAULT: "openai:gpt-5",
    "models.api_key": "sk-default",
    "models.base_url": "http://127.0.0.1:11434/v1",
    "models.providers": {
        "openrouter": {"base_url": "https://openrouter.ai/api/v1", "api_key": "sk-router"},
        "claude": {"protocol": "anthropic", "base_url": "http://10.0.0.5"},
    },
}

SETTINGS = {
    "the default's provider has what stands in models": (
        "openai:gpt-5",
        ModelSettings("openai:gpt-5", "openai", "http://127.0.0.1:11434/v1", "sk-default"),
    ),
    "so has another model of it": (
        "openai:gpt-5-mini",
        ModelSettings("openai:gpt-5-mini", "openai", "http://127.0.0.1:11434/v1", "sk-default"),
    ),
    "a provider of one's own speaks OpenAI's protocol": (
        "openrouter:meta/llama:free",
        ModelSettings(
            "openrouter:meta/llama:free",
            "openai",
            "https://openrouter.ai/api/v1",
            "sk-router",
            "models.providers.openrouter.api_key",
            "models.providers.openrouter.base_url",
        ),
    ),
    "or the one that is named, with a stored key": (
        "claude:sonnet",
        ModelSettings(
            "claude:sonnet",
            "anthropic",
            "http://10.0.0.5",
            "sk-stored",
            "models.providers.claude.api_key",
            "models.providers.claude.base_url",
        ),
    ),
    "another known provider has nothing of the default's": (
        "google:gemini-2.5-flash",
        ModelSettings(
            "google:gemini-2.5-flash",
            "google",
            "",
            "",
            "models.providers.google.api_key",
            "models.providers.google.base_url",
        ),
    ),
}


@pytest.mark.parametrize(("name", "expected"), SETTINGS.values(), ids=SETTINGS.keys())
def test_where_a_model_is(name: str, expected: ModelSettings) -> None:
    kept = secrets()
    kept = replace(kept, stored={("models.providers.claude", "api_key"): "sk-stored"})
    assert model_settings(config_from_keys(PROVIDERS), kept, name) == expected


def test_a_fallback_without_a_key_is_a_warning_that_names_its_own(tmp_path: Path) -> None:
    config = config_from_keys(
        PROVIDERS | {"models.fallback": ["google:gemini"], "models.choices": ["openai:b"]}
    )
    fallback, choice = choose_others(config, secrets())
    assert (choice.name, choice.warning) == ("openai:b", "")
    assert fallback.warning == (
        "no key for google:gemini: set models.providers.google.api_key "
        "(ECHO_BOT_MODELS__PROVIDERS__GOOGLE__API_KEY)"
    )


def test_an_address_that_is_none_is_told_with_its_key() -> None:
    config = config_from_keys(
        {DEFAULT: "openai:x", "models.base_url": "http://local host:11434", "models.api_key": "k"}
    )
    answers, _ = choose_models(config, secrets())
    assert answers.warning == (
        "the model openai:x cannot be used: ValueError. Check models.api_key and models.base_url"
    )
