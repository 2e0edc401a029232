"""Which model answers and which judges, and the sentence about one that cannot be used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from echo_bot.app.model import choose_models
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
