"""API tokens in the configuration: how they may be written, and what refuses to start."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from echo_bot.config.loader import config_from_keys, load_config
from echo_bot.config.policy import policy_settings
from echo_bot.errors import ConfigError

PLAIN = "a-token-that-nobody-guesses"
HASH = hashlib.sha256(PLAIN.encode()).hexdigest()


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ({"name": "ci", "token": PLAIN}, "ci"),
        ({"name": "ci", "token": f"sha256:{HASH}"}, "ci"),
        ({"name": "ci", "token": f"sha256:{HASH.upper()}"}, "ci"),
        (PLAIN, HASH[:8]),
        (f"sha256:{HASH}", HASH[:8]),
    ],
)
def test_a_token_comes_to_its_hash_however_it_is_written(written: object, name: str) -> None:
    (token,) = config_from_keys({"gateway.api_tokens": [written]}).gateway.api_tokens
    assert (token.name, token.digest) == (name, HASH)
    assert PLAIN not in repr(token)


def test_tokens_come_from_the_environment_as_json() -> None:
    variable = f'[{{"name": "ops", "token": "{PLAIN}"}}]'
    loaded = load_config(None, {"ECHO_BOT_CONFIG": "", "ECHO_BOT_GATEWAY__ADMIN_TOKENS": variable})
    assert [token.name for token in loaded.config.gateway.admin_tokens] == ["ops"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('api_tokens: [{name: ci, token: "sha256:abc"}]', "after sha256: belong the 64 hex digits"),
        ('api_tokens: [{name: ci, token: ""}]', "printable ASCII"),
        ('api_tokens: [{name: ci, token: "with space"}]', "printable ASCII"),
        ("api_tokens: [{name: a/b, token: 0123456789abcdef}]", "gateway.api_tokens.0.name"),
        ("api_tokens: [{name: ci, tokn: x}]", "did you mean token"),
        (
            "api_tokens: [{name: ci, token: 0123456789abcdef}]\n"
            "  admin_tokens: [{name: ci, token: fedcba9876543210}]",
            "another token is named ci",
        ),
        (
            "api_tokens: [{name: ci, token: 0123456789abcdef}]\n"
            "  admin_tokens: [{name: ops, token: 0123456789abcdef}]",
            "the same token stands in another entry",
        ),
    ],
)
def test_refuses_to_start(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"gateway:\n  {text}\n")
    with pytest.raises(ConfigError, match=message) as raised:
        load_config(file, {})
    assert "0123456789abcdef" not in str(raised.value)


def test_a_short_token_is_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("gateway: {api_tokens: [{name: ci, token: short}]}\n")
    (warning,) = load_config(file, {}).warnings
    assert warning.startswith("gateway.api_tokens.0.token is short enough to be guessed")


@pytest.mark.parametrize("key", ["admin_users", "approval.approvers"])
def test_an_ordinary_token_in_a_list_of_deciders_is_a_warning(tmp_path: Path, key: str) -> None:
    head, _, tail = key.partition(".")
    listed = f"{{{tail}: ['api:ci', 'api:ops']}}" if tail else "['api:ci', 'api:ops']"
    file = tmp_path / "config.yaml"
    file.write_text(
        f"permissions:\n  {head}: {listed}\n"
        "gateway: {admin_tokens: [{name: ops, token: 0123456789abcdef}]}\n"
    )
    (warning,) = load_config(file, {}).warnings
    assert warning.startswith(f"permissions.{key} names api:ci, which has no effect")


def test_the_policy_knows_the_holders_and_who_of_them_is_an_admin() -> None:
    tokens = {"gateway.api_tokens": [{"name": "ci", "token": "x"}]}
    admins = {"gateway.admin_tokens": [{"name": "ops", "token": "y"}]}
    access = policy_settings(config_from_keys(tokens | admins)).access
    assert "api" in access.known_channels
    assert "api" not in access.authenticating
    assert access.allow_from["api"] == ("ci", "ops")
    assert access.api_admins == {"api:ops"}


def test_without_tokens_api_is_no_channel() -> None:
    assert "api" not in policy_settings(config_from_keys({})).access.known_channels
