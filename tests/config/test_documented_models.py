"""The configurations of docs/models.md load, and name keys that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from echo_bot.config.complaint import all_keys
from echo_bot.config.loader import load_config
from echo_bot.config.model import Config

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_example_loads(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    loaded = load_config(file, {})
    assert loaded.config.models.default
    assert loaded.warnings == ()


def test_every_key_that_is_named_exists() -> None:
    named = set(re.findall(r"`((?:models|agent)\.[a-z_.]+)`", PAGE))
    own = {key for key in named if key.startswith("models.providers.")}
    assert named - own - set(all_keys(Config)) == set()
    assert len(named) > 8
