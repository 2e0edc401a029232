"""`tools.mcp_servers`: what a server's section may say, with the line of what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from echo_bot.app.mcp import server_specs
from echo_bot.config.credentials import credential_keys, missing_key, secret_values
from echo_bot.config.loader import config_from_keys, load_config
from echo_bot.errors import ConfigError

HEAD = "tools:\n  mcp_servers:\n"

WRONG = {
    "neither command nor url": (
        "    git: {}\n",
        "3: tools.mcp_servers.git: needs command (a program) or url",
    ),
    "both": (
        "    git:\n      command: x\n      url: https://h/mcp\n",
        "5: tools.mcp_servers.git.url: needs command (a program) or url (an address), not both",
    ),
    "another scheme": (
        "    git:\n      url: ftp://h/\n",
        "4: tools.mcp_servers.git.url: must be the address",
    ),
    "no host": ("    git:\n      url: http:///mcp\n", "4: tools.mcp_servers.git.url: must be the address"),
    "a password in the address": (
        "    git:\n      url: https://u:p@h/mcp\n",
        "4: tools.mcp_servers.git.url: holds a name or password; write them as headers",
    ),
    "headers for a program": (
        "    git:\n      command: x\n      headers: {A: b}\n",
        "5: tools.mcp_servers.git.headers: belongs to a url; a program takes env",
    ),
    "an environment for an address": (
        "    git:\n      url: https://h/\n      env: {A: b}\n",
        "5: tools.mcp_servers.git.env: belongs to a command",
    ),
    "a header that is ours": (
        "    git:\n      url: https://h/\n      headers: {Host: b}\n",
        "5: tools.mcp_servers.git.headers.Host: is no header that can be set here",
    ),
    "a header with a line break": (
        '    git:\n      url: https://h/\n      headers: {A: "b\\r\\nC: d"}\n',
        "5: tools.mcp_servers.git.headers.A: holds characters",
    ),
    "the bot's own variables": (
        "    git:\n      command: x\n      env: {ECHO_BOT_CREDENTIAL_KEY: b}\n",
        "5: tools.mcp_servers.git.env.ECHO_BOT_CREDENTIAL_KEY: is no variable",
    ),
    "a name that begins like another": (
        "    git: {command: x}\n    git_hub: {command: x}\n",
        "4: tools.mcp_servers.git_hub: the tools of git_hub could not be told from those of git",
    ),
    "a name of other characters": ("    'g t': {command: x}\n", "3: tools.mcp_servers"),
    "a risk of one's own": (
        "    git:\n      command: x\n      risk: harmless\n",
        "5: tools.mcp_servers.git.risk",
    ),
    "an unknown key": ("    git:\n      comand: x\n", "4: tools.mcp_servers.git.comand"),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG.keys())
def test_refuses_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(HEAD + text + "credentials: {require_encryption: false}\n")
    with pytest.raises(ConfigError) as raised:
        load_config(file, {})
    assert str(raised.value).startswith(f"{file}:{message}")


def test_a_secret_is_in_no_error(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f'{HEAD}    git:\n      url: https://h/\n      headers: {{A: "s3cret\\tvalue"}}\n')
    with pytest.raises(ConfigError) as raised:
        load_config(file, {})
    assert "s3cret" not in str(raised.value)


def test_headers_and_variables_that_look_like_secrets_are_and_others_are_not() -> None:
    servers = {
        "git": {
            "command": "x",
            "env": {"NODE_ENV": "production", "DEBUG": "true", "GIT_TOKEN": "plain-words-here"},
        },
        "web": {"url": "https://h/", "headers": {"X-Key": "abcdefgh"}},
    }
    config = config_from_keys({"tools.mcp_servers": servers})
    keys = {"tools.mcp_servers.git.env.GIT_TOKEN", "tools.mcp_servers.web.headers.X-Key"}
    assert set(secret_values(config)) == keys
    assert set(credential_keys(config)) == keys
    assert "tools.mcp_servers.git.env.GIT_TOKEN" in missing_key(config, False, credential_keys(config))


def test_a_stored_value_fills_in_what_is_left_empty_or_out() -> None:
    servers = {"web": {"url": "https://h/", "headers": {"X-Key": "", "Accept-Language": "de"}}}
    stored = {
        ("tools.mcp_servers.web.headers", "X-Key"): "kept",
        ("tools.mcp_servers.web.headers", "Authorization"): "Bearer kept",
        ("tools.mcp_servers.other.headers", "X-Other"): "no",
    }
    (spec,) = server_specs(config_from_keys({"tools.mcp_servers": servers}), stored)
    assert spec.headers == {"X-Key": "kept", "Authorization": "Bearer kept", "Accept-Language": "de"}
    assert "kept" not in repr(spec)


def test_a_server_s_variable_keeps_its_case_also_from_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"{HEAD}    gh: {{command: x, env: {{API_TOKEN: '', LOG: all}}}}\n")
    environ = {"ECHO_BOT_TOOLS__MCP_SERVERS__GH__ENV__API_TOKEN": "from outside"}
    (spec,) = server_specs(load_config(file, environ).config, {})
    assert spec.env == {"API_TOKEN": "from outside", "LOG": "all"}
