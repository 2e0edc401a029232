"""What the policy gets of a configuration, and which values count as credentials."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import echo_bot
from echo_bot.channel import ChannelManifest
from echo_bot.config.credentials import credential_keys, environment_name, missing_key, secret_values
from echo_bot.config.finding import user_config_path
from echo_bot.config.loader import config_from_keys
from echo_bot.config.model import Config
from echo_bot.config.places import data_dir, database_url, workspace
from echo_bot.config.policy import policy_settings
from echo_bot.policy.call import Executor
from echo_bot.policy.settings import AccessSettings, PolicySettings


def settings(**keys: Any) -> PolicySettings:
    return policy_settings(config_from_keys({key.replace("__", "."): value for key, value in keys.items()}))


def test_the_defaults_are_those_of_the_policy_but_for_places() -> None:
    made, plain = settings(), PolicySettings()
    assert (made.tools, made.approval, made.exec_host) == (plain.tools, plain.approval, None)
    assert made.access.admin_users == AccessSettings().admin_users


@pytest.mark.parametrize(
    ("profile", "admins"),
    [("personal_cli", ("cli:local", "web:local")), ("daemon", ()), ("public_gateway", ())],
)
def test_admins_by_default(profile: str, admins: tuple[str, ...]) -> None:
    assert settings(security__profile=profile).access.admin_users == admins


def test_an_explicit_list_of_admins_stands() -> None:
    assert settings(permissions__admin_users=[42]).access.admin_users == ("42",)
    assert settings(permissions__admin_users=[]).access.admin_users == ()


def test_a_chosen_host_is_an_executor() -> None:
    assert settings(tools__exec__host="local").exec_host is Executor.LOCAL


def test_accounts_have_lists_of_their_own() -> None:
    made = settings(channels__telegram__accounts={"work": {"allow_from": [1]}})
    assert made.access.allow_from["telegram/work"] == ("1",)
    assert "telegram" not in made.access.allow_from


def test_an_installed_channel_is_known_and_trusted_for_ids_as_it_says() -> None:
    manifests = [
        ChannelManifest("a", "A", "a:b"),
        ChannelManifest("b", "B", "b:b", authenticates_sender=False),
    ]
    access = policy_settings(Config(), manifests=manifests).access
    assert {"a", "b"} <= access.known_channels
    assert "a" in access.authenticating
    assert "b" not in access.authenticating


def test_state_and_program_are_protected(tmp_path: Path) -> None:
    config = config_from_keys({"data_dir": str(tmp_path), "tools.paths": ["own.py"]})
    places = policy_settings(config, config_path=tmp_path / "c.yaml").places
    assert places.protected == (str(tmp_path), str(user_config_path()), str(tmp_path / "c.yaml"))
    assert str(Path(echo_bot.__file__).parent) in places.protected_write
    assert str(workspace(config) / "own.py") in places.protected_write
    if sys.prefix != sys.base_prefix:
        assert sys.prefix in places.protected_write


def test_a_database_elsewhere_is_protected_with_what_lies_beside_it(tmp_path: Path) -> None:
    config = config_from_keys({"storage.url": f"sqlite+aiosqlite:///{tmp_path}/mine.db"})
    wanted = {f"{tmp_path}/mine.db{ending}" for ending in ("", "-wal", "-shm", "-journal")}
    assert wanted < set(policy_settings(config).places.protected)


def test_the_usual_configuration_is_protected_though_there_is_none_and_another_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    protected = policy_settings(Config(), config_path=Path("other.yaml")).places.protected
    assert {str(tmp_path / "config/echo-bot/config.yaml"), str(Path("other.yaml").absolute())} < set(
        protected
    )


def test_the_database_is_in_the_data_folder(tmp_path: Path) -> None:
    assert database_url(config_from_keys({"data_dir": str(tmp_path)})).endswith(f"{tmp_path}/echo-bot.db")
    assert data_dir(Config()).name == "echo-bot"


class TestCredentials:
    def config(self, **keys: Any) -> Config:
        return config_from_keys({key.replace("__", "."): value for key, value in keys.items()})

    def test_what_counts(self) -> None:
        config = self.config(
            channels__telegram__token="a",
            channels__slack__accounts={"w": {"signing_secret": "b"}},
            models__api_key="c",
            tools__web__search_api_key="d",
            tools__mcp_servers={"x": {"headers": {"Authorization": "e"}}},
            gateway__api_tokens=["f"],
        )
        assert set(credential_keys(config)) == {
            "channels.telegram.token",
            "channels.slack.accounts.w.signing_secret",
            "models.api_key",
            "tools.web.search_api_key",
            "tools.mcp_servers.x.headers.Authorization",
        }

    def test_an_api_token_needs_no_key_since_its_hash_would_do(self) -> None:
        config = self.config(gateway__api_tokens=["f"], gateway__admin_tokens=[{"name": "ops", "token": "g"}])
        assert credential_keys(config) == ()
        assert set(secret_values(config).values()) == {"f", "g"}

    def test_an_address_counts_only_with_a_password(self) -> None:
        plain = self.config(storage__url="postgresql://host/db", channels__telegram__proxy="http://proxy:1")
        assert credential_keys(plain) == ()
        assert set(secret_values(plain)) == {"storage.url", "channels.telegram.proxy"}
        open_ones = self.config(
            storage__url="postgresql://u:p@host/db", channels__telegram__proxy="socks5://u:p@h"
        )
        assert set(credential_keys(open_ones)) == {"storage.url", "channels.telegram.proxy"}

    def test_nothing_set_is_nothing(self) -> None:
        assert credential_keys(Config()) == ()

    def test_a_credential_without_a_key_refuses_with_the_line_that_makes_one(self) -> None:
        config = self.config(models__api_key="c")
        sentence = missing_key(config, False, credential_keys(config))
        assert 'export ECHO_BOT_CREDENTIAL_KEY="$(echo-bot credentials key)"' in sentence
        assert "ECHO_BOT_MODELS__API_KEY" in sentence
        assert missing_key(config, True, credential_keys(config)) == ""
        assert missing_key(config, False, ()) == ""

    def test_the_operator_may_do_without(self) -> None:
        config = self.config(models__api_key="c", credentials__require_encryption=False)
        assert missing_key(config, False, credential_keys(config)) == ""

    def test_the_name_of_a_variable(self) -> None:
        assert environment_name("channels.telegram.token") == "ECHO_BOT_CHANNELS__TELEGRAM__TOKEN"
