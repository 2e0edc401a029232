"""`config.example.yaml` is what the model says: every key, its default, a comment, and it loads."""

from __future__ import annotations

from pathlib import Path

import pytest

from echo_bot.config.availability import unavailable
from echo_bot.config.complaint import all_keys
from echo_bot.config.descriptions import described_schema, description, sections_of
from echo_bot.config.example import example_yaml
from echo_bot.config.loader import config_from_keys, load_config
from echo_bot.config.model import Config
from echo_bot.config.yaml_tree import parse_yaml

EXAMPLE = Path(__file__).parents[2] / "config.example.yaml"


def test_the_file_is_what_the_model_writes() -> None:
    assert EXAMPLE.read_text(encoding="utf-8") == example_yaml()


def test_the_file_loads_to_the_defaults() -> None:
    loaded = load_config(EXAMPLE, {})
    assert loaded.config == Config()
    assert loaded.yaml_credentials == ()


def test_every_key_stands_in_the_file() -> None:
    lines = parse_yaml(EXAMPLE.read_text(encoding="utf-8"), "example").lines
    assert {key for key in all_keys(Config) if tuple(key.split(".")) not in lines} == set()


def test_every_key_is_explained() -> None:
    bare = {
        f"{model.__name__}.{name}"
        for model in sections_of(Config)
        for name in model.model_fields
        if not description(model, name)
    }
    assert bare == set()


def test_the_schema_explains_every_key() -> None:
    schema = described_schema(Config)
    assert isinstance(schema["properties"], dict)
    assert schema["properties"]["workspace"]["description"].startswith("The folder the bot works in")


@pytest.mark.parametrize(
    ("key", "comes_later"),
    [
        ("scheduler.enabled", False),
        ("memory.enabled", False),
        ("tools.web.enabled", False),
        ("tools.image_gen.enabled", False),
        ("tools.mcp.enabled", False),
        ("observability.metrics", True),
        ("observability.log_level", False),
        ("tools.exec.enabled", False),
        ("credentials.encryption_key_env", False),
    ],
)
def test_what_comes_later_says_so(key: str, comes_later: bool) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    line = parse_yaml(text, "example").line_of(tuple(key.split(".")))
    comment = text.splitlines()[line - 2]
    assert comment.endswith("Not available in this version.") == comes_later


def test_a_feature_that_comes_later_may_be_switched_off() -> None:
    config = config_from_keys(
        {"memory.enabled": False, "scheduler.enabled": False, "tools.mcp.enabled": False}
    )
    assert unavailable(config) == ()
    assert unavailable(config_from_keys({"observability.metrics": False})) == ("observability.metrics",)
