"""A glance finds the database where a full reading of the configuration finds it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from echo_bot.config.fingerprint import environment_digest
from echo_bot.config.glance import glance
from echo_bot.config.loader import load_config
from echo_bot.config.places import database_url
from echo_bot.errors import ConfigError

FILES = {
    "nothing": "",
    "another key": "language: en\n",
    "a folder": "data_dir: /somewhere/else\n",
    "a folder below home": "data_dir: ~/bot\n",
    "a key in other letters": '"data\\x5fdir": /somewhere/else\n',
    "a database": "storage: {url: 'sqlite+aiosqlite:////x/y.db'}\n",
    "an empty section": "storage:\ndata_dir: /x\n",
    "JSON": '{"data_dir": "/x", "language": "zh"}',
    "a byte order mark": "\ufeffdata_dir: /x\n",
}
VARIABLES: dict[str, Mapping[str, str]] = {
    "no variable": {},
    "ECHO_BOT_DATA_DIR": {"ECHO_BOT_DATA_DIR": "/from/environment"},
    "ECHO_AGENT_DATA_DIR": {"ECHO_AGENT_DATA_DIR": "/older/spelling"},
    "ECHO_BOT_STORAGE__URL": {"ECHO_BOT_STORAGE__URL": "sqlite:////z.db"},
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
@pytest.mark.parametrize("environ", VARIABLES.values(), ids=VARIABLES)
def test_both_name_the_same_database(tmp_path: Path, text: str, environ: Mapping[str, str]) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text, encoding="utf-8")
    glanced, loaded = glance(file, environ), load_config(file, environ)
    assert glanced.database_url == database_url(loaded.config)
    assert (glanced.file_digest, glanced.environment_digest) == (
        loaded.file_digest,
        loaded.environment_digest,
    )
    assert not glanced.is_plain


@pytest.mark.parametrize(
    ("environ", "plain"),
    [
        ({}, True),
        ({"ECHO_BOT_WORKSPACE": "/tmp", "ECHO_BOT_GATEWAY__PORT": "0"}, True),
        ({"ECHO_BOT_WORKSPACE": "/"}, False),
        ({"ECHO_BOT_GATEWAY__PORT": "high"}, False),
        ({"ECHO_BOT_GATEWAY__PRT": "0"}, False),
        ({"ECHO_BOT_TOOLS__DENY": '["exec"]'}, False),
    ],
    ids=["nothing", "places", "the whole file system", "no port", "an unknown key", "a tool setting"],
)
def test_only_places_leave_the_defaults_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environ: Mapping[str, str], plain: bool
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert glance(None, environ).is_plain is plain


def test_a_place_that_is_no_text_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("language: en\ndata_dir: [a]\n")
    with pytest.raises(ConfigError, match=r"config.yaml:2: data_dir: must be text"):
        glance(file, {})


def test_the_digest_of_the_environment_tells_settings_and_hides_secrets() -> None:
    one = environment_digest({"ECHO_BOT_CHANNELS__TELEGRAM__TOKEN": "a", "PATH": "/bin"})
    assert one == environment_digest({"ECHO_BOT_CHANNELS__TELEGRAM__TOKEN": "b"})
    assert one != environment_digest({})
    assert environment_digest({"ECHO_BOT_LANGUAGE": "en"}) != environment_digest({"ECHO_BOT_LANGUAGE": "zh"})
